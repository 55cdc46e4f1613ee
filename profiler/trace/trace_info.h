// What a trace says of the run as a whole, and what comes with its events beside them. Plain
// values: producers (event_sink.h) know no tables.
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

// What the events tell: what happened, or only what was there at one moment (a memory snapshot
// without a recorded history, torch.cuda.memory_snapshot(), memory statistics). The events of a
// state restate what is there in no order that means anything, and no moment but the last is real.
enum class Content : uint8_t { kRun = 0, kState = 1 };

// One figure of torch.cuda.memory_stats(), under its name there.
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
  std::string source;      // of an imported file: "CUDA memory snapshot (pickle, protocol 4)"
  std::string alloc_conf;  // that the allocator ran with, as PYTORCH_CUDA_ALLOC_CONF
  int64_t start_unix_ns = 0;
  Content content = Content::kRun;
  // false: the file has an order and no times; EventTable::time_ns counts entries (entry i has time
  // i), and nothing may be shown in seconds.
  bool has_times = true;
  // As the file has them; where there is nothing else (no events), a state of figures alone.
  std::vector<Statistic> statistics;
};

// New rows of a StackTable: frames first_frame and up; stacks first_stack and up, one after another
// in `frames`, each with its `lengths` entry. Strings come before.
struct StackIncrement {
  uint32_t first_frame = 0;
  std::vector<StringId> function, file;
  std::vector<uint32_t> line;
  uint32_t first_stack = 1;
  std::vector<uint32_t> lengths, frames;
};

}  // namespace vramscope::trace
