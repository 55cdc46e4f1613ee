// Compares a plan with a recording of the same run. Results: the errors by category and
// phase, the first difference between the two sequences of allocations, and the modelled and
// measured time of every kernel.
//
//   ASSIGN_OR_RETURN(Prediction p, HoldAgainst(*planned, *measured, std::nullopt));
//   Show(p.reserved.error(), p.first ? p.first->planned.text : "");
//
// Each trace must contain one device. Two plans or two recordings can be compared as well. Pure;
// thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/requests.h"

namespace vramscope::explain {

struct Prediction {
  struct Figures {
    uint64_t planned = 0, measured = 0;
    int64_t error() const { return static_cast<int64_t>(planned - measured); }
    // The error relative to the measured value, or nullopt if the measured value is 0.
    std::optional<double> relative() const;
  };
  Figures allocated, reserved;  // highest bytes in the step
  struct OfCategory {
    trace::Category category = trace::Category::kUnknown;
    Figures bytes;
  };
  std::vector<OfCategory> categories;  // bytes at the peak of each trace; greatest error first
  struct OfPhase {
    trace::Phase phase = trace::Phase::kNone;
    Figures allocated, reserved;  // highest bytes within the phase
  };
  std::vector<OfPhase> phases;  // phases of the step

  std::optional<int32_t> step;  // the compared step; nullopt: the whole traces
  analysis::RequestDiff requests;
  // The first difference between the two sequences of allocations and frees. A side is empty if the
  // allocation or free is missing in its sequence.
  struct Side {
    uint64_t index = 0;  // position in the sequence
    std::string text;    // "alloc #7 of 4096 B"
    std::string op, module;
    trace::Category category = trace::Category::kUnknown;
    trace::Phase phase = trace::Phase::kNone;
    std::vector<std::string> stack;  // innermost first
  };
  struct Difference {
    Side planned, measured;
  };
  std::optional<Difference> first;

  struct Kernel {
    std::string name;
    // The measured name if the kernel was matched by op and its measured name differs; else "". (In
    // plans, library kernels have names that vramscope gives them.)
    std::string measured_name;
    // If true, `name` is a class of library kernels, and the row is the sum of those kernels of the
    // class whose names occur on one side only.
    bool is_class = false;
    uint64_t planned_count = 0, measured_count = 0;
    int64_t planned_ns = 0, measured_ns = 0;
  };
  std::vector<Kernel> kernels;  // launched in the step; longest first
  // Every launch counts in exactly one class: matrix products, attention, convolutions, batch
  // norms, others.
  std::vector<Kernel> classes;  // longest first
  Kernel total;                 // all launches
  Kernel both;                  // matched by name
  Kernel by_class;              // matched by class
  Kernel by_op;                 // matched by op
};

// Compares `step`. If it is nullopt, compares the last step that is complete in both traces or,
// without steps, the whole traces. Returns kNotFound if a trace lacks the step.
absl::StatusOr<Prediction> HoldAgainst(const trace::Trace& planned, const trace::Trace& measured,
                                       std::optional<int32_t> step);

}  // namespace vramscope::explain
