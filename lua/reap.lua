-- reap: returns jobs whose lease ran out from active to pending. Attempts stay: the next claim moves them.
--
-- KEYS[1] active    zset, score = lease deadline in server ms
-- KEYS[2] pending   zset, score 0
-- KEYS[3] row root  prefix of every row: emq:{q}:job:
-- ARGV[1] limit     jobs, a whole number from 1
--
-- n                 how many orphans returned; less than limit: no lease that ran out is left
-- EMQARG ...        the call is malformed; nothing changed

if #KEYS ~= 3 or #ARGV ~= 1 then
  return redis.error_reply('EMQARG reap takes 3 keys and 1 argument')
end
if #ARGV[1] > 15 or not string.find(ARGV[1], '^[1-9][0-9]*$') then
  return redis.error_reply('EMQARG reap limit is not a whole number from 1')
end
local limit = tonumber(ARGV[1])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moved = 0
while moved < limit do
  local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, limit - moved)
  if #ids == 0 then break end
  for _, id in ipairs(ids) do
    local row = KEYS[3] .. id
    -- An id whose row is gone is no job: it is dropped, not counted, and the next one takes its place.
    if redis.call('EXISTS', row) == 1 then
      redis.call('HSET', row, 'state', 'pending')
      redis.call('ZADD', KEYS[2], 0, id)
      moved = moved + 1
    end
    redis.call('ZREM', KEYS[1], id)
  end
end
return moved
