// The entry point for a program that must also run with C libraries before 2.34 (README.md). It
// replaces the compiler's start files. Before 2.34, the program passes to the C library a function
// that runs the constructors before main(). Since 2.34 the C library runs them itself, but still
// accepts such a function. So passing the function works with all C libraries.
#include <stddef.h>

extern "C" {
using Initialize = void (*)(int, char**, char**);
extern Initialize __init_array_start[] __attribute__((visibility("hidden")));
extern Initialize __init_array_end[] __attribute__((visibility("hidden")));

// Identifies the program to the C library when the program registers functions to run at its exit.
__attribute__((visibility("hidden"))) void* __dso_handle = nullptr;

__attribute__((visibility("hidden"))) void VramscopeInitialize(int argc, char** argv,
                                                               char** environment) {
  const size_t count = static_cast<size_t>(__init_array_end - __init_array_start);
  for (size_t i = 0; i < count; ++i) __init_array_start[i](argc, argv, environment);
}
}

// The state of a new process in the System V ABI for x86-64: argc and argv are on the stack, rdx is
// a function to call at exit.
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
