/* The part of a C library that Lua calls and that wasm32-unknown-unknown lacks. memcpy, memmove, memset,
   memcmp, strlen and the functions of math.h come from Rust's compiler_builtins, number text from
   src/wasm.rs, the rest are one-liners in include/. Written for size: these are called for names, formats
   and patterns, never for bulk data. */
#include <math.h>
#include <stdint.h>
#include <string.h>

void *memchr(const void *s, int c, size_t n) {
  const unsigned char *p = s;
  for (; n > 0; p++, n--)
    if (*p == (unsigned char)c) return (void *)p;
  return NULL;
}

char *strchr(const char *s, int c) {
  for (; *s != (char)c; s++)
    if (*s == '\0') return NULL;
  return (char *)s;
}

size_t strspn(const char *s, const char *set) {
  size_t n = 0;
  while (s[n] != '\0' && strchr(set, s[n]) != NULL) n++;
  return n;
}

char *strpbrk(const char *s, const char *set) {
  for (; *s != '\0'; s++)
    if (strchr(set, *s) != NULL) return (char *)s;
  return NULL;
}

int strcmp(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n) {
  while (n > 0 && *a != '\0' && *a == *b) a++, b++, n--;
  return n == 0 ? 0 : (unsigned char)*a - (unsigned char)*b;
}

char *strcpy(char *to, const char *from) { return memcpy(to, from, strlen(from) + 1); }

char *strstr(const char *s, const char *find) {
  size_t n = strlen(find);
  for (; strncmp(s, find, n) != 0; s++)
    if (*s == '\0') return NULL;
  return (char *)s;
}

/* The half of ldexp's pair that compiler_builtins does not export. */
double frexp(double x, int *exponent) {
  union { double number; uint64_t bits; } v = {x};
  int biased = (int)(v.bits >> 52 & 0x7ff);
  *exponent = 0;
  if (x == 0 || biased == 0x7ff) return x;
  if (biased == 0) {  /* subnormal: scale it into the normal range first */
    x = frexp(x * 0x1p64, exponent);
    *exponent -= 64;
    return x;
  }
  *exponent = biased - 0x3fe;
  v.bits = (v.bits & 0x800fffffffffffffu) | 0x3fe0000000000000u;
  return v.number;
}
