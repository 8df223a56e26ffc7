/* There are no files, and no place to print to. These are inline so that the compiler sees at each call
   what comes of it and drops the rest: most of luaL_loadfilex goes away because nothing can be opened. */
#pragma once
#include <stddef.h>

typedef struct lua54_no_file FILE;
#define stdin ((FILE *)0)
#define stdout ((FILE *)0)
#define stderr ((FILE *)0)
#define EOF (-1)
#define BUFSIZ 64

static inline FILE *fopen(const char *path, const char *mode) { return NULL; }
static inline FILE *freopen(const char *path, const char *mode, FILE *f) { return NULL; }
static inline int fclose(FILE *f) { return 0; }
static inline int feof(FILE *f) { return 1; }
static inline int ferror(FILE *f) { return 0; }
static inline int getc(FILE *f) { return EOF; }
static inline size_t fread(void *to, size_t size, size_t n, FILE *f) { return 0; }
static inline size_t fwrite(const void *from, size_t size, size_t n, FILE *f) { return n; }
static inline int fflush(FILE *f) { return 0; }
#define fprintf(...) ((void)0)

#ifdef LUA54_LEAST
/* Without string.format there are two formats, "%.14g" and "%p". The compiler drops what would print other
   values, and with it the functions that nobody defines. */
int lua54_print_f64(char *to, size_t size, double value);
int lua54_print_address(char *to, size_t size, const void *value);
int lua54_undefined_i64(char *to, size_t size, long long value);
int lua54_undefined_text(char *to, size_t size, const char *value);
#define snprintf(to, size, format, value)                                             \
  _Generic((value), double: lua54_print_f64,                                          \
                    int: lua54_undefined_i64, long long: lua54_undefined_i64,         \
                    char *: lua54_undefined_text, const char *: lua54_undefined_text, \
                    void *: lua54_print_address, const void *: lua54_print_address)   \
  (to, size, value)
#else
/* All of Lua prints one value at a time. The type of that value picks the function, so no variable
   arguments are needed, and the formatting can be Rust (src/printf.rs). */
int lua54_format_f64(char *to, size_t size, const char *format, double value);
int lua54_format_i64(char *to, size_t size, const char *format, long long value);
int lua54_format_text(char *to, size_t size, const char *format, const void *value);
#define snprintf(to, size, format, value)                                       \
  _Generic((value), double: lua54_format_f64,                                   \
                    int: lua54_format_i64, long long: lua54_format_i64,         \
                    char *: lua54_format_text, const char *: lua54_format_text, \
                    void *: lua54_format_text, const void *: lua54_format_text) \
  (to, size, format, value)
#endif
