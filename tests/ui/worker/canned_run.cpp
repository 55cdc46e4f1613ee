#include "tests/ui/worker/canned_run.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::testing {
namespace {

using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

constexpr int kLayers = 24;
constexpr uint64_t kHidden = 896, kInner = 4864, kVocabulary = 151936, kHeads = 14;

struct Tensor {
  uint64_t id = 0, address = 0;
};

class Emitter : public allocator::SegmentObserver {
 public:
  Emitter(const run::RunConfig& config, trace::EventSink& sink, uint64_t device_memory)
      : config_(config),
        sink_(sink),
        allocator_({.device_memory_bytes = device_memory, .grant_over_limit = true}, this) {
    Intern("");
  }

  void Run(const CannedHooks& hooks) {
    Push({.kind = EventKind::kMarker, .name = Intern("training_begin")}, 0);
    PhaseOf(Phase::kSetup, [&] { Setup(); });
    for (int step = 0; step < config_.steps; ++step) {
      if (hooks.before_step) {
        Flush();
        if (!hooks.before_step(step)) return;
      }
      Push({.kind = EventKind::kStepBegin, .id = static_cast<uint64_t>(step)}, 0);
      for (int micro = 0; micro < config_.micro_batches; ++micro) {
        Push({.kind = EventKind::kMicroBatchBegin, .id = static_cast<uint64_t>(micro)}, 0);
        Pass();
        Push({.kind = EventKind::kMicroBatchEnd}, 0);
      }
      PhaseOf(Phase::kOptimizer, [&] { OptimizerStep(); });
      Push({.kind = EventKind::kStepEnd}, 0);
    }
    Push({.kind = EventKind::kMarker, .name = Intern("training_end")}, 0);
    Flush();
  }

  void OnSegmentAlloc(const allocator::Segment& s) override {
    segment_ids_[s.address] = next_segment_;
    Push({.kind = EventKind::kSegmentAlloc,
          .pool = s.pool,
          .id = next_segment_++,
          .address = s.address,
          .bytes = s.bytes},
         0);
  }
  void OnSegmentFree(const allocator::Segment& s) override {
    Push({.kind = EventKind::kSegmentFree, .id = segment_ids_[s.address]}, 0);
  }
  void OnOutOfMemory(uint64_t asked, uint64_t free) override {
    Push({.kind = EventKind::kOutOfMemory, .bytes = asked, .bytes_rounded = free}, 0);
  }

 private:
  bool Half() const { return config_.Is("precision", "bf16") || config_.Is("precision", "fp16"); }
  uint64_t WeightBytes() const { return Half() ? 2 : 4; }
  uint64_t ComputeBytes() const { return config_.Is("precision", "fp32") ? 4 : 2; }
  bool Trains(int layer) const {
    if (config_.Integer("lora.rank") > 0) return false;
    if (config_.Is("trainable", "first-layer")) return layer == 0;
    if (config_.Is("trainable", "last-layer")) return layer == kLayers - 1;
    return true;
  }

  void Push(Event e, int64_t advance_ns) {
    now_ += advance_ns;
    e.time_ns = now_;
    events_.push_back(e);
    if (events_.size() >= 4096) Flush();
  }
  void Flush() {
    if (sent_strings_ < strings_.size()) {
      sink_.Strings(static_cast<uint32_t>(sent_strings_),
                    std::span(strings_).subspan(sent_strings_));
      sent_strings_ = strings_.size();
    }
    sink_.Events(events_);
    events_.clear();
  }
  trace::StringId Intern(const std::string& text) {
    auto [at, added] = string_ids_.try_emplace(text, static_cast<uint32_t>(strings_.size()));
    if (added) strings_.push_back(text);
    return trace::StringId{at->second};
  }
  template <class Body>
  void PhaseOf(Phase phase, Body body) {
    Push({.kind = EventKind::kPhaseBegin, .detail = static_cast<uint8_t>(phase)}, 0);
    body();
    Push({.kind = EventKind::kPhaseEnd}, 0);
  }
  template <class Body>
  void Module(const std::string& path, Body body) {
    const std::string outer = std::exchange(module_, path);
    Push({.kind = EventKind::kModuleBegin, .name = Intern(path)}, 0);
    body();
    Push({.kind = EventKind::kModuleEnd}, 0);
    module_ = outer;
  }
  template <class Body>
  void Op(const std::string& name, int64_t ns, Body body) {
    const std::string outer = std::exchange(op_, name);
    Push({.kind = EventKind::kOpBegin, .name = Intern(name), .module = Intern(module_)}, 0);
    body();
    Push({.kind = EventKind::kOpEnd}, ns);
    op_ = outer;
  }
  Tensor Make(uint64_t bytes, Category category) {
    const allocator::Block block = allocator_.Malloc(bytes, 0).value();
    Push({.kind = EventKind::kAlloc,
          .category = category,
          .pool = block.pool,
          .name = Intern(op_),
          .module = Intern(module_),
          .id = next_allocation_,
          .address = block.address,
          .bytes = bytes,
          .bytes_rounded = block.bytes_rounded},
         0);
    return {next_allocation_++, block.address};
  }
  void Drop(const Tensor& tensor) {
    Push({.kind = EventKind::kFreeRequested, .id = tensor.id}, 0);
    Push({.kind = EventKind::kFreeCompleted, .id = tensor.id}, 0);
    (void)allocator_.Free(tensor.address);
  }
  void Retag(const Tensor& tensor, Category category, const char* why) {
    Push({.kind = EventKind::kRetag, .category = category, .name = Intern(why), .id = tensor.id},
         0);
  }

