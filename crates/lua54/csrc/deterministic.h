/* Included ahead of every Lua source file, on every target: what Lua lets a header decide. Lua takes its hash seed, and for some sorts a
   pivot, from the clock and from addresses. The engine has no entropy: the same script gives the same
   answer, the order of pairs() included, natively and in a browser. */
#ifndef LUA54_DETERMINISTIC_H
#define LUA54_DETERMINISTIC_H

/* Any constant serves. This one is 2^32 divided by the golden ratio, as in Fibonacci hashing. */
#define luai_makeseed(L) ((void)(L), 0x9e3779b9u)
#define l_randomizePivot() 0u

/* The point of numerals, whatever locale a native host has set. */
#define lua_getlocaledecpoint() '.'

/* 5.1's arithmetic, which is Valkey's. Its remainder loses digits where 5.4's fmod is exact; its powers all go
   through pow, where 5.4 squares by multiplication. */
#define luai_nummod(L, a, b, m) ((void)(L), (m) = (a) - l_floor((a) / (b)) * (b))
#define luai_numpow(L, a, b) ((void)(L), l_mathop(pow)((a), (b)))

#endif
