-- browse: lists the jobs of one set in mint order, whatever its scores mean.
--
-- KEYS[1] set       zset: pending, active, schedule or dead
-- KEYS[2] row root  prefix of every row: emq:{q}:job:
-- ARGV[1] offset    ids to pass over, a whole number from 0
-- ARGV[2] count     ids to look at, a whole number from 0
--
-- [id, ...]         an id whose row is gone is no job and left out, so a page may be shorter than count
-- EMQARG ...        the call is malformed

if #KEYS ~= 2 or #ARGV ~= 2 then
  return redis.error_reply('EMQARG browse takes 2 keys and 2 arguments')
end
for at, name in ipairs({'offset', 'count'}) do
  if #ARGV[at] > 15 or not string.find(ARGV[at], '^[0-9]+$') then
    return redis.error_reply('EMQARG browse ' .. name .. ' is not a whole number from 0')
  end
end
local first = tonumber(ARGV[1])
local last = first + tonumber(ARGV[2]) - 1
if last < first then return {} end

-- Pending and dead score 0, so their order is id order already. Deadlines and due times do not order by id:
-- weighing them with 0 does, by bytes, where table.sort would follow the server's locale.
local ids
local highest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
if highest and highest ~= '0' then
  ids = {}
  for at, id in ipairs(redis.call('ZUNION', 1, KEYS[1], 'WEIGHTS', 0)) do
    if at > first and at <= last + 1 then ids[#ids + 1] = id end
  end
else
  ids = redis.call('ZRANGE', KEYS[1], first, last)
end

local jobs = {}
for _, id in ipairs(ids) do
  if redis.call('EXISTS', KEYS[2] .. id) == 1 then jobs[#jobs + 1] = id end
end
return jobs
