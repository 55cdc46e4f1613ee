#include "tests/fuzz/check.h"

#include <cstdio>
#include <cstdlib>

namespace vramscope::fuzz {

void Check(bool good, std::string_view what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace vramscope::fuzz
