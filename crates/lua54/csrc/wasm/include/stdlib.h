#pragma once
#include <stddef.h>

double strtod(const char *, char **); /* src/wasm.rs */

/* Only luaL_newstate would call these; mlua brings an allocator of its own. */
static inline void *realloc(void *p, size_t size) { return NULL; }
static inline void free(void *p) {}
static inline _Noreturn void abort(void) { __builtin_trap(); }
static inline int abs(int x) { return x < 0 ? -x : x; }
