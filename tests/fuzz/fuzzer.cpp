// One libFuzzer program contains all targets, because it would take longer to link one program per
// target than to fuzz them in CI. $VRAMSCOPE_FUZZ_TARGET names the target to run. Without it, the
// program prints the names.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/targets.h"

namespace {

const vramscope::fuzz::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("VRAMSCOPE_FUZZ_TARGET");
  for (const vramscope::fuzz::Target& one : vramscope::fuzz::Targets()) {
    if (name == nullptr) std::puts(one.name);
    if (name != nullptr && std::strcmp(name, one.name) == 0) target = &one;
  }
  if (name == nullptr) std::exit(0);
  if (target == nullptr) {
    std::fprintf(stderr, "fuzzer: there is no target %s\n", name);
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->entry(data, size);
  return 0;
}
