#include "profiler/reproduce/quantities.h"

#include <algorithm>
#include <array>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/step_time.h"
#include "profiler/estimate/planned.h"

namespace vramscope::reproduce {
namespace {

using analysis::MemoryCurves;
using estimate::Planned;
using trace::Category;
using trace::Phase;

class QuantityReader {
 public:
  explicit QuantityReader(const trace::Trace& trace)
      : trace_(trace), curves_(analysis::ComputeCurves(trace)) {}

  Quantities Read() {
    const analysis::Summary summary = analysis::Summarize(trace_, curves_);
    Add("before_allocated", summary.before_training.allocated);
    Add("before_reserved", summary.before_training.reserved);
    Add("after_allocated", summary.after_training.allocated);
    Add("after_reserved", summary.after_training.reserved);
    Add("peak_allocated", summary.peak.allocated);
    Add("peak_reserved", summary.peak.reserved);
    Add("device_used", summary.most_used.sum() + trace_.info.device.context_bytes);
    Add("out_of_memory", summary.out_of_memory ? 1 : 0);
    Add("parameter_count", trace_.info.model.parameter_count);
    Add("trainable_count", trace_.info.model.trainable_count);
    Add("peak_in_backward", summary.peak.context.phase == Phase::kBackward ? 1 : 0);
    Add("peak_in_optimizer", summary.peak.context.phase == Phase::kOptimizer ? 1 : 0);
    Add("peak_in_forward", summary.peak.context.phase == Phase::kForward ? 1 : 0);
    Add("alloc_events", trace_.allocations.size());
    if (trace_.info.has_config) Add("samples_per_step", trace_.info.config.batch);
    if (trace_.info.has_times) Add("sampled_peak", SampledPeak());
    const auto& activations = curves_.category[static_cast<size_t>(Category::kActivation)];
    if (!activations.empty()) Add("activations", *std::ranges::max_element(activations));
    const estimate::PlannedFigures figures = estimate::FiguresOf(trace_);
    AddPlanned("parameters", figures.Of(Planned::kParameters));
    AddPlanned("gradients", figures.Of(Planned::kGradients));
    AddPlanned("optimizer_state", figures.Of(Planned::kOptimizerState));
    AddPhases();
    if (trace_.info.has_times && !summary.steps.empty()) {
      const analysis::StepRow& step = summary.steps.back();
      Add("forward_ms", step.forward_ms);
      Add("backward_ms", step.backward_ms);
      Add("optimizer_ms", step.optimizer_ms);
      Add("step_ms", analysis::LastStepMs(trace_, summary.steps));
    }
    return std::move(out_);
  }

 private:
  template <class Number>
  void Add(std::string name, Number value) {
    out_.all.push_back({std::move(name), static_cast<double>(value)});
  }
  void AddPlanned(std::string name, std::optional<uint64_t> value) {
    if (value.has_value()) Add(std::move(name), *value);
  }

  // Returns the peak that a monitor sees if it reads the allocated bytes once a second, beginning
  // with the first step.
  uint64_t SampledPeak() const {
    constexpr int64_t kSecond = 1'000'000'000;
    uint64_t highest = 0;
    int64_t next = 0;
    for (uint32_t row = 0; row < trace_.slices.size(); ++row) {
      if (trace_.slices.kind[row] != trace::SliceKind::kStep) continue;
      next = trace_.slices.begin_ns[row];
      break;
    }
    for (size_t point = 0; point < curves_.size(); ++point) {
      // The curve is constant between its points: a sample has the value of the point before.
      while (next < curves_.time_ns[point]) {
        if (point > 0) highest = std::max(highest, curves_.allocated[point - 1]);
        next += kSecond;
      }
    }
    return highest;
  }

