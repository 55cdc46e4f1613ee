// Writes activities as events of a Chrome trace. Names and categories are Kineto's.
// Activities that Kineto does not support have vramscope's own names, which
// importers/kineto_events.cpp can read. A flow arrow leads from every API call to its work on
// the device.
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
    uint32_t process = 0, thread = 0;  // numbers in the file
  };

  // `names`: the trace's strings, escaped for JSON. The trace and `names` must outlive this object.
  ChromeActivities(const trace::Trace& trace, const std::vector<std::string>& names,
                   int64_t begin_ns);
  // Writes one or two events, each as a block between a line "  {" and a line "  },".
  void Write(uint32_t activity, Place place, fmt::memory_buffer& out) const;

 private:
  const trace::ActivityTable& table_;
  const std::vector<std::string>& names_;
  const int64_t begin_ns_;
  // The row of the call at which each flow arrow starts. The key is the correlation.
  base::HashMap<uint64_t, uint32_t> calls_;
};

}  // namespace vramscope::exporters
