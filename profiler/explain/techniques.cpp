#include "profiler/explain/techniques.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/layers.h"
#include "profiler/explain/site_names.h"
#include "profiler/replay/replay.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/units.h"

namespace vramscope::explain {
namespace {

using run::FormatBytes;
using trace::Category;
using trace::EventIndex;
using trace::Phase;

constexpr uint64_t kFp32 = 4;  // bytes per element, assumed because recordings lack types
constexpr uint64_t kQuantisedBlock = 256;       // elements that share one scale
constexpr uint64_t kFewestQuantised = 4096;     // elements; smaller tensors stay fp32
constexpr uint64_t kAdapterRank = 8;            // rank of LoRA
constexpr uint64_t kFewestAdapted = 64 * 1024;  // elements; smaller weights get no adapter
constexpr uint64_t kLossChunks = 8;

// Returns whether the operator's result has 16 bits under autocast. This is so if autocast runs the
// operator in 16 bits, if it is a norm or dropout, or if its inputs have 16 bits. Softmax and
// residual additions, for example, stay in fp32.
bool Is16BitUnderAutocast(std::string_view op) {
  for (const std::string_view name :
       {"mm", "matmul", "linear", "conv", "einsum", "scaled_dot_product", "layer_norm",
        "group_norm", "rms_norm", "dropout", "clone", "contiguous", "cat", "relu", "clamp_min",
        "gelu", "silu", "sigmoid"}) {
    if (op.find(name) != std::string_view::npos) return true;
  }
  return false;
}

// Returns whether the operator's results are not floating-point numbers.
bool IsOfIntegers(std::string_view op) {
  for (const std::string_view name : {"arange", "argmax", "argsort", "randint", "bernoulli"}) {
    if (op.find(name) != std::string_view::npos) return true;
  }
  const std::string_view base = op.substr(op.rfind(':') + 1);
  for (const std::string_view name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    if (base == name || (base.starts_with(name) && base.substr(name.size()).starts_with("_")))
      return true;
  }
  return false;
}

bool IsSoftmax(std::string_view name) {
  return name.find("softmax") != std::string_view::npos &&
         name.find("log_softmax") == std::string_view::npos;
}

class Finder {
 public:
  Finder(const trace::Trace& trace, const analysis::LiveSet& live, const OutOfMemory& oom)
      : trace_(trace),
        allocations_(trace.allocations),
        live_(live),
        oom_(oom),
        conf_(run::ParseAllocConf(replay::RecordedConf(trace)).value_or(run::AllocConf{})),
        phase_(oom.context.phase),
        request_op_(RequestOp()),
        batch_bound_(phase_ == Phase::kForward || phase_ == Phase::kLoss ||
                     phase_ == Phase::kBackward || phase_ == Phase::kEval ||
                     phase_ == Phase::kGeneration),
        request_is_state_(phase_ == Phase::kOptimizer &&
                          (request_op_.find("zeros") != std::string::npos ||
                           request_op_.find("_like") != std::string::npos)) {
    for (const analysis::LiveAllocation& l : live.allocations) {
      if (l.category == Category::kParameter)
        parameter_bytes_.insert(allocations_.bytes[l.id.value]);
    }
  }

  std::vector<Technique> All() {
    Batch();
    Checkpointing();
    HalfPrecision();
    Attention();
    Loss();
    OptimizerState();
    OptimizerTemporaries();
    Adapters();
    OldGradients();
    return std::move(out_);
  }

 private:
  // Returns the new size of a block. `category` is the block's category for most of its life.
  using NewBytes = std::function<uint64_t(uint32_t id, Category category)>;

  uint64_t Of(Category c) const { return oom_.by_category[static_cast<size_t>(c)]; }
  std::string_view Op(uint32_t id) const { return trace_.String(allocations_.op[id]); }
  std::string RequestOp() const {
    if (oom_.site.stack.value != 0) return SiteNames(trace_).Operator(oom_.site.stack);
    return oom_.context.op;
  }
  uint64_t Rounded(uint64_t bytes) const {
    return bytes == 0 ? 0 : allocator::CachingAllocator::RoundSize(bytes, conf_);
  }
  // Returns whether every forward and backward pass allocates the block again.
  bool OfAPass(uint32_t id, Category c) const {
    return c == Category::kActivation || c == Category::kInput || c == Category::kAutogradDetail ||
           (c == Category::kTemporary && allocations_.phase[id] != Phase::kOptimizer);
  }
  // Returns whether the block is a 16-bit copy of a weight that autocast makes in a forward pass.
  bool IsWeightCopy(uint32_t id) const {
    return Op(id).find("_to_copy") != std::string_view::npos &&
           parameter_bytes_.contains(2 * allocations_.bytes[id]);
  }