  // Adds the peak of each phase of the first and last step, and the bytes live at the phase's end.
  void AddPhases() {
    const trace::SliceTable& slices = trace_.slices;
    int32_t last = -1;
    for (int32_t step : slices.step) last = std::max(last, step);
    if (last < 0) return;
    struct OfPhase {
      uint64_t highest = 0, at_end = 0;
      bool seen = false;
    };
    std::array<OfPhase, trace::kPhaseCount> first{}, latest{};
    uint64_t kept = 0, with_loss = 0, forward_began = 0, resident = 0, micro_batches = 0;
    for (uint32_t row = 0; row < slices.size(); ++row) {
      if (slices.kind[row] == trace::SliceKind::kMicroBatch && slices.step[row] == last)
        ++micro_batches;
    }
    Add("micro_batches", std::max<uint64_t>(1, micro_batches));
    bool any_forward = false;
    for (uint32_t row = 0; row < slices.size(); ++row) {
      if (slices.kind[row] != trace::SliceKind::kPhase) continue;
      const std::optional<size_t> begin = analysis::PointAt(curves_, slices.begin_event[row]);
      const std::optional<size_t> end = analysis::PointAt(
          curves_, slices.end_event[row] == trace::kNoEvent ? trace_.events.size() - 1
                                                            : slices.end_event[row]);
      if (!begin.has_value() || !end.has_value()) continue;
      const size_t phase = static_cast<size_t>(slices.phase(row));
      const uint64_t highest =
          *std::max_element(curves_.allocated.begin() + static_cast<int64_t>(*begin),
                            curves_.allocated.begin() + static_cast<int64_t>(*end) + 1);
      for (const auto& [step, table] : {std::pair{int32_t{0}, &first}, {last, &latest}}) {
        if (slices.step[row] != step) continue;
        OfPhase& of = (*table)[phase];
        of.highest = std::max(of.highest, highest);
        of.at_end = curves_.allocated[*end];
        of.seen = true;
      }
      if (slices.step[row] == last && slices.phase(row) == Phase::kForward) {
        if (!any_forward) resident = curves_.allocated[*begin];
        any_forward = true;
        const uint64_t before = curves_.requested[*begin], after = curves_.requested[*end];
        kept = std::max(kept, after > before ? after - before : 0);
        forward_began = before;
      }
      if (slices.step[row] == last && slices.phase(row) == Phase::kLoss && any_forward) {
        const uint64_t after =
            *std::max_element(curves_.requested.begin() + static_cast<int64_t>(*begin),
                              curves_.requested.begin() + static_cast<int64_t>(*end) + 1);
        with_loss = std::max(with_loss, after > forward_began ? after - forward_began : 0);
      }
      if (slices.phase(row) == Phase::kEval) {
        eval_more_ = std::max(eval_more_.value_or(0), highest - curves_.allocated[*begin]);
      }
    }
    const std::pair<Phase, const char*> named[] = {{Phase::kForward, "forward"},
                                                   {Phase::kBackward, "backward"},
                                                   {Phase::kOptimizer, "optimizer"}};
    for (const auto& [phase, name] : named) {
      const OfPhase& late = latest[static_cast<size_t>(phase)];
      const OfPhase& early = first[static_cast<size_t>(phase)];
      if (late.seen) Add(std::string(name) + "_peak", late.highest);
      if (early.seen) Add(std::string("first_after_") + name, early.at_end);
    }
    if (any_forward) {
      Add("kept", kept);
      Add("kept_with_loss", std::max(kept, with_loss));
      Add("resident", resident);
    }
    AddPlanned("eval_more", eval_more_);
  }

  const trace::Trace& trace_;
  const MemoryCurves curves_;
  Quantities out_;
  std::optional<uint64_t> eval_more_;
};

}  // namespace

std::optional<double> Quantities::Of(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &Quantity::name);
  return found == all.end() ? std::nullopt : std::optional(found->value);
}

Quantities QuantitiesOf(const trace::Trace& trace) { return QuantityReader(trace).Read(); }

const std::vector<QuantityInfo>& KnownQuantities() {
  static const std::vector<QuantityInfo>* all = new std::vector<QuantityInfo>{
      {"before_allocated", "allocated before training, weights loaded"},
      {"before_reserved", "reserved then"},
      {"after_allocated", "allocated after training"},
      {"after_reserved", "reserved then"},
      {"peak_allocated", "highest allocated"},
      {"peak_reserved", "highest reserved"},
      {"device_used", "highest reserved and the CUDA context"},
      {"out_of_memory", "1 if the GPU was too small, else 0"},
      {"parameter_count", "parameters"},
      {"trainable_count", "parameters that train"},
      {"peak_in_forward", "1 if the peak was in forward, else 0"},
      {"peak_in_backward", "likewise"},
      {"peak_in_optimizer", "likewise"},
      {"alloc_events", "requests of the whole run"},
      {"samples_per_step", "samples that an optimizer step sees"},
      {"micro_batches", "of the last step"},
      {"sampled_peak", "highest allocated, read once per second"},
      {"activations", "highest of the category Activation"},
      {"parameters", "requested"},
      {"gradients", "requested, before the last optimizer step"},
      {"optimizer_state", "requested, after the last optimizer step"},
      {"forward_ms", "of the last step, loss included"},
      {"backward_ms", "of the last step"},
      {"optimizer_ms", "of the last step"},
      {"step_ms", "of the last step"},
      {"forward_peak", "highest allocated in the last step's forward"},
      {"backward_peak", "likewise"},
      {"optimizer_peak", "likewise"},
      {"first_after_forward", "allocated where the first step's forward ends"},
      {"first_after_backward", "likewise"},
      {"first_after_optimizer", "likewise"},
      {"kept", "requested in a forward pass of the last step and live when the pass ends"},
      {"kept_with_loss", "\"kept\" plus the loss, while the logits are live"},
      {"resident", "allocated where the last step's first forward begins"},
      {"eval_more", "highest allocated in evaluation, minus the bytes at its beginning"},
  };
  return *all;
}

}  // namespace vramscope::reproduce
