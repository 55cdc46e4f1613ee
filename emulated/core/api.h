// Marks the symbols that libvramscope-emulated.so exports to the other libraries of the platform.
// All other symbols are hidden, because the library is loaded into arbitrary programs.
#pragma once

#define VRAMSCOPE_EMULATED_API __attribute__((visibility("default")))