  // Adds a technique. If `every`, all blocks of the trace get new sizes, otherwise only those that
  // are live at the failure.
  void Add(std::string name, std::string formula, const NewBytes& bytes, uint64_t request,
           uint64_t extra, bool every = true) {
    Technique t{.name = std::move(name),
                .formula = std::move(formula),
                .bytes = {allocations_.bytes.begin(), allocations_.bytes.end()}};
    if (every) {
      for (uint32_t id = 0; id < allocations_.size(); ++id)
        t.bytes[id] = bytes(id, allocations_.main_category[id]);
    }
    uint64_t frees = Rounded(oom_.asked) - std::min(Rounded(oom_.asked), Rounded(request));
    for (const analysis::LiveAllocation& l : live_.allocations) {
      const uint32_t id = l.id.value;
      t.bytes[id] = bytes(id, l.category);
      if (t.bytes[id] == allocations_.bytes[id]) continue;
      frees += allocations_.bytes_rounded[id] -
               std::min(allocations_.bytes_rounded[id], Rounded(t.bytes[id]));
    }
    if (frees <= extra || frees == 0) return;
    t.request = request;
    t.extra = extra;
    t.frees = frees - extra;
    t.everywhere = every;
    out_.push_back(std::move(t));
  }
  std::string AndOf(bool request) const {
    return request ? i18n::Format(", and of the request of {}", FormatBytes(oom_.asked)) : "";
  }

  // Halves the batch. This halves activations, inputs and temporaries of a pass, but not copies of
  // weights. With two micro-batches, the gradients of the first are still live during the second,
  // so their bytes are added.
  void Batch() {
    uint64_t sum = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      const uint32_t id = l.id.value;
      if (OfAPass(id, l.category) && !IsWeightCopy(id)) sum += allocations_.bytes_rounded[id];
    }
    const NewBytes half = [this](uint32_t id, Category c) {
      return OfAPass(id, c) && !IsWeightCopy(id) ? (allocations_.bytes[id] + 1) / 2
                                                 : allocations_.bytes[id];
    };
    const uint64_t request = batch_bound_ ? (oom_.asked + 1) / 2 : oom_.asked;
    const std::string formula =
        i18n::Format("half of the live activations, inputs and temporaries ({}){}",
                     FormatBytes(sum), AndOf(batch_bound_));
    Add(i18n::Text("half the batch"), formula, half, request, 0);
    if (!batch_bound_ || phase_ == Phase::kEval || phase_ == Phase::kGeneration) return;
    const uint64_t gradients = Of(Category::kGradient), all = AllGradients();
    const uint64_t extra = all - std::min(all, gradients);
    Add(i18n::Text("two micro-batches (gradient accumulation)"),
        formula + (extra == 0
                       ? ""
                       : i18n::Format(", minus {} for the gradients of the first micro-batch, "
                                      "because these gradients stay allocated during the second",
                                      FormatBytes(extra))),
        half, request, extra);
  }

  // Returns the most bytes that gradients have at any time. If there is no optimizer state, returns
  // at least the bytes of the parameters.
  uint64_t AllGradients() const {
    const analysis::MemoryCurves curves = analysis::ComputeCurves(trace_);
    const auto& gradients = curves.category[static_cast<size_t>(Category::kGradient)];
    const uint64_t most =
        gradients.empty() ? 0 : *std::max_element(gradients.begin(), gradients.end());
    // Before the first optimizer step, there may have been no complete backward pass.
    return std::max(most, Of(Category::kOptimizerState) == 0 ? Of(Category::kParameter) : 0);
  }

