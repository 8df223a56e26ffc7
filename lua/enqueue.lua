-- enqueue: puts a new job into pending.
--
-- KEYS[1] pending   zset, score 0
-- KEYS[2] row       hash, the job's row
-- ARGV[1] id        JOB + 11 base62 characters
-- ARGV[2] payload   any bytes
--
-- 1                 the job is pending, attempts 0
-- 0                 a row of this id exists already; nothing changed
-- EMQKIND ...       the id is not a job id; nothing changed
-- EMQARG ...        the call is malformed; nothing changed

if #KEYS ~= 2 or #ARGV ~= 2 then
  return redis.error_reply('EMQARG enqueue takes 2 keys and 2 arguments')
end
local id, payload = ARGV[1], ARGV[2]
if #id ~= 14 or not string.find(id, '^JOB[0-9A-Za-z]+$') then
  return redis.error_reply('EMQKIND enqueue id is not a job id')
end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end

redis.call('ZADD', KEYS[1], 0, id)
redis.call('HSET', KEYS[2], 'state', 'pending', 'attempts', 0, 'payload', payload)
return 1
