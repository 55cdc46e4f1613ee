// The figures of a plan, as named numbers. The expressions of an experiment use them.
//
//   const Quantities q = QuantitiesOf(trace);
//   q.Of("peak_allocated");
//
// Pure functions; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::reproduce {

struct Quantity {
  std::string name;
  double value = 0;
};
struct Quantities {
  std::vector<Quantity> all;
  std::optional<double> Of(std::string_view name) const;
};

// A quantity's name and meaning. Quantities are in bytes unless the meaning states otherwise.
struct QuantityInfo {
  std::string_view name, what;
};
const std::vector<QuantityInfo>& KnownQuantities();

// Requires a trace of one device. Leaves out quantities for which the trace lacks data, such as
// times or an optimizer phase.
Quantities QuantitiesOf(const trace::Trace& trace);

}  // namespace vramscope::reproduce
