// What a plan says of a run, as named numbers: the terms of an experiment's expressions.
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

// Names and what they mean; bytes where nothing else is said.
struct QuantityInfo {
  std::string_view name, what;
};
const std::vector<QuantityInfo>& KnownQuantities();

// Of one device's trace. What the trace does not tell (no times, no optimizer phase) is left out.
Quantities QuantitiesOf(const trace::Trace& trace);

}  // namespace vramscope::reproduce
