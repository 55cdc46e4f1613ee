// Reads the events of a Kineto file into tables, in the file's order. They are sorted and joined
// later. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/importers/json_tokens.h"
#include "profiler/run/reported_gpu.h"
#include "profiler/trace/activities.h"
#include "profiler/trace/memory_budget.h"
#include "profiler/trace/types.h"

namespace vramscope::importers {

struct KinetoTables {
  // Times are in nanoseconds from base_ns.
  struct Memory {
    int64_t time_ns;
    int64_t bytes;  // negative: a free
    uint64_t address;
    int64_t total_allocated, total_reserved;  // after the event; -1: not recorded
    uint32_t thread;
    uint8_t device;
    bool cpu, out_of_memory;
    bool without_address;  // written by PyTorch before 1.11
    trace::Category recorded_category;
  };
  // A span on a host thread; spans nest.
  struct Span {
    enum Kind : uint8_t { kPython, kModule, kOp };
    int64_t begin_ns, end_ns;
    trace::StringId name;
    trace::StringId module;  // module of an operator; 0: not recorded
    uint32_t thread;
    Kind kind;
  };
  struct Annotation {
    int64_t begin_ns, end_ns;
    trace::StringId name;
  };
  // A kernel, memcpy, API call or similar. Its operator is found later.
  struct Work {
    trace::Activity activity;
    int64_t external_id;  // 0: none
  };
  struct Op {
    trace::StringId name, module;
  };
  struct Launch {
    int64_t time_ns;
    int64_t correlation;
    uint32_t thread;
  };

  std::vector<Memory> memory;
  std::vector<Span> spans;
  std::vector<Annotation> annotations;
  std::vector<Work> work;
  std::vector<Launch> launches;
  base::HashMap<int64_t, Op> op_of_external_id;
  std::vector<std::string> strings = {""};
  std::vector<std::pair<int64_t, run::ReportedGpu>> gpus;  // from deviceProperties, by "id"
  int64_t base_ns = 0;
  bool ours = false;      // written by vramscope
  uint64_t events = 0;    // number of events of all kinds
  uint64_t unusable = 0;  // events without a required field (time, size)
};

// Reads a whole file. If it fails, `tables` contains the events read before the error.
class KinetoEventReader {
 public:
  KinetoEventReader(JsonTokens& json, KinetoTables& tables, trace::MemoryBudget& budget)
      : json_(json), tables_(tables), budget_(budget) {}
  // Returns kInvalidArgument if the file is no Chrome trace, and errors of the JSON reader. Before
  // using the status, check whether the budget is exhausted, because that also ends the reading.
  absl::Status Read();

 private:
  using Token = JsonTokens::Token;
  // The relevant fields of one event.
  struct Raw {
    std::string name, category, phase;
    std::string pid, tid, flow_id;
    std::optional<int64_t> begin_ns, duration_ns;
    // From args.
    std::optional<int64_t> bytes, address, total_allocated, total_reserved;
    std::optional<int64_t> device_type, device_id, device, stream, external_id, correlation;
    std::optional<int64_t> elements;
    std::string module, kind, recorded_category, held_as, op, from, to, dtype;
    void Clear();
  };

  struct TextField {
    std::string_view key;
    std::string Raw::*to;
  };

  absl::Status Broken() const;
  bool Top();
  bool Events();
  bool DeviceProperties();
  bool DeviceProperty(Token token);
  bool Object(bool (KinetoEventReader::*take)(Token));
  bool Field(Token token);
  bool Argument(Token token);
  void Take(std::span<const TextField> fields);
  void Take();
  void TakeMemory();
  void TakeLaunch(const KinetoTables::Launch& launch);
  void TakeComplete();
  void TakeWork(trace::ActivityKind kind, int64_t begin_ns, int64_t end_ns);
  trace::StringId Intern(std::string_view text);
  uint32_t Thread();

  JsonTokens& json_;
  KinetoTables& tables_;
  trace::MemoryBudget& budget_;
  Raw event_;
  int64_t gpu_id_ = 0, gpu_major_ = 0, gpu_minor_ = 0;
  run::ReportedGpu gpu_;  // the GPU that is being read
  std::string key_;
  bool saw_events_ = false;
  base::HashMap<std::string, uint32_t> interned_;
  base::HashMap<std::string, uint32_t> threads_;
};

}  // namespace vramscope::importers
