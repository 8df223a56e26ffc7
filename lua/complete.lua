-- complete: retires a job for the holder of its current token.
--
-- KEYS[1] active     zset, score = lease deadline in server ms
-- KEYS[2] row        hash, the job's row
-- KEYS[3] pending    zset, score 0
-- KEYS[4] schedule   zset, score = due ms
-- KEYS[5] dead       zset, score 0
-- KEYS[6] completed  counter: emq:{q}:metrics:completed
-- ARGV[1] id
-- ARGV[2] token      the attempts that claim answered
--
-- 1                  the job is retired: no row, in no set
-- 0                  gone: the row was retired before; nothing changed
-- EMQSTALE ...       the token is not the row's attempts; nothing changed
-- EMQARG ...         the call is malformed; nothing changed

if #KEYS ~= 6 or #ARGV ~= 2 then
  return redis.error_reply('EMQARG complete takes 6 keys and 2 arguments')
end

-- A job that nobody has claimed stands at attempts 0, and 0 is no token: claim mints from 1.
if ARGV[2] == '0' and redis.call('EXISTS', KEYS[2]) == 1 then
  return redis.error_reply('EMQSTALE complete token mismatch')
end

local att = redis.call('HGET', KEYS[2], 'attempts')
if not att then return 0 end
if att ~= ARGV[2] then
  return redis.error_reply('EMQSTALE complete token mismatch')
end
local was_active = redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
-- Attempts move at the next claim, so after a reap, a retry or a burial the last token still passes the fence.
-- The work is done: the job leaves whichever set holds it.
if was_active == 0 then
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('ZREM', KEYS[5], ARGV[1])
end
redis.call('INCR', KEYS[6])
return 1
