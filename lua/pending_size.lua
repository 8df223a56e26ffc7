-- pending_size: counts the jobs that wait in pending.
--
-- KEYS[1] pending  zset, score 0
--
-- n                the count
-- EMQARG ...       the call is malformed

if #KEYS ~= 1 or #ARGV ~= 0 then
  return redis.error_reply('EMQARG pending_size takes 1 key and no argument')
end
return redis.call('ZCARD', KEYS[1])