  std::string Layer(int i) const { return fmt::format("model.layers.{}", i); }
  std::vector<uint64_t> LayerWeights() const {
    return {kHidden * kHidden, kHidden * 128,    kHidden * 128,   kHidden * kHidden,
            kHidden * kInner,  kHidden * kInner, kHidden * kInner};
  }

  void Setup() {
    const std::vector<uint64_t> weights = LayerWeights();
    Module("model.embed_tokens", [&] {
      Op("aten::to", 1000,
         [&] { Make(kVocabulary * kHidden * WeightBytes(), Category::kParameter); });
    });
    for (int i = 0; i < kLayers; ++i) {
      Module(Layer(i), [&] {
        for (uint64_t w : weights)
          Op("aten::to", 1000, [&] { Make(w * WeightBytes(), Category::kParameter); });
        if (config_.Integer("lora.rank") > 0)
          Op("aten::to", 1000, [&] {
            Make(2 * kHidden * static_cast<uint64_t>(config_.Integer("lora.rank")) * 4,
                 Category::kParameter);
          });
      });
    }
  }

  void Pass() {
    const uint64_t tokens =
        static_cast<uint64_t>(config_.batch) * static_cast<uint64_t>(config_.seq);
    const uint64_t size = ComputeBytes();
    const int64_t layer_ns = 1'500'000 * static_cast<int64_t>(size) / 4;
    const bool checkpointing = !config_.Is("checkpointing.mode", "none");
    std::vector<std::vector<Tensor>> saved(kLayers);
    auto forward_layer = [&](int i, bool keep) {
      std::vector<Tensor> out;
      Module(Layer(i), [&] {
        Module(Layer(i) + ".self_attn", [&] {
          for (const char* op : {"aten::linear", "aten::mul", "aten::add"})
            Op(op, layer_ns / 8,
               [&] { out.push_back(Make(tokens * kHidden * size, Category::kTemporary)); });
          if (config_.Is("attention", "eager"))
            for (const char* op : {"aten::matmul", "aten::softmax"})
              Op(op, layer_ns / 8, [&] {
                out.push_back(Make(tokens * static_cast<uint64_t>(config_.seq) * kHeads * size,
                                   Category::kTemporary));
              });
        });
        Module(Layer(i) + ".mlp", [&] {
          for (const char* op : {"aten::linear", "aten::silu", "aten::mul"})
            Op(op, layer_ns / 6,
               [&] { out.push_back(Make(tokens * kInner * size, Category::kTemporary)); });
        });
      });
      for (const Tensor& t : out) {
        if (keep)
          Retag(t, Category::kActivation, "saved for backward");
        else
          Drop(t);
      }
      return keep ? out : std::vector<Tensor>{};
    };
    std::vector<Tensor> logits;
    PhaseOf(Phase::kForward, [&] {
      for (int i = 0; i < kLayers; ++i) {
        saved[i] = forward_layer(i, !checkpointing);
        if (checkpointing)
          Module(Layer(i), [&] {
            Op("aten::add", 100,
               [&] { saved[i].push_back(Make(tokens * kHidden * size, Category::kActivation)); });
          });
      }
      Module("lm_head", [&] {
        Op("aten::linear", layer_ns,
           [&] { logits.push_back(Make(tokens * kVocabulary * size, Category::kActivation)); });
      });
    });
    PhaseOf(Phase::kLoss, [&] {
      for (const char* op : {"aten::to", "aten::log_softmax"})
        Op(op, layer_ns / 2,
           [&] { logits.push_back(Make(tokens * kVocabulary * 4, Category::kActivation)); });
    });
    PhaseOf(Phase::kBackward, [&] {
      Op("LogSoftmaxBackward0", layer_ns, [&] {
        const Tensor grad = Make(tokens * kVocabulary * 4, Category::kTemporary);
        for (const Tensor& t : logits) Drop(t);
        Drop(grad);
      });
      for (int i = kLayers - 1; i >= 0; --i) {
        if (checkpointing) {
          std::vector<Tensor> again = forward_layer(i, true);
          saved[i].insert(saved[i].end(), again.begin(), again.end());
        }
        Module(Layer(i), [&] {
          Op("MmBackward0", layer_ns * 2, [&] {
            const Tensor grad = Make(tokens * kInner * size, Category::kTemporary);
            for (const Tensor& t : saved[i]) Drop(t);
            if (Trains(i) && grads_.count(i) == 0)
              for (uint64_t w : LayerWeights())
                grads_[i].push_back(Make(w * WeightBytes(), Category::kGradient));
            Drop(grad);
          });
        });
      }
      if (Trains(1) && grads_.count(-1) == 0)
        Op("EmbeddingBackward0", layer_ns, [&] {
          grads_[-1].push_back(Make(kVocabulary * kHidden * WeightBytes(), Category::kGradient));
        });
    });
  }

