#include "trainer/techniques/checkpointing.h"

#include <torch/custom_class.h>
#include <torch/torch.h>

#include <algorithm>

#include "trainer/capture/scopes.h"
#include "trainer/techniques/precision.h"

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

  at::Tensor Run(const at::Tensor& input) const {
    at::Tensor hidden = layers.front()(input);
    for (size_t i = 1; i < layers.size(); ++i) hidden = layers[i](hidden);
    return hidden;
  }
};

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const c10::intrusive_ptr<Segment>& segment) {
    segment->random = RandomState::Now(segment->options.device);
    context->save_for_backward({input});
    context->saved_data["segment"] = c10::IValue::make_capsule(segment);
    return segment->Run(input);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto segment =
        c10::static_intrusive_pointer_cast<Segment>(context->saved_data["segment"].toCapsule());
    const CheckpointOptions& options = segment->options;
    at::Tensor input = context->get_saved_variables()[0].detach();
    input.requires_grad_(true);
    at::Tensor output;
    {
      const RandomState now = RandomState::Now(options.device);
      segment->random.Restore(options.device);
      {
        at::AutoGradMode with_graph(true);
        AutocastScope autocast(options.device.type(), options.autocast);
        ModuleScope scope(segment->path);
        output = segment->Run(input);
      }
      now.Restore(options.device);
    }
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), at::Tensor()};
  }
};

}  // namespace

LayerRunner MakeCheckpointRunner(const CheckpointOptions& options) {
  return [options](at::Tensor hidden, const std::vector<LayerFunction>& layers,
                   const std::string& path) {
    const size_t size = std::max(options.layers_per_segment, 1);
    for (size_t begin = 0; begin < layers.size(); begin += size) {
      auto segment = c10::make_intrusive<Segment>();
      const size_t end = std::min(begin + size, layers.size());
      segment->layers.assign(layers.begin() + static_cast<ptrdiff_t>(begin),
                             layers.begin() + static_cast<ptrdiff_t>(end));
      segment->path = path;
      segment->options = options;
      hidden = Checkpoint::apply(hidden, segment);
    }
    return hidden;
  };
}

}  // namespace vramscope::trainer
