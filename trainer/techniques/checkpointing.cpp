#include "trainer/techniques/checkpointing.h"

#include <torch/custom_class.h>
#include <torch/torch.h>

#include <algorithm>

#include "trainer/capture/scopes.h"
#include "trainer/models/parts.h"
#include "trainer/techniques/precision.h"
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// State of the random-number generators a segment draws from: CPU tensors, whatever the device.
struct RandomState {
  at::Tensor cpu, device;

  static RandomState Now(c10::Device device) {
    CategoryScope category(trace::Category::kAutogradDetail);
    RandomState state{Get(c10::Device(c10::kCPU)), {}};
    if (!device.is_cpu()) state.device = Get(device);
    return state;
  }
  void Restore(c10::Device where) const {
    Set(c10::Device(c10::kCPU), cpu);
    if (device.defined()) Set(where, device);
  }

 private:
  static at::Tensor Get(c10::Device device) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    std::lock_guard lock(generator.mutex());
    return generator.get_state();
  }
  static void Set(c10::Device device, const at::Tensor& state) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
};

// What a segment needs to run again; lives in its graph node.
struct Segment : torch::CustomClassHolder {
  std::vector<LayerFunction> layers;
  std::string path;
  CheckpointOptions options;
  RandomState random;
  std::optional<at::ScalarType> autocast;  // of the first run
  size_t slots = 0;
  std::vector<size_t> present, replaced;

  // `given`: those of what is carried that there are, which are at `present`. The new hidden state,
  // then those that a layer made or replaced, whose places it notes.
  variable_list Run(const at::Tensor& input, const variable_list& given) {
    Carried carried(slots);
    for (size_t i = 0; i < present.size(); ++i) carried[present[i]] = given[i];
    Carried now = carried;
    at::Tensor hidden = layers.front()(input, now);
    for (size_t i = 1; i < layers.size(); ++i) hidden = layers[i](hidden, now);
    variable_list out{std::move(hidden)};
    replaced.clear();
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i].is_same(carried[i])) continue;
      replaced.push_back(i);
      out.push_back(std::move(now[i]));
    }
    return out;
  }
};

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input,
                               at::TensorList carried, const c10::intrusive_ptr<Segment>& segment) {
    segment->random = RandomState::Now(segment->options.device);
    segment->autocast = AutocastScope::Current(segment->options.device.type());
    variable_list saved{input};
    saved.insert(saved.end(), carried.begin(), carried.end());
    context->save_for_backward(std::move(saved));
    context->saved_data["segment"] = c10::IValue::make_capsule(segment);
    return segment->Run(input, carried.vec());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto segment =
        c10::static_intrusive_pointer_cast<Segment>(context->saved_data["segment"].toCapsule());
    const CheckpointOptions& options = segment->options;
    variable_list inputs = context->get_saved_variables();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool differentiated = i == 0 || inputs[i].requires_grad();
      inputs[i] = inputs[i].detach();
      inputs[i].requires_grad_(differentiated);
    }
    variable_list outputs;
    {
      const RandomState now = RandomState::Now(options.device);
      segment->random.Restore(options.device);
      {
        at::AutoGradMode with_graph(true);
        AutocastScope autocast(options.device.type(), segment->autocast);
        ModuleScope scope(segment->path);
        outputs = segment->Run(inputs[0], {inputs.begin() + 1, inputs.end()});
      }
      now.Restore(options.device);
    }
    torch::autograd::backward(outputs, gradients);
    variable_list out;
    for (const at::Tensor& tensor : inputs) out.push_back(tensor.grad());
    out.emplace_back();
    return out;
  }
};

}  // namespace

LayerRunner MakeCheckpointRunner(const CheckpointOptions& options) {
  return [options](at::Tensor hidden, const std::vector<LayerFunction>& layers,
                   const std::string& path, Carried& carried) {
    const size_t size = std::max(options.layers_per_segment, 1);
    for (size_t begin = 0; begin < layers.size(); begin += size) {
      auto segment = c10::make_intrusive<Segment>();
      const size_t end = std::min(begin + size, layers.size());
      segment->layers.assign(layers.begin() + static_cast<ptrdiff_t>(begin),
                             layers.begin() + static_cast<ptrdiff_t>(end));
      segment->path = path;
      segment->options = options;
      segment->slots = carried.size();
      variable_list given;
      for (size_t i = 0; i < carried.size(); ++i) {
        if (!carried[i].defined()) continue;
        segment->present.push_back(i);
        given.push_back(carried[i]);
      }
      variable_list out = Checkpoint::apply(hidden, at::TensorList(given), segment);
      hidden = std::move(out.front());
      for (size_t i = 0; i < segment->replaced.size(); ++i) {
        carried[segment->replaced[i]] = std::move(out[i + 1]);
      }
    }
    return hidden;
  };
}

namespace {

class Checkpointing final : public Technique {
 public:
  // `alternate`: every second segment alone is checkpointed, the others run as they are.
  Checkpointing(int layers, bool alternate) : layers_(layers), alternate_(alternate) {}

