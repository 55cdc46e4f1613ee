// What libvramscope-emulated.so gives to the other libraries of the platform. Everything else of it
// stays hidden: it is loaded into programs of which nothing is known.
#pragma once

#define VRAMSCOPE_EMULATED_API __attribute__((visibility("default")))
