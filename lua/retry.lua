-- retry: gives a job back after a failed attempt; it is scheduled again, or dead at max attempts.
--
-- KEYS[1] active     zset, score = lease deadline in server ms
-- KEYS[2] schedule   zset, score = due ms
-- KEYS[3] dead       zset, score 0
-- KEYS[4] row        hash, the job's row
-- KEYS[5] pending    zset, score 0
-- KEYS[6] failed     counter: emq:{q}:metrics:failed
-- ARGV[1] id
-- ARGV[2] token      the attempts that claim answered
-- ARGV[3] delay      ms from now, a whole number from 0
-- ARGV[4] max        attempts, a whole number from 1
-- ARGV[5] error      any bytes, kept in the row as last_error
--
-- scheduled          due at now + delay; a repeated call sets the due time anew
-- dead               attempts reached max; a repeated call answers the same and changes nothing
-- 0                  gone: the row was retired before; nothing changed
-- EMQSTALE ...       the token is not the row's attempts; nothing changed
-- EMQARG ...         the call is malformed; nothing changed

if #KEYS ~= 6 or #ARGV ~= 5 then
  return redis.error_reply('EMQARG retry takes 6 keys and 5 arguments')
end
if #ARGV[3] > 15 or not string.find(ARGV[3], '^[0-9]+$') then
  return redis.error_reply('EMQARG retry delay is not a whole number of ms from 0')
end
if #ARGV[4] > 15 or not string.find(ARGV[4], '^[1-9][0-9]*$') then
  return redis.error_reply('EMQARG retry max is not a whole number from 1')
end

-- A job that nobody has claimed stands at attempts 0, and 0 is no token: claim mints from 1.
if ARGV[2] == '0' and redis.call('EXISTS', KEYS[4]) == 1 then
  return redis.error_reply('EMQSTALE retry token mismatch')
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local att = redis.call('HGET', KEYS[4], 'attempts')
if not att then return 0 end
-- Death is final: the one who buried the job hears it again, and the counter counts it once.
if att == ARGV[2] and redis.call('HGET', KEYS[4], 'state') == 'dead' then return 'dead' end

-- The fence and the branch: refuse, bury or reschedule.
local function decide()
  if att ~= ARGV[2] then
    return redis.error_reply('EMQSTALE retry token mismatch')
  end
  if tonumber(att) >= tonumber(ARGV[4]) then
    redis.call('HSET', KEYS[4], 'state', 'dead')
    redis.call('ZADD', KEYS[3], 0, ARGV[1])
    return 'dead'
  end
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[1])
  return 'scheduled'
end

local outcome = decide()
if type(outcome) == 'table' then return outcome end
-- Between a reap and the next claim the token still passes while the id sits in pending, so the job leaves
-- every set but the one that it went to.
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('HSET', KEYS[4], 'last_error', ARGV[5])
if outcome == 'dead' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('INCR', KEYS[6])
else
  redis.call('HSET', KEYS[4], 'state', outcome)
end
return outcome
