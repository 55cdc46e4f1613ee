#include "trainer/sharding/flat_sharded.h"

#include <torch/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/types.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "trainer/capture/scopes.h"
#include "trainer/capture/taps.h"
#include "trainer/models/layers_once.h"
#include "trainer/optimizers/group.h"
#include "trainer/sharding/flat_unit.h"
#include "trainer/sharding/layer_stacks.h"

namespace vramscope::trainer {
namespace {

// A tensor of a module, to be moved to the GPU: either a parameter or a buffer.
struct Coming {
  std::string name;
  Parameter* parameter = nullptr;  // null: it is a buffer
  Buffer* buffer = nullptr;
  int64_t depth = 0;
};

// Returns the depth of a tensor in the module tree. `adapted`: modules that PEFT has wrapped.
int64_t Depth(const std::string& name, const std::unordered_set<std::string>& adapted) {
  const int64_t names = std::count(name.begin(), name.end(), '.');
  return names + (adapted.contains(name.substr(0, name.rfind('.'))) ? 1 : 0);
}

// Moves tensors in FSDP1's order: parameters before buffers, outer modules before inner ones.
void Place(std::vector<Coming> coming, c10::Device device) {
  std::stable_sort(coming.begin(), coming.end(),
                   [](const Coming& a, const Coming& b) { return a.depth < b.depth; });
  for (const Coming& one : coming) {
    if (one.parameter == nullptr) continue;
    const CategoryScope category(trace::Category::kParameter);
    const OwnerScope owner(one.name);
    const ParameterSpec& spec = one.parameter->spec();
    one.parameter->tensor =
        at::empty(spec.shape, at::TensorOptions().dtype(spec.dtype).device(device));
    TagStorage(one.parameter->tensor, trace::Category::kParameter, "parameter");
  }
  for (const Coming& one : coming) {
    if (one.buffer == nullptr) continue;
    const CategoryScope category(trace::Category::kBuffer);
    const OwnerScope owner(one.name);
    one.buffer->tensor =
        at::empty(one.buffer->shape, at::TensorOptions().dtype(one.buffer->dtype).device(device));
    TagStorage(one.buffer->tensor, trace::Category::kBuffer, "buffer");
  }
}

}  // namespace

struct FlatSharded::Impl {
  Impl(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model, const FlatOptions& options)
      : shared(std::move(group), options) {
    std::unordered_set<std::string> adapted;
    model.Visit([&](Module& module, const std::string& path) {
      path_of[&module] = path;
      for (const Module* child : module.children()) {
        if (child->name() == "lora") adapted.insert(path);
      }
    });
    const auto add = [&](std::vector<Coming>& to, Coming one) {
      one.depth = Depth(one.name, adapted);
      to.push_back(std::move(one));
    };
    model.Visit([&](Module& module, const std::string& path) {
      for (const auto& buffer : module.buffers()) {
        add(buffers, {.name = path + "." + buffer->name, .buffer = buffer.get()});
      }
    });
    for (Parameter* parameter : model.Parameters()) {
      add(parameters, {.name = parameter->name(), .parameter = parameter});
    }
  }

  // Makes a unit of the tensors in `modules` and their submodules, except those that have a unit.
  void Shard(std::span<Module* const> modules, bool is_model) {
    const auto take = [&](std::vector<Coming>& from, std::vector<Coming>& to) {
      std::erase_if(from, [&](const Coming& one) {
        const bool within = is_model || std::any_of(modules.begin(), modules.end(), [&](auto* m) {
                              return one.name.starts_with(path_of.at(m) + ".");
                            });
        if (within) to.push_back(one);
        return within;
      });
    };
    std::vector<Coming> coming;
    take(parameters, coming);
    std::vector<Parameter*> flattened;
    for (const Coming& one : coming) flattened.push_back(one.parameter);
    take(buffers, coming);
    Place(std::move(coming), shared.options.device);
    const std::string path = path_of.at(modules.front());
    auto unit = std::make_unique<FlatUnit>(shared, path.empty() ? "model" : path, is_model);
    if (!flattened.empty()) unit->Flatten(flattened);
    for (const Module* module : modules) units_of[module] = unit.get();
    units.push_back(std::move(unit));
  }

  // Visits the model's unit first, as FSDP1 does.
  void ForEach(const std::function<void(FlatUnit&)>& visit) {
    visit(root());
    for (size_t i = 0; i + 1 < units.size(); ++i) visit(*units[i]);
  }

