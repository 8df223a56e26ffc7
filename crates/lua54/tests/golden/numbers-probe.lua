-- Numbers as a script of Valkey sees them. numbers-probe.expected is what Valkey 8.0.1 and 9.1.2 answer to this file.
local out = {}
local function p(...)
  for i = 1, select('#', ...) do out[#out + 1] = tostring((select(i, ...))) end
end

-- Division, rounding above 2^53, the sign of zero, modulo.
p(10/2, 10/2 .. '', 3*1.5*2, 2^53, 2^53+1, 9007199254740993, 1e14, 1e15, 123456789012345, 1234567890123456)
p(-0.0, 7%0 ~= 7%0, 5%-3, -5%3, 7.5%2)

-- Hashes by hand, which overflow 64-bit integers where doubles do not.
local h = 5381
for i = 1, 40 do h = h*33 + i end
p(h)
local h2 = 0
for i = 1, 100 do h2 = (h2*31 + i) % 4294967296 end
p(h2)

-- What strings and library functions give.
p(tonumber('0x10'), tonumber('10')/4, '10'+5, '3'*'4', 10 ..'', #'abc'*2, #'abc'/2)
p(math.floor(3.7), math.floor(-3.7), math.floor(1e300), math.max(1, 2.5), string.len('abcd')+0.5)

-- Keys of tables, and their text.
local t = {}
t[1] = 'a'
t[2.0] = 'b'
t[3] = 'c'
p(#t, t[2], table.concat(t, ','), table.concat({1, 2.5, 1e20, 3.0}, ' '))
for i = 1, 3 do t['k' .. i] = i end
p(t.k1, t.k2, t.k3)
for i = 1, 2, 0.5 do p(i) end

-- Integer arguments and results.
p(string.sub('hello', 2, 3), string.rep('x', 3), string.format('%d %s %5.1f %x', 42, 7, 2.5, 255))
p(select('#', 1, 2, 3), select(2, 'a', 'b'), string.byte('A')+1, ('x'):rep(2), os and 1)

-- Infinities, comparison, ids and times of milliseconds.
p(1e308*10, -1e308*10, 0/0 ~= 0/0, 3 == 3.0, 1 < 1.5, math.huge, 2^31, 2^63)
p(1700000000000, 1700000000000 + 40, 1700000000.123*1000)

-- Numerals.
p(tostring(0.1), 1/3, 100, 1e100, 5e-324, 123.456, 1e2, 0x7fffffffffffffff, 12345678901234567890)
p(tonumber('9223372036854775807'), tonumber('  7  '), tonumber('7x') == nil, tonumber('ff', 16), tonumber('8', 8) == nil)
p(math.abs(-5), math.fmod(7, 3), math.sqrt(16), math.pow and math.pow(2, 10) or 1024)
return table.concat(out, ' ')
