-- How a script of Valkey reads numbers. numerals-probe.expected is what Valkey 9.1.2 answers to this file.
local out = {}
local function p(value) out[#out + 1] = tostring(value) end

-- Texts, of which some are no numbers. ZSCORE answers 'inf' for an infinite score.
for _, text in ipairs({
  '0', '-0', '+1', '  12  ', '\t1\n', '1\v', '1.', '.5', '1.e2', '1E+2', '1e-2', '1e', '1e+', 'e5', '.', '-', '+-1', '', ' ',
  '+ 1', '1 2', '1x', '1_000', '1,5', '1e400', '-1e400', '1e-400', '9223372036854775807', '18446744073709551616',
  '0x', '0X', '0x.', '0x.p1', '-0x', '0xg', '0x-1', '- 0x1', '0x10', '-0x10', '0X1p4', '0x.8', '0x8.', '0x1.8p1', '0x1p-1',
  '0x7fffffffffffffff', '0x8000000000000000', '0xffffffffffffffff', '-0xffffffffffffffff', '0x10000000000000000',
  'inf', '-inf', '+inf', 'INF', 'Infinity', 'infx', 'infinit', 'nan', '-nan', 'NaN', 'nan()', 'nan(a_1)', 'nan(a-)', 'nanx',
}) do
  p(tonumber(text))
end

-- Numerals of the source, and arithmetic on strings. The zero has a function of its own: 5.1 keeps one constant for 0 and
-- -0 of a function, so that after a -0 each 0 in it would be one.
p(0xffffffffffffffff) p(0x10000000000000000) p(08) p(1e1) p((function() return -0 end)()) p(9007199254740993)
p('-0' + 0) p(-'0') p('0xff' + 1) p('inf' + 1) p(' 7 ' * '0x2') p(10 .. '') p('0xffffffffffffffff' - 0)
return table.concat(out, ' ')
