#pragma once
#include <stddef.h>
void *memcpy(void *, const void *, size_t), *memmove(void *, const void *, size_t), *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
size_t strlen(const char *), strspn(const char *, const char *);
int strcmp(const char *, const char *), strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *), *strchr(const char *, int);
char *strpbrk(const char *, const char *), *strstr(const char *, const char *);

/* The C locale collates by bytes. */
static inline int strcoll(const char *a, const char *b) { return strcmp(a, b); }
static inline char *strerror(int code) { return "no such file"; }
