-- The order of pairs, of an unstable sort and of chance. The answer is order.txt, on every target and in every run.
local out = {}
local function line(name, t) out[#out + 1] = name .. ': ' .. table.concat(t, ' ') end

local function keys(t)
  local all = {}
  for k in pairs(t) do all[#all + 1] = tostring(k) end
  return all
end

local words, numbers, mixed, removed = {}, {}, {}, {}
for i = 1, 40 do words['word' .. i * i] = i end
for i = 1, 40 do numbers[(i * 7919) % 1000 / 8] = i end
for i = 1, 20 do mixed[i] = i; mixed[-i] = i; mixed['k' .. i] = i; mixed[i + 0.5] = i end
mixed[true], mixed[false], mixed[math.huge] = 1, 2, 3
for i = 1, 60 do removed['r' .. i] = i end
for i = 1, 60, 2 do removed['r' .. i] = nil end
for i = 1, 10 do removed['late' .. i] = i end
line('words', keys(words))
line('numbers', keys(numbers))
line('mixed', keys(mixed))
line('removed', keys(removed))
line('long', keys({[('x'):rep(100)] = 1, [('y'):rep(100)] = 2, [('z'):rep(100)] = 3}))
line('string', keys(string))
line('math', keys(math))

-- Equal elements, told apart by their place before; and more than the 100 from where on the pivot is random in plain Lua.
local rows = {}
for i = 1, 300 do rows[i] = {key = i * i % 7, place = i} end
table.sort(rows, function(a, b) return a.key < b.key end)
local places = {}
for i, row in ipairs(rows) do places[i] = row.place end
line('sorted', places)
local saw = {}
for i = 1, 400 do saw[i] = i <= 200 and i or 401 - i end
local compared = 0
table.sort(saw, function(a, b) compared = compared + 1; return a < b end)
line('comparisons', {compared})

local random = {}
for i = 1, 10 do random[i] = math.random(1000000) end
line('random', random)
line('random float', {('%.17g'):format(math.random())})
math.randomseed(42)
line('seeded', {math.random(100), math.random(100), math.random(100)})
math.randomseed()
line('seeded by nothing', {math.random(100), math.random(100), math.random(100)})
return table.concat(out, '\n') .. '\n'
