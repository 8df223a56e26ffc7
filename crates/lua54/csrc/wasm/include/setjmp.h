#pragma once
/* sjlj.c lays out four words in here; the rest is room for a later LLVM to want more. */
typedef struct { unsigned long words[8]; } jmp_buf[1];
int setjmp(jmp_buf) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf, int);