  void WatchOutput(FlatUnit& unit, const at::Tensor& output) {
    if (!at::GradMode::is_enabled() || !output.defined() || !output.requires_grad()) return;
    unit.needs_backward = true;
    output.register_hook([this, &unit](const at::Tensor&) {
      if (unit.ran_before_backward) return;
      if (&unit == &root() && !end_is_queued) {
        end_is_queued = true;
        torch::autograd::Engine::get_default_engine().queue_callback([this] { EndBackward(); });
        ForEach([](FlatUnit& each) { each.DropGradientsWithoutOwner(); });
      }
      unit.BeforeBackward();
    });
  }

  at::Tensor Run(FlatUnit& unit, const at::Tensor& hidden, Carried& carried,
                 const LayerFunction& layers) {
    {
      std::vector<at::Tensor> entering;
      if (hidden.requires_grad()) entering.push_back(hidden);
      for (const at::Tensor& tensor : carried) {
        if (tensor.defined() && tensor.requires_grad()) entering.push_back(tensor);
      }
      unit.BeforeForward(entering);
    }
    const Carried before = carried;
    at::Tensor output = layers(hidden, carried);
    if (!unit.AfterForward()) return output;
    WatchOutput(unit, output);
    for (size_t k = 0; k < carried.size(); ++k) {
      if (!carried[k].is_same(before[k])) WatchOutput(unit, carried[k]);
    }
    return output;
  }

  void EndBackward() {
    at::NoGradGuard no_grad;
    if (shared.reduces) {
      const c10::Stream now = CurrentStream(shared.options.device);
      Wait(now, shared.scatter);
      if (shared.options.replicas) Wait(now, shared.add_up);
      if (shared.options.offloads) now.synchronize();  // waits until gradients are on the host
    }
    shared.backward_order.clear();
    shared.first_backward_is_done = true;
    ForEach([](FlatUnit& unit) { unit.FinishBackward(); });
    end_is_queued = false;
  }

  FlatUnit& root() { return *units.back(); }

