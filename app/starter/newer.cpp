// libvramscope-newer.so: functions that bundled libraries need and glibc 2.35 lacks.
// packaging/bundle.py links it to the bundled libraries. If the computer's C library has one of
// these functions, the C library's function is used.
#include <stdlib.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) void arc4random_buf(void* to, size_t size) {
  constexpr size_t kMost = 256;  // maximum of one getentropy() call
  for (char* at = static_cast<char*>(to); size > 0;) {
    const size_t now = size < kMost ? size : kMost;
    if (getentropy(at, now) != 0) abort();  // the C library aborts, too
    at += now;
    size -= now;
  }
}
