#include "trainer/sharding/fully_sharded.h"

#include <torch/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/custom_class.h>
#include <torch/types.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/models/layers_once.h"
#include "trainer/sharding/layer_stacks.h"
#include "trainer/sharding/shard_unit.h"

namespace vramscope::trainer {

struct FullySharded::Impl {
  Impl(c10::intrusive_ptr<c10d::ProcessGroup> g, const ShardOptions& o)
      : group(std::move(g)), options(o), streams(o.device) {}

  // Collects each parameter once, in FSDP2's order: a module's parameters follow its children's.
  // Skips modules that are units themselves.
  void Collect(Module& module, const std::string& path, const Module* root,
               std::vector<std::pair<Parameter*, std::string>>& out) {
    for (Module* child : module.children()) {
      if (units_of.contains(child)) continue;
      Collect(*child, path.empty() ? child->name() : path + "." + child->name(), root, out);
    }
    if (const auto own = own_parameters.find(path); own != own_parameters.end()) {
      for (Parameter* parameter : own->second) out.emplace_back(parameter, parameter->name());
      own_parameters.erase(own);
    }
    modules_in_order.push_back({&module, path});
  }

  // Makes a unit of these modules' parameters.
  void Shard(std::span<Module* const> modules,
             const std::unordered_map<const Module*, std::string>& path_of,
             bool reshards_after_forward) {
    modules_in_order.clear();
    std::vector<std::pair<Parameter*, std::string>> parameters;
    for (Module* module : modules) Collect(*module, path_of.at(module), module, parameters);
    auto unit = std::make_unique<ShardUnit>(*group, streams, options, reshards_after_forward);
    std::vector<at::Tensor> whole;
    for (const auto& [parameter, name] : parameters) {
      if (!parameter->tensor.defined()) Place(*parameter, name);
      whole.push_back(parameter->tensor);
    }
    for (const auto& [each, at] : modules_in_order) {
      for (const auto& buffer : each->buffers()) {
        if (!buffer->tensor.defined()) Place(*buffer, at);
      }
    }
    for (const auto& [parameter, name] : parameters) unit->Add(parameter, name);
    while (!whole.empty()) whole.pop_back();
    for (const Module* module : modules) units_of[module] = unit.get();
    units.push_back(std::move(unit));
  }

  // Sets the units that units[first] and each later unit prefetch. The units from units[first] on
  // form a stack. As in PyTorch's tutorial, the last units of a pass keep FSDP2's default, because
  // too few units follow.
  void PlanPrefetch(size_t first) {
    const size_t end = units.size();
    const auto ahead = static_cast<size_t>(options.forward_prefetch);
    const auto behind = static_cast<size_t>(options.backward_prefetch);
    for (size_t i = first; i < end; ++i) {
      for (size_t k = 1; k <= ahead && i + ahead < end; ++k) {
        units[i]->forward_prefetch.push_back(units[i + k].get());
      }
      for (size_t k = 1; k <= behind && behind > 1 && i >= first + behind; ++k) {
        units[i]->backward_prefetch.push_back(units[i - k].get());
      }
    }
  }

  void Place(Parameter& parameter, const std::string& name) const {
    const CategoryScope category(trace::Category::kParameter);
    const OwnerScope owner(name);
    parameter.tensor =
        at::empty(parameter.spec().shape,
                  at::TensorOptions().dtype(parameter.spec().dtype).device(options.device));
    TagStorage(parameter.tensor, trace::Category::kParameter, "parameter");
  }
  void Place(Buffer& buffer, const std::string& path) const {
    const CategoryScope category(trace::Category::kBuffer);
    const OwnerScope owner(path + "." + buffer.name);
    buffer.tensor =
        at::empty(buffer.shape, at::TensorOptions().dtype(buffer.dtype).device(options.device));
    TagStorage(buffer.tensor, trace::Category::kBuffer, "buffer");
  }

  void BeforeBackward(ShardUnit& unit) {
    if (!callback_queued) {
      callback_queued = true;
      torch::autograd::Engine::get_default_engine().queue_callback([this] { EndBackward(); });
    }
    unit.BeforeBackward();
  }

  void EndBackward() {
    // Ends the model's unit first, then its layers. Autograd does not report that backward has left
    // a unit whose inputs need no gradient, so this also calls AfterBackward() for such units.
    const auto end = [](ShardUnit& unit) {
      if (unit.state != ShardState::kAfterBackward) unit.AfterBackward();
      unit.state = ShardState::kIdle;
      unit.FinishBackward();
    };
    end(*units.back());
    for (size_t i = 0; i + 1 < units.size(); ++i) end(*units[i]);
    streams.order.clear();
    Wait(CurrentStream(streams.device), streams.scattered_event);
    streams.scattered.reset();
    callback_queued = false;
  }

  void WatchOutput(ShardUnit& unit, const at::Tensor& output) {
    if (!at::GradMode::is_enabled() || !output.defined() || !output.requires_grad()) return;
    output.register_hook([this, &unit](const at::Tensor&) { BeforeBackward(unit); });
  }

  ShardUnit& root() { return *units.back(); }

