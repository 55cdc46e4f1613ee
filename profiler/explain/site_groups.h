// Sums the bytes of blocks by call site. Internal to this folder.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/base/hash_map.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

class SiteGroups {
 public:
  explicit SiteGroups(const trace::Trace& trace) : trace_(trace) {}
  void Add(trace::AllocationId id, uint64_t bytes);
  std::vector<analysis::Group> Sorted() const;  // largest first

 private:
  struct Sum {
    trace::AllocationId example;
    uint64_t bytes = 0, count = 0;
  };
  const trace::Trace& trace_;
  base::HashMap<std::pair<uint64_t, uint64_t>, Sum> sums_;
};

}  // namespace vramscope::explain
