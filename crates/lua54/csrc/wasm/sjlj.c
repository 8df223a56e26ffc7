/* What LLVM's WebAssembly setjmp/longjmp calls (the interface of LLVM 19 and later; wasi-libc and
   Emscripten define the same three functions for themselves).

   The compiler turns a function that calls setjmp into one that catches the exception `__c_longjmp`. On a
   catch it asks `__wasm_setjmp_test` whether the buffer thrown at was filled by this very call of this
   function, and at which of its setjmps; if not, it throws on. That is all the state there is: who filled
   the buffer, and where. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
  void *invocation;  /* an address in the frame of the call that filled this buffer */
  uint32_t label;    /* which setjmp of that function, counted from 1 */
  struct { void *env; int value; } thrown;  /* what the exception carries a pointer to, as the compiler reads it */
};
_Static_assert(sizeof(struct buffer) <= sizeof(jmp_buf), "jmp_buf is too small");

void __wasm_setjmp(void *env, uint32_t label, void *invocation) {
  struct buffer *buffer = env;
  buffer->invocation = invocation;
  buffer->label = label;
}

/* The label to continue at; 0 when the buffer belongs to another call. */
uint32_t __wasm_setjmp_test(void *env, void *invocation) {
  const struct buffer *buffer = env;
  return buffer->invocation == invocation ? buffer->label : 0;
}

void __wasm_longjmp(void *env, int value) {
  struct buffer *buffer = env;
  buffer->thrown.env = env;
  buffer->thrown.value = value != 0 ? value : 1;  /* as C has it: setjmp never seems to return 0 twice */
  __builtin_wasm_throw(1 /* LLVM's number for __c_longjmp */, &buffer->thrown);
}
