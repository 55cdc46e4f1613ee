// libvramscope-newer.so: what a bundled library asks the C library for that glibc 2.35 does not
// have (packaging/bundle.py adds it to those that do; where the C library has it, that is used).
#include <stdlib.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) void arc4random_buf(void* to, size_t size) {
  constexpr size_t kMost = 256;  // of getentropy() at once
  for (char* at = static_cast<char*>(to); size > 0;) {
    const size_t now = size < kMost ? size : kMost;
    if (getentropy(at, now) != 0) abort();  // as the C library's does
    at += now;
    size -= now;
  }
}