  // Each layer keeps only its input, which is the first block that it allocates. Only the layer
  // that is being recomputed has all its blocks. It is assumed to be the largest layer.
  void Checkpointing() {
    const Layers layers = FindLayers(trace_, live_);
    if (layers.count < 2) return;
    uint64_t inside = 0;
    for (const uint64_t bytes : layers.bytes) inside += bytes;
    Add(
        i18n::Text("gradient checkpointing"),
        i18n::Format(
            "{} layers hold {} of the {} of live activations. With checkpointing, each layer "
            "would keep only the first block that it allocated. Only the largest layer "
            "({}) would keep all its blocks: it is assumed to be the layer that is being "
            "recomputed",
            layers.count, FormatBytes(inside), FormatBytes(Of(Category::kActivation)),
            FormatBytes(*std::max_element(layers.bytes.begin(), layers.bytes.end()))),
        [&](uint32_t id, Category) {
          return layers.recomputed.contains(id) ? 0 : allocations_.bytes[id];
        },
        oom_.asked, 0, false);
  }

  bool HalfPrecisionAlready() const {
    if (trace_.info.has_config) return !trace_.info.config.Is("precision", "fp32");
    return std::any_of(trace_.strings.begin(), trace_.strings.end(), [](const std::string& s) {
      return std::string_view(s).starts_with("at::autocast::");
    });
  }
  // Returns whether the block is a dropout mask. Dropout allocates the mask right after its result,
  // with one byte per element.
  bool IsMask(uint32_t id) const {
    return id > 0 && Op(id).find("dropout") != std::string_view::npos && Op(id - 1) == Op(id) &&
           allocations_.bytes[id] * kFp32 == allocations_.bytes[id - 1];
  }
  void HalfPrecision() {
    if (HalfPrecisionAlready()) return;
    const auto float_of_a_pass = [this](uint32_t id, Category c) {
      return c != Category::kInput && OfAPass(id, c) && !IsOfIntegers(Op(id)) && !IsMask(id);
    };
    const auto cast = [&](uint32_t id, Category c) {
      return float_of_a_pass(id, c) && Is16BitUnderAutocast(Op(id));
    };
    uint64_t sum = 0, sum_cast = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      const uint32_t id = l.id.value;
      if (float_of_a_pass(id, l.category)) sum += allocations_.bytes_rounded[id];
      if (cast(id, l.category)) sum_cast += allocations_.bytes_rounded[id];
    }
    const uint64_t half = (oom_.asked + 1) / 2;
    const uint64_t weights = Of(Category::kParameter);
    const bool request_cast = batch_bound_ && Is16BitUnderAutocast(request_op_);
    if (sum_cast > 0 || request_cast) {
      const std::string copies = weights == 0
                                     ? ""
                                     : i18n::Format(", minus {} for 16-bit copies of the weights",
                                                    FormatBytes(weights / 2));
      Add(
          i18n::Text("mixed precision (autocast to bf16)"),
          i18n::Format(
              "half of the live activations and temporaries that autocast would compute in "
              "16 bits ({}, assuming that they are fp32 now){}",
              FormatBytes(sum_cast), copies),
          [&](uint32_t id, Category c) {
            return cast(id, c) ? (allocations_.bytes[id] + 1) / 2 : allocations_.bytes[id];
          },
          request_cast ? half : oom_.asked, weights / 2);
    }
    if (weights == 0) return;
    const auto held = [](Category c) {
      return c == Category::kParameter || c == Category::kGradient ||
             c == Category::kOptimizerState;
    };
    Add(
        i18n::Text("weights in bf16"),
        i18n::Format(
            "half of the {}{} of parameters, gradients and optimizer state, if these tensors are "
            "fp32",
            sum == 0 ? std::string()
                     : i18n::Format("{} of live activations and temporaries, and of the ",
                                    FormatBytes(sum)),
            FormatBytes(weights + Of(Category::kGradient) + Of(Category::kOptimizerState))),
        [&](uint32_t id, Category c) {
          return held(c) || float_of_a_pass(id, c) ? (allocations_.bytes[id] + 1) / 2
                                                   : allocations_.bytes[id];
        },
        request_is_state_ || (batch_bound_ && !IsOfIntegers(request_op_)) ? half : oom_.asked, 0);
  }

