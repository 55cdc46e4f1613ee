// All targets are in one libFuzzer program, because linking a program for each takes longer than
// fuzzing them in CI. $VRAMSCOPE_FUZZ_TARGET names the target to run; without it, the names are
// printed.
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
