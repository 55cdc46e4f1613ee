#include "trainer/models/module.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "trainer/capture/taps.h"

namespace vramscope::trainer {
namespace {

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

void Fill(at::Tensor& tensor, const ParameterSpec& spec, const at::Generator& generator) {
  switch (spec.init) {
    case Init::kNormal:
      tensor.normal_(0, spec.standard_deviation, generator);
      return;
    case Init::kZeros:
      tensor.zero_();
      return;
    case Init::kOnes:
      tensor.fill_(1);
      return;
    case Init::kKaimingUniform: {
      // As in torch.nn.init.kaiming_uniform_ with a = sqrt(5), the bound is 1 / sqrt(inputs).
      const double bound = 1 / std::sqrt(static_cast<double>(spec.shape.back()));
      tensor.uniform_(-bound, bound, generator);
      return;
    }
  }
}

// Creates the parameter on the device, in the form that `spec` describes.
void MaterializeOne(Parameter& parameter, const ParameterSpec& spec,
                    const MaterializeOptions& options, const at::Generator& generator) {
  const bool floating = at::isFloatingType(spec.dtype);
  const auto type =
      at::TensorOptions().dtype(floating ? options.dtype.value_or(spec.dtype) : spec.dtype);
  {
    CategoryScope category(trace::Category::kParameter);
    OwnerScope owner(parameter.name());
    parameter.tensor = at::empty(spec.shape, type.device(options.device));
  }
  if (options.values) {
    at::NoGradGuard no_grad;
    if (options.device.is_cpu()) {
      Fill(parameter.tensor, spec, generator);
    } else {
      at::Tensor values = at::empty(spec.shape, type);
      Fill(values, spec, generator);
      parameter.tensor.copy_(values);
    }
  }
  parameter.tensor.set_requires_grad(parameter.trainable);
  TagStorage(parameter.tensor, trace::Category::kParameter, "parameter");
}

}  // namespace

int64_t Parameter::count() const { return stands_for_ > 0 ? stands_for_ : Elements(spec_.shape); }

void Parameter::Store(ParameterSpec spec, int64_t count, Keep keep) {
  arrives_ = std::exchange(spec_, std::move(spec));
  keep_ = std::move(keep);
  stands_for_ = count;
  trainable = false;
}

uint64_t Parameter::bytes() const {
  return static_cast<uint64_t>(Elements(spec_.shape)) * c10::elementSize(spec_.dtype);
}

std::shared_ptr<Parameter> Module::AddParameter(std::string name, ParameterSpec spec) {
  auto parameter = std::make_shared<Parameter>(std::move(spec));
  parameters_.emplace_back(std::move(name), parameter);
  return parameter;
}

void Module::ShareParameter(std::string name, std::shared_ptr<Parameter> parameter) {
  parameters_.emplace_back(std::move(name), std::move(parameter));
}

Buffer* Module::AddBuffer(Buffer buffer) {
  return buffers_.emplace_back(std::make_unique<Buffer>(std::move(buffer))).get();
}

Module* Module::Adopt(std::unique_ptr<Module> child) {
  return AddChild(adopted_.emplace_back(std::move(child)).get());
}

void Module::Collect(const std::string& prefix, std::vector<Parameter*>& out) {
  for (auto& [name, parameter] : parameters_) {
    if (!parameter->name_.empty()) continue;
    parameter->name_ = prefix + name;
    out.push_back(parameter.get());
  }
  for (Module* child : children_) child->Collect(prefix + child->name() + ".", out);
}

std::vector<Parameter*> Module::Parameters() {
  // Clears all names, because adapters may have been added since the last call. Collect() then
  // treats parameters that have a name as visited.
  Visit([](Module& module, const std::string&) {
    for (auto& entry : module.parameters_) entry.second->name_.clear();
  });
  std::vector<Parameter*> out;
  Collect("", out);
  return out;
}

void Module::Visit(const std::function<void(Module&, const std::string&)>& visitor) {
  struct Walk {
    const std::function<void(Module&, const std::string&)>& visitor;
    void operator()(Module& module, const std::string& path) const {
      visitor(module, path);
      for (Module* child : module.children()) {
        (*this)(*child, path.empty() ? child->name() : path + "." + child->name());
      }
    }
  };
  Walk{visitor}(*this, "");
}

Totals Count(Module& root) {
  Totals totals;
  for (const Parameter* parameter : root.Parameters()) {
    const auto count = static_cast<uint64_t>(parameter->count());
    totals.count += count;
    if (parameter->trainable) totals.trainable += count;
    totals.bytes += parameter->bytes();
  }
  return totals;
}

void Materialize(Module& root, const MaterializeOptions& options) {
  at::Generator generator = at::detail::createCPUGenerator(options.seed);
  for (Parameter* parameter : root.Parameters()) parameter->tensor = at::Tensor();
  const auto make = [&](Parameter& parameter) {
    if (parameter.tensor.defined()) return;
    if (parameter.keep_ == nullptr) {
      MaterializeOne(parameter, parameter.spec_, options, generator);
      return;
    }
    MaterializeOne(parameter, parameter.arrives_, options, generator);
    CategoryScope category(trace::Category::kParameter);
    OwnerScope owner(parameter.name());
    parameter.tensor = parameter.keep_(parameter.tensor);
    TagStorage(parameter.tensor, trace::Category::kParameter, "parameter");
  };
  // parallelize_module splits a parameter before the module is moved. Quantization, in contrast,
  // converts a weight after it has been moved. If two modules share a weight, each module splits
  // it, and the weights are tied again afterwards.
  std::vector<at::Tensor> untied;
  root.Move(
      "",
      [&](Parameter& parameter) {
        const bool is_part =
            parameter.keep_ != nullptr && at::isFloatingType(parameter.spec_.dtype);
        if (!is_part) return;
        at::Tensor first = std::exchange(parameter.tensor, at::Tensor());
        make(parameter);
        if (first.defined()) untied.push_back(std::exchange(parameter.tensor, std::move(first)));
      },
      [](Buffer&, const std::string&) {});
  untied.clear();
  root.Move("", make, [&](Buffer& buffer, const std::string& path) {
    CategoryScope category(trace::Category::kBuffer);
    OwnerScope owner(path + buffer.name);
    buffer.tensor =
        at::empty(buffer.shape, at::TensorOptions().dtype(buffer.dtype).device(options.device));
    TagStorage(buffer.tensor, trace::Category::kBuffer, "buffer");
    if (options.values) buffer.tensor.copy_(buffer.value());
  });
}

void Module::Move(const std::string& path, const std::function<void(Parameter&)>& parameter,
                  const std::function<void(Buffer&, const std::string& path)>& buffer) {
  const auto children = [&] {
    for (Module* child : children_) child->Move(path + child->name() + ".", parameter, buffer);
  };
  if (children_move_first()) children();
  for (auto& entry : parameters_) parameter(*entry.second);
  for (auto& entry : buffers_) buffer(*entry, path);
  if (!children_move_first()) children();
}

}  // namespace vramscope::trainer