  FlatShared shared;
  std::unordered_map<const Module*, std::string> path_of;
  std::vector<Coming> parameters, buffers;       // not in a unit yet
  std::vector<std::unique_ptr<FlatUnit>> units;  // the layers, then the model
  std::unordered_map<const Module*, FlatUnit*> units_of;
  LayerStacks stacks;
  bool has_room = false, end_is_queued = false;
  at::Tensor zero;  // made in the first clipping
};

FlatSharded::FlatSharded(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
                         const FlatOptions& options)
    : impl_(std::make_shared<Impl>(std::move(group), model, options)) {
  const auto together = static_cast<size_t>(options.layers_per_unit);
  for (const LayerStack& stack : model.Stacks()) {
    if (together == 0 || stack.layers.empty()) break;
    const std::span<Module* const> layers = stack.layers;
    for (size_t i = 0; i < layers.size(); i += together) {
      impl_->Shard(layers.subspan(i, std::min(together, layers.size() - i)), false);
    }
    impl_->stacks.Add(impl_->path_of[layers.front()], stack.layers);
  }
  Module* const whole[] = {&model};
  impl_->Shard(whole, true);
}

FlatSharded::~FlatSharded() = default;

std::vector<at::Tensor> FlatSharded::TrainedTensors() const {
  std::vector<at::Tensor> out;
  impl_->ForEach([&](FlatUnit& unit) {
    for (at::Tensor& tensor : unit.TrainedTensors()) out.push_back(std::move(tensor));
  });
  return out;
}

void FlatSharded::BeforeForward(bool reduces) {
  FlatShared& shared = impl_->shared;
  shared.reduces = reduces;
  if (!impl_->has_room) impl_->ForEach([](FlatUnit& unit) { unit.MakeRoom(); });
  impl_->has_room = true;
  if (shared.options.prefetches_forward) {
    impl_->ForEach([](FlatUnit& unit) {
      unit.needs_forward = true;
      unit.prefetched = false;
    });
  }
  const c10::Stream now = CurrentStream(shared.options.device);
  Wait(shared.gather, now);
  Wait(shared.prepare, now);
  impl_->ForEach([](FlatUnit& unit) { unit.DropGradientsWithoutOwner(); });
  impl_->root().BeforeForward({});
}

void FlatSharded::AfterForward(const std::vector<at::Tensor>& outputs) {
  FlatUnit& root = impl_->root();
  root.AfterForward();
  impl_->end_is_queued = false;
  for (const at::Tensor& output : outputs) impl_->WatchOutput(root, output);
}

LayerRunner FlatSharded::AroundLayers(LayerRunner inner) {
  if (impl_->stacks.empty()) return inner;
  const auto around = [impl = impl_, inner](at::Tensor hidden,
                                            const std::vector<LayerFunction>& layers,
                                            const std::string& path, Carried& carried) {
    const std::vector<Module*>& modules = impl->stacks.Of(path, layers.size());
    const auto unit_of = [&](size_t layer) -> FlatUnit& {
      return *impl->units_of.at(modules[layer]);
    };
    if (impl->shared.options.checkpoints_hold_units && inner) {
      std::vector<LayerFunction> units;
      for (size_t i = 0; i < layers.size(); ++i) {
        units.push_back([impl, &unit = unit_of(i), layer = layers[i]](const at::Tensor& entering,
                                                                      Carried& with) {
          return impl->Run(unit, entering, with, layer);
        });
      }
      return inner(std::move(hidden), units, path, carried);
    }
    const auto together = static_cast<size_t>(impl->shared.options.layers_per_unit);
    for (size_t i = 0; i < layers.size(); i += together) {
      const size_t end = std::min(i + together, layers.size());
      const std::vector<LayerFunction> of_unit(layers.begin() + static_cast<ptrdiff_t>(i),
                                               layers.begin() + static_cast<ptrdiff_t>(end));
      hidden = impl->Run(unit_of(i), hidden, carried, [&](const at::Tensor&, Carried& now) {
        if (inner) return inner(std::move(hidden), of_unit, path, now);
        for (const LayerFunction& layer : of_unit) hidden = layer(hidden, now);
        return hidden;
      });
    }
    return hidden;
  };
  return LayersOnce{.run = around, .inner = inner};
}

void FlatSharded::ClipNorm(double most) {
  at::NoGradGuard no_grad;
  constexpr double kTwo = 2;
  const FlatShared& shared = impl_->shared;
  std::vector<at::Tensor> gradients;
  impl_->ForEach([&](FlatUnit& unit) {
    for (at::Tensor& gradient : unit.Gradients()) gradients.push_back(std::move(gradient));
  });
  if (!impl_->zero.defined()) {
    const CategoryScope category(trace::Category::kBuffer);  // the module keeps it
    impl_->zero = at::scalar_tensor(0, at::kFloat).to(shared.options.device);
    TagStorage(impl_->zero, trace::Category::kBuffer, "zero");
  }
  at::Tensor local = impl_->zero;
  if (shared.options.offloads) {
    // Offloaded gradients are clipped on the host. A plan computes nothing there.
    gradients.clear();
    local = at::zeros({}, at::kFloat).to(shared.options.device);
  } else if (!gradients.empty()) {
    std::vector<at::Tensor> norms;
    for (const at::Tensor& gradient : gradients) {
      norms.push_back(at::linalg_vector_norm(gradient, kTwo, {}, false, at::kFloat));
    }
    const at::Tensor stacked = at::stack(norms);
    ReleaseList(norms);
    local = at::linalg_vector_norm(stacked, kTwo, {}, false, at::kFloat);
  }
  at::Tensor squares = local.pow(kTwo);
  c10d::AllreduceOptions options;
  options.asyncOp = false;
  std::vector<at::Tensor> sums = {squares};
  if (auto work = shared.group->allreduce(sums, options)) work->wait();
  sums.clear();
  at::Tensor total = squares.pow(0.5);
  squares.reset();
  if (shared.options.offloads) return;
  // In Python, dividing a number by a tensor takes two operators.
  at::Tensor divisor = total + 1e-6;
  at::Tensor inverse = divisor.reciprocal();
  const at::Tensor coefficient = inverse * most;
  inverse.reset();
  divisor.reset();
  const at::Tensor clamped = at::clamp_max(coefficient, 1.0);
  for (const at::Tensor& gradient : gradients) gradient.mul_(clamped.to(gradient.scalar_type()));
  // FSDP1's function also casts the norm that it returns.
  if (!gradients.empty()) total.to(gradients.front().scalar_type());
}

}  // namespace vramscope::trainer