  void OptimizerStep() {
    const bool states = !config_.Is("optimizer.name", "sgd");
    Module("optimizer", [&] {
      for (auto& [layer, tensors] : grads_) {
        if (states && made_states_.insert({layer, true}).second) {
          Op("aten::zeros_like", 50'000, [&] {
            for (int k = 0; k < 2; ++k) {
              if (layer < 0) {
                Make(kVocabulary * kHidden * WeightBytes(), Category::kOptimizerState);
              } else {
                for (uint64_t w : LayerWeights())
                  Make(w * WeightBytes(), Category::kOptimizerState);
              }
            }
          });
        }
        Op("aten::_foreach_add_", 400'000, [&] {
          if (!config_.Is("optimizer.impl", "fused"))
            Drop(Make(kHidden * kInner * WeightBytes(), Category::kTemporary));
        });
      }
    });
    if (config_.Is("zero_grad", "none")) {
      PhaseOf(Phase::kZeroGrad, [&] {
        for (auto& [layer, tensors] : grads_)
          for (const Tensor& t : tensors) Drop(t);
        grads_.clear();
      });
    }
  }

  const run::RunConfig& config_;
  trace::EventSink& sink_;
  std::vector<Event> events_;
  std::vector<std::string> strings_;
  std::map<std::string, uint32_t> string_ids_;
  size_t sent_strings_ = 0;
  int64_t now_ = 0;
  uint64_t next_allocation_ = 0, next_segment_ = 0;
  std::string module_, op_;
  std::map<uint64_t, uint64_t> segment_ids_;
  std::map<int, std::vector<Tensor>> grads_;
  std::map<int, bool> made_states_;
  allocator::CachingAllocator allocator_;
};

}  // namespace

void EmitCannedRun(const run::RunConfig& config, trace::EventSink& sink, const CannedHooks& hooks) {
  trace::TraceInfo info;
  info.producer = "fake_worker";
  info.title = config.model;
  info.has_config = true;
  info.config = config;
  info.backend = static_cast<trace::Backend>(config.backend);
  info.measured = config.backend != run::Backend::kPlan;
  info.device = run::ResolveDevice(config).value_or(run::DeviceProfile{});
  const uint64_t layer = 3 * kHidden * kInner + 2 * kHidden * kHidden + 2 * kHidden * 128;
  info.model = {.name = config.model,
                .parameter_count = kVocabulary * kHidden + kLayers * layer,
                .trainable_count = kVocabulary * kHidden + kLayers * layer,
                .parameter_bytes = 4 * (kVocabulary * kHidden + kLayers * layer),
                .layers = kLayers};
  sink.Begin(info);
  Emitter(config, sink, info.device.memory_bytes).Run(hooks);
}

}  // namespace vramscope::testing
