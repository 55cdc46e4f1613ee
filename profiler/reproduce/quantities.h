// Figures of a plan as named numbers: the terms of an experiment's expressions.
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

// A name and its meaning; in bytes unless stated otherwise.
struct QuantityInfo {
  std::string_view name, what;
};
const std::vector<QuantityInfo>& KnownQuantities();

// From a trace of one device. Quantities that the trace does not contain (no times, no optimizer
// phase) are left out.
Quantities QuantitiesOf(const trace::Trace& trace);

}  // namespace vramscope::reproduce
