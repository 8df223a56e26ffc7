-- claim: leases the oldest pending job and mints its fencing token.
--
-- KEYS[1] pending   zset, score 0
-- KEYS[2] active    zset, score = lease deadline in server ms
-- KEYS[3] row root  prefix of every row: emq:{q}:job:
-- ARGV[1] lease     ms, a whole number from 1
--
-- [id, payload, token]  the job is active until its deadline; token is its attempts after the increment
-- nil                   nothing is pending
-- EMQARG ...            the call is malformed; nothing changed

local lease = ARGV[1]
if #KEYS ~= 3 or #ARGV ~= 1 then
  return redis.error_reply('EMQARG claim takes 3 keys and 1 argument')
end
if #lease > 15 or not string.find(lease, '^[1-9][0-9]*$') then
  return redis.error_reply('EMQARG claim lease is not a whole number of ms from 1')
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local id = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
while id do
  local row = KEYS[3] .. id
  if redis.call('EXISTS', row) == 1 then
    local token = redis.call('HINCRBY', row, 'attempts', 1)
    redis.call('HSET', row, 'state', 'active')
    redis.call('ZADD', KEYS[2], now + tonumber(lease), id)
    redis.call('ZREM', KEYS[1], id)
    return {id, redis.call('HGET', row, 'payload'), token}
  end
  -- An id whose row is gone is no job: it leaves pending, and no row is made for it.
  redis.call('ZREM', KEYS[1], id)
  id = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
end
return nil