  c10::intrusive_ptr<c10d::ProcessGroup> group;
  const ShardOptions options;
  ShardStreams streams;
  std::vector<std::unique_ptr<ShardUnit>> units;  // the layers, then the model
  std::unordered_map<const Module*, ShardUnit*> units_of;
  std::map<std::string, std::vector<Parameter*>> own_parameters;  // keyed by module path
  std::vector<std::pair<Module*, std::string>> modules_in_order;
  LayerStacks stacks;
  bool callback_queued = false;
};

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct UnitHandle : torch::CustomClassHolder {
  explicit UnitHandle(ShardUnit& unit) : unit(unit) {}
  ShardUnit& unit;
};

// Wraps a unit's inputs. Autograd then calls backward() below when backward leaves the unit.
struct LeavesUnit : torch::autograd::Function<LeavesUnit> {
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const c10::intrusive_ptr<UnitHandle>& unit) {
    context->saved_data["unit"] = c10::IValue::make_capsule(unit);
    return inputs.vec();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    c10::static_intrusive_pointer_cast<UnitHandle>(context->saved_data["unit"].toCapsule())
        ->unit.AfterBackward();
    gradients.emplace_back();
    return gradients;
  }
};

}  // namespace

FullySharded::FullySharded(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
                           const ShardOptions& options)
    : impl_(std::make_shared<Impl>(std::move(group), options)) {
  for (Parameter* parameter : model.Parameters()) {
    const std::string& name = parameter->name();
    const size_t dot = name.rfind('.');
    impl_->own_parameters[dot == std::string::npos ? "" : name.substr(0, dot)].push_back(parameter);
  }
  std::unordered_map<const Module*, std::string> path_of;
  model.Visit([&](Module& module, const std::string& path) { path_of[&module] = path; });
  const auto together = static_cast<size_t>(options.layers_per_unit);
  for (const LayerStack& stack : model.Stacks()) {
    if (together == 0) break;
    const std::span<Module* const> layers = stack.layers;
    const size_t first = impl_->units.size();
    for (size_t i = 0; i < layers.size(); i += together) {
      impl_->Shard(layers.subspan(i, std::min(together, layers.size() - i)), path_of,
                   options.reshards_after_forward);
    }
    impl_->PlanPrefetch(first);
    if (!stack.layers.empty()) {
      impl_->stacks.Add(path_of[stack.layers.front()], stack.layers);
    }
  }
  Module* const whole[] = {&model};
  // false: forward keeps the model's unit gathered, because backward needs it immediately
  impl_->Shard(whole, path_of, false);
}

FullySharded::~FullySharded() = default;

void FullySharded::BeforeForward() {
  ShardStreams& streams = impl_->streams;
  const c10::Stream now = CurrentStream(streams.device);
  Wait(streams.copy_in, now);
  Wait(streams.gather, now);
  impl_->root().BeforeForward();
}

void FullySharded::AfterForward(const std::vector<at::Tensor>& outputs) {
  ShardStreams& streams = impl_->streams;
  impl_->root().AfterForward(false);
  for (const at::Tensor& output : outputs) impl_->WatchOutput(impl_->root(), output);
  if (!streams.former.has_value()) return;
  Wait(streams.copy_in, streams.former_event);
  Wait(streams.gather, streams.former_event);
  streams.former.reset();
}

LayerRunner FullySharded::AroundLayers(LayerRunner inner) {
  if (impl_->stacks.empty()) return inner;
  const auto around = [impl = impl_, inner](at::Tensor hidden,
                                            const std::vector<LayerFunction>& layers,
                                            const std::string& path, Carried& carried) {
    const std::vector<Module*>& modules = impl->stacks.Of(path, layers.size());
    const auto together = static_cast<size_t>(impl->options.layers_per_unit);
    for (size_t i = 0; i < layers.size(); i += together) {
      ShardUnit& unit = *impl->units_of.at(modules[i]);
      const size_t end = std::min(i + together, layers.size());
      const std::vector<LayerFunction> of_unit(layers.begin() + static_cast<ptrdiff_t>(i),
                                               layers.begin() + static_cast<ptrdiff_t>(end));
      unit.BeforeForward();
      Carried now = carried;
      if (at::GradMode::is_enabled()) {
        variable_list entering;
        std::vector<at::Tensor*> places;
        if (hidden.requires_grad()) places.push_back(&hidden);
        for (at::Tensor& tensor : now) {
          if (tensor.defined() && tensor.requires_grad()) places.push_back(&tensor);
        }
        for (at::Tensor* place : places) entering.push_back(*place);
        if (!entering.empty()) {
          variable_list entered =
              LeavesUnit::apply(at::TensorList(entering), c10::make_intrusive<UnitHandle>(unit));
          for (size_t k = 0; k < places.size(); ++k) *places[k] = std::move(entered[k]);
        }
      }
      unit.PrefetchForward();
      const Carried given = now;
      if (inner) {
        hidden = inner(std::move(hidden), of_unit, path, now);
      } else {
        for (const LayerFunction& layer : of_unit) hidden = layer(hidden, now);
      }
      unit.AfterForward(false);
      impl->WatchOutput(unit, hidden);
      for (size_t k = 0; k < now.size(); ++k) {
        if (now[k].is_same(given[k])) continue;
        impl->WatchOutput(unit, now[k]);
        carried[k] = now[k];
      }
    }
    return hidden;
  };
  return LayersOnce{.run = around, .inner = inner};
}

}  // namespace vramscope::trainer
