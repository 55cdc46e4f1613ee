// Information about the run as a whole, and the data that accompanies its events. Uses only plain
// types, because producers (event_sink.h) do not include the tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/device_profile.h"
#include "profiler/run/run_config.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

struct ModelSummary {
  std::string name;
  uint64_t parameter_count = 0;
  uint64_t trainable_count = 0;
  uint64_t parameter_bytes = 0;
  uint32_t layers = 0;
};

// Says whether the events are a history, or only the state at one time (a memory snapshot without a
// recorded history, torch.cuda.memory_snapshot(), memory statistics). The order of the events of a
// state has no meaning: only the state after the last event existed.
enum class Content : uint8_t { kRun = 0, kState = 1 };

// One figure of torch.cuda.memory_stats(), with PyTorch's name.
struct Statistic {
  std::string name;
  int64_t value = 0;
  friend bool operator==(const Statistic&, const Statistic&) = default;
};

struct TraceInfo {
  std::string producer;
  std::string title;
  Backend backend = Backend::kPlan;
  bool measured = false;
  bool has_config = false;  // false for imported files
  run::RunConfig config;
  run::DeviceProfile device;
  ModelSummary model;
  std::string source;      // kind of an imported file: "CUDA memory snapshot (pickle, protocol 4)"
  std::string alloc_conf;  // the allocator's settings, as PYTORCH_CUDA_ALLOC_CONF
  int64_t start_unix_ns = 0;
  Content content = Content::kRun;
  // False if the file has an order but no times. EventTable::time_ns is then the entry's index, and
  // nothing may be shown in seconds.
  bool has_times = true;
  // The figures that an imported file contains. A file without events has only these.
  std::vector<Statistic> statistics;
};

// New rows of a StackTable: frames from first_frame on, stacks from first_stack on. `frames` lists
// the frames of all stacks one after the other; `lengths` has the number of frames of each stack.
// The strings of the frames are sent first.
struct StackIncrement {
  uint32_t first_frame = 0;
  std::vector<StringId> function, file;
  std::vector<uint32_t> line;
  uint32_t first_stack = 1;
  std::vector<uint32_t> lengths, frames;
};

}  // namespace vramscope::trace
