#include "tests/fuzz/kineto_entries.h"

#include <string>

#include "profiler/importers/kineto.h"
#include "tests/fuzz/recording_checks.h"
#include "tests/profiler/importers/memory_input.h"

namespace vramscope::fuzz {
namespace {

void Read(const std::string& bytes, const importers::KinetoOptions& options) {
  // Passes small pieces, so that many tokens are split between two pieces.
  importers::testing::MemoryInput input(bytes, 97);
  const auto r = importers::ReadKineto(input, options);
  if (!r.ok()) {
    Check(!r.status().message().empty(), "an error without a message");
    return;
  }
  CheckRecording(*r);
  CheckTrace(*r);
}

}  // namespace

void Kineto(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes, {});
  importers::KinetoOptions part;
  part.first_entry = 1;
  part.last_entry = 3;
  Read(bytes, part);
}

}  // namespace vramscope::fuzz
