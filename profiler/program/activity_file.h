// Reads the activities that a watched process has written (activity_chunk.h). Converts their names,
// threads, modules and times to those of the process's trace.
//
//   ActivityFile file;
//   RETURN_IF_ERROR(file.ReadMore(folder + "/activities.bin"));
//   if (file.facts().problems ...)
//   for (trace::Activity activity : file.activities()) ...   // its name: file.names()
//
// Copyable; only one thread at a time may use an object.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/program/activity_chunk.h"
#include "profiler/program/marks.h"
#include "profiler/recording/recording.h"
#include "profiler/trace/types.h"

namespace vramscope::program {

inline constexpr size_t kMaxActivities = size_t{1} << 24;

class ActivityFile {
 public:
  // Reads the complete chunks that were added since the last call. kNotFound: the file does not
  // exist (yet). Nothing after a damaged chunk is read. kResourceExhausted: the file exceeds the
  // limits.
  absl::Status ReadMore(const std::string& path);

  // Reads the activities that a killed process had not yet written as a chunk (activity_tail.h).
  // Call it when the process has ended. kNotFound: there is no tail file. kDataLoss: the tail does
  // not continue the chunks read so far.
  absl::Status ReadTail(const std::string& path);

  const std::vector<trace::Activity>& activities() const { return activities_; }
  const std::vector<std::string>& names() const { return names_; }
  // The names of streams, in the order of the file.
  const std::vector<StreamName>& streams() const { return streams_; }
  const ActivityFacts& facts() const { return facts_; }
  bool damaged() const { return damaged_; }
  // Warnings for the user, one sentence each.
  std::vector<std::string> Warnings() const;

 private:
  absl::Status Take(ActivityChunk chunk);

  std::vector<trace::Activity> activities_;
  std::vector<std::string> names_{""};
  std::vector<StreamName> streams_;
  ActivityFacts facts_;
  bool damaged_ = false;
  uint64_t read_ = 0, rows_ = 0, left_out_ = 0;  // bytes read, rows read, rows left out
  std::string rest_;
};

// Finds the module in which a thread was at a given time, from the events of a trace.
class ModuleTimes {
 public:
  void See(const trace::Event& event);
  trace::StringId At(uint32_t thread, int64_t ns) const;

 private:
  struct Thread {
    std::vector<trace::StringId> open;
    std::vector<std::pair<int64_t, trace::StringId>> since;
  };
  std::map<uint32_t, Thread> threads_;
};

// The time at which each operand's block was allocated, on the trace's clock, or nullopt if the
// operand is in no block. Sorted like the operands in the file.
using BlockTimes = std::vector<std::optional<int64_t>>;

// The rows of the file as activities of a trace, and the strings that the trace lacks.
struct PlacedActivities {
  std::vector<std::string> strings;
  std::vector<trace::Activity> rows;
};
// Converts the rows of the file for a trace whose time 0 is `origin_ns`. The numbers of the strings
// that the trace lacks begin at `next_string`. Leaves out activities that ended before time 0, and
// operands in no block. GPU work gets the module that was open on the thread that launched it. If a
// stream occurs in the events of `recording`, it gets the number that it has there; otherwise it
// keeps CUPTI's number unless another stream has that number.
PlacedActivities PlaceActivities(const ActivityFile& file, const Marks& marks,
                                 const recording::Recording& recording, const ModuleTimes& modules,
                                 const BlockTimes& blocks, int64_t origin_ns, uint32_t next_string);

}  // namespace vramscope::program