  LayerRunner AroundLayers(const RunContext& run, Model& model, LayerRunner) override {
    // A frozen embedding's output would leave the segments without a gradient to pass on.
    model.inputs_require_grad = !model.Parameters().front()->trainable;
    LayerRunner all = MakeCheckpointRunner({.layers_per_segment = layers_, .device = run.device});
    if (!alternate_) return all;
    return [all](at::Tensor hidden, const std::vector<LayerFunction>& layers,
                 const std::string& path, Carried& carried) {
      for (size_t i = 0; i < layers.size(); ++i) {
        hidden = i % 2 == 0 ? all(std::move(hidden), {layers[i]}, path, carried)
                            : layers[i](hidden, carried);
      }
      return hidden;
    };
  }
  int layers_per_unit() const override { return alternate_ ? 2 : layers_; }

 private:
  int layers_;
  bool alternate_;
};

}  // namespace

namespace {

// The feed-forward part of every layer alone; attention keeps what it keeps.
class FeedForwardCheckpointing final : public Technique {
 public:
  void AfterSetUp(const RunContext& run, Model&, std::span<const at::Tensor>) override {
    LayerRunner checkpoint = MakeCheckpointRunner({.layers_per_segment = 1, .device = run.device});
    runner_ = [checkpoint](Part, const at::Tensor& input, const PartFunction& function) {
      // Re-entrant: without a gradient to pass on, its weights would get none either.
      if (!input.requires_grad() || !at::GradMode::is_enabled()) return function(input);
      const Recorder* recorder = Recorder::Current();
      Carried nothing;
      return checkpoint(input, {[function](const at::Tensor& x, Carried&) { return function(x); }},
                        recorder != nullptr ? recorder->CurrentModule() : "", nothing);
    };
  }
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    return std::make_unique<HeldRunner>(runner_);
  }
  void AfterRun() override { runner_ = nullptr; }

 private:
  class HeldRunner final : public Held {
   public:
    explicit HeldRunner(const PartRunner& runner) : scope_(&runner) {}

   private:
    PartRunnerScope scope_;
  };
  PartRunner runner_;
};

}  // namespace

TechniqueEntry DeclareTechnique_checkpointing() {
  return {
      .declaration =
          {.id = "checkpointing",
           .group = "Activations",
           .title = "Activation checkpointing",
           .explanation =
               "Only what enters a segment of layers is kept; backward runs the segment again, one "
               "forward more in time. The peak then often moves to the loss.",
           .settings = {{.key = "checkpointing.mode",
                         .help = "which activations are computed again in backward",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "none",
                         .choices = {{"none", ""},
                                     {"layer", ""},
                                     {"every-k", ""},
                                     {"alternate", "every second layer"},
                                     {"ffn", "the feed-forward part of each layer"}}},
                        {.key = "checkpointing.k",
                         .help = "layers in a checkpointed segment, for every-k",
                         .kind = run::ValueKind::kInteger,
                         .default_value = "2",
                         .low = 1,
                         .high = 4096,
                         .label = "layers"}},
           .toggles = {{.id = "checkpoint-layer",
                        .title = "Checkpoint every layer",
                        .explanation = "recompute layers in backward",
                        .on = {{"checkpointing.mode", true, {"layer"}}},
                        .ways = {{{"checkpointing.mode", "layer"}}}},
                       {.id = "checkpoint-k",
                        .title = "Checkpoint every k layers",
                        .explanation = "recompute segments in backward",
                        .on = {{"checkpointing.mode", true, {"every-k"}}},
                        .ways = {{{"checkpointing.mode", "every-k"}}},
                        .controls = {"checkpointing.k"}},
                       {.id = "checkpoint-alternate",
                        .title = "Checkpoint every 2nd layer",
                        .explanation = "half the recomputation, half the saving",
                        .on = {{"checkpointing.mode", true, {"alternate"}}},
                        .ways = {{{"checkpointing.mode", "alternate"}}}},
                       {.id = "checkpoint-ffn",
                        .title = "Checkpoint feed-forward parts",
                        .explanation = "attention keeps what it keeps",
                        .on = {{"checkpointing.mode", true, {"ffn"}}},
                        .ways = {{{"checkpointing.mode", "ffn"}}}}},
           .rules = {{.when = {{"checkpointing.mode", true, {"ffn"}},
                               {"model.family", false, {"llama", "gpt2", "vit"}}},
                      .why = "checkpointing.mode=ffn: {model} has no feed-forward part that is "
                             "known here; set checkpointing.mode=layer",
                      .instead = {{"checkpointing.mode", "layer"}}}},
           .implies = {"a model's KV cache is off"}},
      .order = 30,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        const std::string& mode = config.Get("checkpointing.mode");
        if (mode == "layer") return std::make_unique<Checkpointing>(1, false);
        if (mode == "ffn") return std::make_unique<FeedForwardCheckpointing>();
        if (mode == "alternate") return std::make_unique<Checkpointing>(1, true);
        if (mode == "every-k") {
          return std::make_unique<Checkpointing>(
              static_cast<int>(config.Integer("checkpointing.k")), false);
        }
        return nullptr;
      }};
}

}  // namespace vramscope::trainer