  // Returns whether the block contains attention scores. These are results of operators and of the
  // program's functions whose names contain "softmax".
  bool OfSoftmax(uint32_t id) {
    if (IsSoftmax(Op(id))) return true;
    return OfSoftmax(trace_.events.StackOf(allocations_.alloc_event[id]));
  }
  bool OfSoftmax(trace::StackId stack) {
    const auto [it, fresh] = softmax_.try_emplace(stack.value, false);
    if (!fresh || stack.value == 0) return it->second;
    const SiteNames names(trace_);
    for (const uint32_t frame : trace_.stacks.Frames(stack)) {
      const SiteNames::Frame kind = names.KindOf(frame);
      if (kind != SiteNames::Frame::kProgram) continue;
      return it->second = IsSoftmax(trace_.String(trace_.stacks.function[frame]));
    }
    return it->second;
  }
  void Attention() {
    const auto goes = [this](uint32_t id, Category c) {
      return OfAPass(id, c) && allocations_.phase[id] != Phase::kLoss && OfSoftmax(id);
    };
    uint64_t sum = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      if (goes(l.id.value, l.category)) sum += allocations_.bytes_rounded[l.id.value];
    }
    const bool request =
        phase_ != Phase::kLoss && (IsSoftmax(request_op_) || OfSoftmax(oom_.site.stack));
    if (sum == 0 && !request) return;
    Add(
        i18n::Text("fused attention (flash or memory-efficient)"),
        i18n::Format("the {} of live softmax results{}", FormatBytes(sum),
                     request ? i18n::Text(" (the request is of the same kind)") : ""),
        [&](uint32_t id, Category c) { return goes(id, c) ? 0 : allocations_.bytes[id]; },
        request ? 0 : oom_.asked, 0);
  }

  // If the loss is computed in chunks, only one chunk at a time has the tensors that are made from
  // logits.
  void Loss() {
    const auto of_loss = [this](uint32_t id, Category c) {
      return OfAPass(id, c) && allocations_.bytes[id] >= uint64_t{1} << 20 &&
             (allocations_.phase[id] == Phase::kLoss ||
              Op(id).find("log_softmax") != std::string_view::npos);
    };
    uint64_t sum = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      if (of_loss(l.id.value, l.category)) sum += allocations_.bytes_rounded[l.id.value];
    }
    const bool request =
        oom_.asked >= uint64_t{1} << 20 &&
        (phase_ == Phase::kLoss || request_op_.find("log_softmax") != std::string::npos);
    if (sum == 0 && !request) return;
    Add(
        i18n::Format("loss in {} chunks", kLossChunks),
        sum == 0 ? i18n::Format("7/8 of the {} that the loss requested", FormatBytes(oom_.asked))
                 : i18n::Format("7/8 of the {} that the loss has allocated{}", FormatBytes(sum),
                                AndOf(request)),
        [&](uint32_t id, Category c) {
          return of_loss(id, c) ? allocations_.bytes[id] / kLossChunks : allocations_.bytes[id];
        },
        request ? oom_.asked / kLossChunks : oom_.asked, 0);
  }

  static uint64_t EightBit(uint64_t bytes) {
    const uint64_t n = bytes / kFp32;
    if (n < kFewestQuantised) return bytes;
    return n + kFp32 * ((n + kQuantisedBlock - 1) / kQuantisedBlock);
  }
  void OptimizerState() {
    const uint64_t state = Of(Category::kOptimizerState);
    if (state == 0 && !request_is_state_) return;
    const std::string of = i18n::Format(
        "the {} of optimizer state{}", FormatBytes(state),
        request_is_state_ ? i18n::Text(" (the failed request is for optimizer state, too)") : "");
    Add(
        i18n::Text("8-bit optimizer"),
        i18n::Format("1 byte per element plus 4 bytes per {} elements, instead of 4 bytes per "
                     "element, for {}",
                     kQuantisedBlock, of),
        [this](uint32_t id, Category c) {
          return c == Category::kOptimizerState ? EightBit(allocations_.bytes[id])
                                                : allocations_.bytes[id];
        },
        request_is_state_ ? EightBit(oom_.asked) : oom_.asked, 0);
    Add(
        i18n::Text("optimizer state on the CPU"), of,
        [this](uint32_t id, Category c) {
          return c == Category::kOptimizerState ? 0 : allocations_.bytes[id];
        },
        request_is_state_ ? 0 : oom_.asked, 0);
  }

  // Removes the optimizer's temporaries. A fused step has none. With foreach=False, at most two
  // exist at a time, each no larger than the largest parameter.
  void OptimizerTemporaries() {
    const auto goes = [this](uint32_t id, Category c) {
      return c == Category::kTemporary && allocations_.phase[id] == Phase::kOptimizer;
    };
    uint64_t sum = 0, largest = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      if (goes(l.id.value, l.category)) sum += allocations_.bytes_rounded[l.id.value];
      if (l.category == Category::kParameter)
        largest = std::max(largest, allocations_.bytes_rounded[l.id.value]);
    }
    const bool request = phase_ == Phase::kOptimizer && !request_is_state_;
    if (sum == 0 && !request) return;
    const NewBytes gone = [&](uint32_t id, Category c) {
      return goes(id, c) ? 0 : allocations_.bytes[id];
    };
    const std::string of =
        i18n::Format("the {} of live temporaries of the optimizer step{}", FormatBytes(sum),
                     request ? i18n::Text(" (the request is of the same kind)") : "");
    Add(i18n::Text("fused optimizer (fused=True)"), of, gone, request ? 0 : oom_.asked, 0);
    if (request_op_.find("_foreach_") == std::string::npos) return;
    Add(i18n::Text("optimizer without foreach (foreach=False)"),
        of + i18n::Format(", minus twice the largest parameter ({})", FormatBytes(largest)), gone,
        request ? 0 : oom_.asked, 2 * largest);
  }

  // Adds a LoRA adapter to every large weight. Weights are assumed to be square: the adapter is
  // then two matrices with rank x side elements.
  void Adapters() {
    const uint64_t gradients = Of(Category::kGradient), state = Of(Category::kOptimizerState);
    if (gradients + state == 0) return;
    uint64_t elements = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      const uint64_t n = allocations_.bytes[l.id.value] / kFp32;
      if (l.category != Category::kParameter || n < kFewestAdapted) continue;
      elements += 2 * kAdapterRank * static_cast<uint64_t>(std::sqrt(static_cast<double>(n)));
    }
    const uint64_t parameters = std::max<uint64_t>(Of(Category::kParameter), 1);
    // Adds the adapters, their gradients, and as much optimizer state per parameter as now.
    const auto extra =
        static_cast<uint64_t>(static_cast<double>(elements * kFp32) *
                              (2 + static_cast<double>(state) / static_cast<double>(parameters)));
    Add(
        i18n::Text("LoRA"),
        i18n::Format("the {} of gradients and optimizer state, minus {} for adapters of rank {}",
                     FormatBytes(gradients + state), FormatBytes(extra), kAdapterRank),
        [this](uint32_t id, Category c) {
          return c == Category::kGradient || c == Category::kOptimizerState
                     ? 0
                     : allocations_.bytes[id];
        },
        request_is_state_ ? 0 : oom_.asked, extra);
  }

  // Frees the gradients of the previous step, which the forward pass does not need.
  void OldGradients() {
    if (phase_ != Phase::kForward && phase_ != Phase::kLoss) return;
    const trace::SliceTable& s = trace_.slices;
    EventIndex begin = 0;
    for (uint32_t i = 0; i < s.size() && s.begin_event[i] <= oom_.event; ++i) {
      if (s.kind[i] == trace::SliceKind::kStep) begin = s.begin_event[i];
    }
    base::HashSet<uint32_t> old;
    uint64_t sum = 0;
    for (const analysis::LiveAllocation& l : live_.allocations) {
      if (l.category != Category::kGradient || allocations_.alloc_event[l.id.value] >= begin)
        continue;
      old.insert(l.id.value);
      sum += allocations_.bytes_rounded[l.id.value];
    }
    if (old.empty()) return;
    Add(
        i18n::Text("zero_grad(set_to_none=True) before the forward"),
        i18n::Format("the {} of gradients that were allocated before the step", FormatBytes(sum)),
        [&](uint32_t id, Category) { return old.contains(id) ? 0 : allocations_.bytes[id]; },
        oom_.asked, 0, false);
  }

  const trace::Trace& trace_;
  const trace::AllocationTable& allocations_;
  const analysis::LiveSet& live_;
  const OutOfMemory& oom_;
  const run::AllocConf conf_;
  const Phase phase_;
  const std::string request_op_;
  const bool batch_bound_;  // the request is proportional to the batch
  const bool request_is_state_;
  base::HashSet<uint64_t> parameter_bytes_;
  base::HashMap<uint32_t, bool> softmax_;  // keyed by stack
  std::vector<Technique> out_;
};

}  // namespace

std::vector<Technique> TechniquesFor(const trace::Trace& trace, const analysis::LiveSet& live,
                                     const OutOfMemory& oom) {
  return Finder(trace, live, oom).All();
}

}  // namespace vramscope::explain
