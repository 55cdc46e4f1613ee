// The activities that a watched process has written (activity_chunk.h), and how they become those
// of its trace: names, threads and modules are the trace's own, times on its clock.
//
//   ActivityFile file;
//   RETURN_IF_ERROR(file.ReadMore(folder + "/activities.bin"));
//   if (file.facts().problems ...)
//   for (trace::Activity activity : file.activities()) ...   // its name: file.names()
//
// Values; one thread at a time.
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
  // The whole chunks that have come since. kNotFound: there is no such file (yet). What is damaged
  // ends the reading there; kResourceExhausted: more than the limits.
  absl::Status ReadMore(const std::string& path);

  // When no more is written: what a process that was killed had not written as a chunk yet
  // (activity_tail.h). kNotFound: there is no such file; kDataLoss: it does not go on here.
  absl::Status ReadTail(const std::string& path);

  const std::vector<trace::Activity>& activities() const { return activities_; }
  const std::vector<std::string>& names() const { return names_; }
  // In the order in which they were told.
  const std::vector<StreamName>& streams() const { return streams_; }
  const ActivityFacts& facts() const { return facts_; }
  bool damaged() const { return damaged_; }
  // What is to be said of it, a sentence each.
  std::vector<std::string> Warnings() const;

 private:
  absl::Status Take(ActivityChunk chunk);

  std::vector<trace::Activity> activities_;
  std::vector<std::string> names_{""};
  std::vector<StreamName> streams_;
  ActivityFacts facts_;
  bool damaged_ = false;
  uint64_t read_ = 0, rows_ = 0, left_out_ = 0;  // bytes, rows of the file, of them not taken
  std::string rest_;
};

// Which module a thread was in, as the events of a trace say it.
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

// Of every operand of the file in their order: when its block was made, on the trace's clock;
// nullopt: it lies in none.
using BlockTimes = std::vector<std::optional<int64_t>>;

// Rows of the file as they belong into a trace whose time 0 is `origin_ns` and whose next string is
// `next_string`: `strings` are new ones. What ended before the origin is left out. Work of a card
// has the module of the call that launched it, by the thread's number in the marks. A stream that
// the allocator knows has the number that the events of `recording` give it; another keeps CUPTI's,
// unless that is taken. Operands in no block are left out.
struct PlacedActivities {
  std::vector<std::string> strings;
  std::vector<trace::Activity> rows;
};
PlacedActivities PlaceActivities(const ActivityFile& file, const Marks& marks,
                                 const recording::Recording& recording, const ModuleTimes& modules,
                                 const BlockTimes& blocks, int64_t origin_ns, uint32_t next_string);

}  // namespace vramscope::program
