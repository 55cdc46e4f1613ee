// Activities as events of a Chrome trace, named and categorised as Kineto does (what it has no word
// for, in words of ours that importers/kineto_events.cpp reads again), and a flow arrow from every
// call to what the device did for it. Split from the writer of the whole file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/trace.h"

namespace vramscope::exporters {

class ChromeActivities {
 public:
  struct Place {
    uint32_t process = 0, thread = 0;  // of the file
  };

  // `names`: strings of the trace, ready to stand between quotes; both must outlive it.
  ChromeActivities(const trace::Trace& trace, const std::vector<std::string>& names,
                   int64_t begin_ns);
  // One event or two, each a block between a line "  {" and a line "  },".
  void Write(uint32_t activity, Place place, fmt::memory_buffer& out) const;

 private:
  const trace::ActivityTable& table_;
  const std::vector<std::string>& names_;
  const int64_t begin_ns_;
  // By correlation: the row of the call from which the arrows go.
  base::HashMap<uint64_t, uint32_t> calls_;
};

}  // namespace vramscope::exporters
