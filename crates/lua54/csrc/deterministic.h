/* Included ahead of every Lua source file, on every target. Lua takes its hash seed, and for some sorts a
   pivot, from the clock and from addresses. The engine has no entropy: the same script gives the same
   answer, the order of pairs() included, natively and in a browser. */
#ifndef LUA54_DETERMINISTIC_H
#define LUA54_DETERMINISTIC_H

/* Any constant serves. This one is 2^32 divided by the golden ratio, as in Fibonacci hashing. */
#define luai_makeseed(L) ((void)(L), 0x9e3779b9u)
#define l_randomizePivot() 0u

/* The point of numerals, whatever locale a native host has set. */
#define lua_getlocaledecpoint() '.'

#endif
