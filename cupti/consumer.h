// CUPTI's activity buffers as activities of a trace.
//
//   Consumer consumer({.next = library.NextRecord, .name_of_call = ...});
//   consumer.Consume(buffer, valid_bytes, activities);   // as often as buffers come, in any order
//   consumer.Finish(activities);                         // those that still waited for their cause
//   Use(activities, consumer.names());
//
// Names are numbered by the consumer: StringId n is names()[n], 0 the empty one. Threads are the
// system's (gettid), streams CUPTI's ids. An operand's `bytes` are how often the program had asked
// its allocator for memory of the device or given it back when it gave the address. A buffer is
// looked at within its bounds alone, whatever it says; what makes no sense is counted and left out.
//
// One thread at a time. Takes no lock and calls nothing but the two functions that it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cupti/records.h"
#include "profiler/trace/activities.h"

namespace vramscope::cupti {

// cuptiActivityGetNextRecord: *record null asks for the first.
using NextRecord = int (*)(uint8_t* buffer, size_t valid, uint8_t** record);

struct ConsumerOptions {
  NextRecord next = nullptr;
  // "cudaLaunchKernel"; "" where it is not known.
  std::function<std::string(CallbackDomain, uint32_t callback)> name_of_call = {};
  // "libnccl.so.2": who holds the code at an address, which asked the driver for memory; likewise.
  std::function<std::string(uint64_t address)> name_of_code = {};
  std::vector<std::string> first_names = {};  // numbered before all others: 1, 2, ...
  int64_t offset_ns = 0;                      // to add to CUPTI's times
  bool wait_for_cause = false;  // whether ids are pushed: who launched arrives in other buffers
};

struct ConsumerCounts {
  uint64_t records = 0;
  uint64_t unknown = 0;     // of kinds that are not read
  uint64_t cut = 0;         // buffers that end within a record, or whose records do not go forward
  uint64_t untimed = 0;     // without times: left out
  uint64_t unfinished = 0;  // end 0: they end where they begin
  uint64_t reversed = 0;    // an end before the begin: likewise
};

class Consumer {
 public:
  explicit Consumer(ConsumerOptions options);

  void Consume(const uint8_t* buffer, size_t valid, std::vector<trace::Activity>& out);
  void Finish(std::vector<trace::Activity>& out);

  const std::vector<std::string>& names() const { return names_; }
  trace::StringId Intern(std::string_view text);  // 0: there are too many
  const ConsumerCounts& counts() const { return counts_; }
  void set_offset_ns(int64_t offset) { options_.offset_ns = offset; }

 private:
  // What the call that a correlation names said: its thread, and who was at work (the id that was
  // pushed: op in the upper half, module in the lower).
  struct Cause {
    uint32_t thread;
    bool called;
    uint64_t external;
  };
  // Names are found by their text: a module that was unloaded may leave its place to another.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  void Record(const uint8_t* record, size_t room, std::vector<trace::Activity>& out);
  bool Times(uint64_t start, uint64_t end, trace::Activity& activity);
  void Emit(const trace::Activity& activity, std::vector<trace::Activity>& out);
  template <typename CopyRecord>
  void EmitCopy(const CopyRecord& copy, trace::Activity& activity,
                std::vector<trace::Activity>& out);
  bool Complete(trace::Activity& activity) const;
  Cause& CauseOf(uint32_t correlation);
  const Cause* FindCause(uint32_t correlation) const;
  trace::StringId NameOfKernel(const char* mangled);
  trace::StringId NameOfCall(CallbackDomain domain, uint32_t callback);
  trace::StringId NameOfCode(uint64_t address);

  ConsumerOptions options_;
  ConsumerCounts counts_;
  std::vector<std::string> names_{""};
  std::unordered_map<std::string, trace::StringId, TextHash, std::equal_to<>> ids_, kernels_;
  std::unordered_map<uint64_t, trace::StringId> calls_, code_;
  // By the correlation's lower bits, which count up: what never completes is forgotten when another
  // takes its place. From calloc, so that pages that nobody needs are not there.
  struct Slot {
    uint32_t correlation;
    Cause cause;
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  std::unique_ptr<Slot[], Free> causes_;
  std::vector<trace::Activity> waiting_;
};

// The id of who is at work, as Consumer takes it apart.
constexpr uint64_t ExternalId(trace::StringId op, trace::StringId module) {
  return uint64_t{op.value} << 32 | module.value;
}

}  // namespace vramscope::cupti
