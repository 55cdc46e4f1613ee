#include "tests/fuzz/marks_entries.h"

#include <string>
#include <string_view>

#include "profiler/program/program.h"
#include "tests/fuzz/recording_checks.h"

namespace vramscope::fuzz {
namespace {

// Returns a recording of forty allocations on one device. Some reuse an address.
recording::Recording Small() {
  recording::Recording r;
  const auto add = [&](recording::Action action, uint64_t place) {
    r.entries.action.push_back(action);
    r.entries.address.push_back((uint64_t{1} << 32) + place * 4096);
    r.entries.bytes.push_back(2048);
    r.entries.time_ns.push_back(static_cast<int64_t>(r.entries.size()) * 100);
    r.entries.stack.push_back({});
    r.entries.stream.push_back(0);
  };
  for (uint64_t i = 0; i < 20; ++i) add(recording::Action::kAlloc, i % 17);
  for (uint64_t i = 0; i < 20; ++i) {
    add(recording::Action::kFreeRequested, i);
    if (i % 3 != 0) add(recording::Action::kFreeCompleted, i);
  }
  return r;
}

}  // namespace

// The trace must accept everything that is derived from the marks.
void ProgramMarks(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto about = program::ParseAbout(text);
  Check(about.ok() || !about.status().message().empty(), "an error without a message");
  const auto marks = program::ParseMarks(text);
  if (!marks.ok()) return;
  for (const bool virtual_clock : {false, true}) {
    program::About of;
    of.ended = "end";
    of.virtual_clock = virtual_clock;
    const auto trace = program::BuildTrace(Small(), *marks, of, {});
    Check(trace.ok(), "a small history is not taken");
    Check((*trace)->complete, "refused: " + (*trace)->end_message);
  }
}

}  // namespace vramscope::fuzz
