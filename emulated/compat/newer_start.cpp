// How programs begin, for C libraries before 2.34 (README.md), in place of the compiler's own start
// files: since 2.34 the C library itself runs what is to run before main(), where the program names
// no function that does; before, every program brought one. One that does runs with both.
#include <stddef.h>

extern "C" {
using Initialize = void (*)(int, char**, char**);
extern Initialize __init_array_start[] __attribute__((visibility("hidden")));
extern Initialize __init_array_end[] __attribute__((visibility("hidden")));

// A program's, for what is registered to run at its end.
__attribute__((visibility("hidden"))) void* __dso_handle = nullptr;

__attribute__((visibility("hidden"))) void VramscopeInitialize(int argc, char** argv,
                                                               char** environment) {
  const size_t count = static_cast<size_t>(__init_array_end - __init_array_start);
  for (size_t i = 0; i < count; ++i) __init_array_start[i](argc, argv, environment);
}
}

// As the System V ABI for x86-64 hands a process over: the stack has argc and argv, rdx what is to
// be called at the end.
__asm__(R"(
  .text
  .globl _start
  .type _start, @function
_start:
  xorl %ebp, %ebp
  movq %rdx, %r9
  popq %rsi
  movq %rsp, %rdx
  andq $-16, %rsp
  pushq %rax
  pushq %rsp
  xorl %r8d, %r8d
  leaq VramscopeInitialize(%rip), %rcx
  movq main@GOTPCREL(%rip), %rdi
  call *__libc_start_main@GOTPCREL(%rip)
  hlt
)");
