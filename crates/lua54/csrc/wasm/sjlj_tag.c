/* The exception tag of longjmp: a tag with one i32, the address of `thrown` in sjlj.c.
   In a file of its own, because this one is compiled without -wasm-enable-sjlj (see build/toolchain.rs). */
__asm__(".weak __c_longjmp\n"
        ".tagtype __c_longjmp i32\n"
        "__c_longjmp:\n");
