#include "trainer/techniques/recompute/reentrant.h"

#include <torch/autograd.h>
#include <torch/custom_class.h>
#include <torch/types.h>

#include <algorithm>

#include "trainer/capture/scopes.h"
#include "trainer/techniques/precision.h"
#include "trainer/techniques/recompute/random_state.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What a segment needs to run again. Its graph node owns this object.
struct Segment : torch::CustomClassHolder {
  std::vector<LayerFunction> layers;
  std::string path;
  CheckpointOptions options;
  RandomState random;
  std::optional<AutocastState> autocast;  // autocast's state in the first run
  size_t slots = 0;
  std::vector<size_t> present, replaced;
  // The carried tensors that the node does not save; an element is undefined if the node saves it
  // or the caller gave none.
  Carried closed_over;

  // Runs the layers. `given`: the carried tensors that the node saves; `present` has their indexes.
  // Returns the new hidden state, then the carried tensors that the layers replaced, and sets
  // `replaced` to the indexes of the latter.
  variable_list Run(const at::Tensor& input, const variable_list& given) {
    Carried carried = closed_over;
    carried.resize(slots);
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
        if (options.closes_over && !carried[i].requires_grad()) {
          segment->closed_over.resize(i + 1);
          segment->closed_over[i] = carried[i];
          continue;
        }
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

}  // namespace vramscope::trainer
