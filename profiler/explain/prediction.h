// A plan held against a recording of the same run: how far its figures are off, by category and by
// phase; where the two streams of requests first part, with op, module and stack; and the time of
// every kernel, modelled beside measured.
//
//   ASSIGN_OR_RETURN(Prediction p, HoldAgainst(*planned, *measured, std::nullopt));
//   Show(p.reserved.error(), p.first ? p.first->planned.text : "");
//
// Traces of one device each. Nothing here asks which of the two was measured: two plans, two
// recordings are compared as well. Pure; thread-safe.
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
    // Of what was measured; nothing where that is 0.
    std::optional<double> relative() const;
  };
  Figures allocated, reserved;  // highest, of the step
  struct OfCategory {
    trace::Category category = trace::Category::kUnknown;
    Figures bytes;
  };
  std::vector<OfCategory> categories;  // at each one's peak; greatest error first
  struct OfPhase {
    trace::Phase phase = trace::Phase::kNone;
    Figures allocated, reserved;  // highest within it
  };
  std::vector<OfPhase> phases;  // of the step

  std::optional<int32_t> step;  // that was compared; nothing: all of both
  analysis::RequestDiff requests;
  // Where the streams first part. A side is empty where the other has a request that it lacks.
  struct Side {
    uint64_t index = 0;  // in its stream
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
    // The planned one has another name (a library's kernel is modelled under one of our own): the
    // two are the same by their op and their order in it. "": one name, or one side alone.
    std::string measured_name;
    bool is_class = false;  // `name` is a class of libraries' kernels, of which no name is on both
    uint64_t planned_count = 0, measured_count = 0;
    int64_t planned_ns = 0, measured_ns = 0;
  };
  std::vector<Kernel> kernels;  // of the step's launches; those that took longest first
  // All launches, each in one: matrix products, attention, convolutions, batch norms, others.
  std::vector<Kernel> classes;  // likewise
  Kernel total;                 // of all
  Kernel both;                  // of those whose name both have
  Kernel by_class;              // of classes that both have, their names of one side alone
  Kernel by_op;                 // of those that have two names
};

// `step`: that one of both; nothing: the last whole one that both have, of traces without steps all
// of them. kNotFound: one of them lacks it.
absl::StatusOr<Prediction> HoldAgainst(const trace::Trace& planned, const trace::Trace& measured,
                                       std::optional<int32_t> step);

}  // namespace vramscope::explain
