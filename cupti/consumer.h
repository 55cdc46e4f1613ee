// Converts CUPTI's activity buffers to activities of a trace.
//
//   Consumer consumer({.next = library.NextRecord, .name_of_call = ...});
//   consumer.Consume(buffer, valid_bytes, activities);   // as often as buffers come, in any order
//   consumer.Finish(activities);   // adds the activities that still wait for their API call
//   Use(activities, consumer.names());
//
// Names are numbered by the consumer: StringId n is names()[n], and 0 is the empty name. Threads
// have the system's ids (gettid), streams have CUPTI's. An operand's `bytes` is the number of
// allocations and frees on the device before the program passed the operand's address. A buffer is
// never read beyond its bounds. Implausible records are counted and left out.
//
// Use from one thread at a time. Takes no lock; calls only the functions in its options.
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

// cuptiActivityGetNextRecord. If *record is null, the function sets it to the first record.
using NextRecord = int (*)(uint8_t* buffer, size_t valid, uint8_t** record);

struct ConsumerOptions {
  NextRecord next = nullptr;
  // Returns a name such as "cudaLaunchKernel", or "" if the call is unknown.
  std::function<std::string(CallbackDomain, uint32_t callback)> name_of_call = {};
  // Returns the library whose code allocated driver memory ("libnccl.so.2"), or "" if unknown.
  std::function<std::string(uint64_t address)> name_of_code = {};
  // Whether records of host memory contain the line of Python code that allocated it
  // (EnableCallSites in library.h). Then the name of the activity is that line, not the library.
  bool call_sites = false;
  std::vector<std::string> first_names = {};  // numbered before all others: 1, 2, ...
  int64_t offset_ns = 0;                      // added to CUPTI's times
  // Client::PushCause() is used. The record of an operator may arrive in another buffer than the
  // records of its calls.
  bool wait_for_cause = false;
};

struct ConsumerCounts {
  uint64_t records = 0;
  uint64_t unknown = 0;     // records of kinds that are not supported
  uint64_t cut = 0;         // buffers that end within a record, or whose records are not in order
  uint64_t untimed = 0;     // left out because they have no times
  uint64_t unfinished = 0;  // records whose end is 0; the end is set to the begin
  uint64_t reversed = 0;    // records whose end is before the begin; the end is set to the begin
};

class Consumer {
 public:
  explicit Consumer(ConsumerOptions options);

  void Consume(const uint8_t* buffer, size_t valid, std::vector<trace::Activity>& out);
  void Finish(std::vector<trace::Activity>& out);

  const std::vector<std::string>& names() const { return names_; }
  trace::StringId Intern(std::string_view text);  // 0 if there are too many names
  const ConsumerCounts& counts() const { return counts_; }
  void set_offset_ns(int64_t offset) { options_.offset_ns = offset; }
  void set_call_sites(bool on) { options_.call_sites = on; }

 private:
  // The API call of a correlation: its thread, and the external id that was active at the call
  // (operator in the upper half, module in the lower half).
  struct Cause {
    uint32_t thread;
    bool called;
    uint64_t external;
  };
  // Looks up names by text, because their addresses may be reused after a module is unloaded.
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
  // The array is indexed by the lower bits of the correlation, which is a counter. A later call
  // overwrites an entry with the same bits. calloc makes the array, so unused pages take no memory.
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

// The id that PushCause() takes.
constexpr uint64_t ExternalId(trace::StringId op, trace::StringId module) {
  return uint64_t{op.value} << 32 | module.value;
}

}  // namespace vramscope::cupti
