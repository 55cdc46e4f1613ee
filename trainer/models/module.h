// The modules of a model: a tree of named parameters and buffers. A module is made from shapes
// only. Materialize() then creates all tensors on a device, in the order of PyTorch's
// module.to(device). So before any memory is allocated, parameters can be counted and frozen, and
// adapters can be added.
//
//   auto model = ...;                        // shapes
//   Totals t = Count(*model);                // parameters, trainable ones, bytes
//   Materialize(*model, {.device = device}); // tensors
//   for (Parameter* p : model->Parameters()) use(p->name(), p->tensor);
//
// Lifetimes: memory is freed in the same order as in Python only if each operand is freed when
// Python frees it. If the caller holds an argument during the call, as in a Python module call,
// Forward takes it as `const Tensor&`. Results are locals, and are released with reset() where
// Python drops or rebinds the name.
//
// Not thread-safe. Forward may throw LibTorch's exceptions; the outermost function of the loop
// catches them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/types.h"
#include "trainer/capture/scopes.h"

namespace vramscope::trainer {

enum class Init : uint8_t { kNormal, kZeros, kOnes, kKaimingUniform };

struct ParameterSpec {
  std::vector<int64_t> shape;
  at::ScalarType dtype = at::kFloat;
  Init init = Init::kNormal;
  double standard_deviation = 0.02;  // used by kNormal
};

// A tensor that is trainable or frozen. Modules with tied weights share one Parameter.
class Parameter {
 public:
  explicit Parameter(ParameterSpec spec) : spec_(std::move(spec)) {}
  const ParameterSpec& spec() const { return spec_; }
  // full name: "model.layers.0.mlp.up_proj.weight"
  const std::string& name() const { return name_; }
  // the number of scalar weights in the original parameter, before Store() changed its form
  int64_t count() const;
  // Freezes the parameter and stores its `count` scalar weights in another form, `spec`. Call it
  // before Materialize(), which creates the original weight, then replaces it by the result of
  // `keep`.
  using Keep = std::function<at::Tensor(const at::Tensor& weight)>;
  void Store(ParameterSpec spec, int64_t count, Keep keep);
  uint64_t bytes() const;

  bool trainable = true;  // read by Materialize()
  at::Tensor tensor;      // undefined until Materialize()

 private:
  friend class Module;
  friend void Materialize(class Module& root, const struct MaterializeOptions& options);
  ParameterSpec spec_;
  std::string name_;
  int64_t stands_for_ = 0;  // 0: the tensor's number of elements
  ParameterSpec arrives_;
  Keep keep_;  // null: the weight is not converted
};

// A tensor of a module that is not a parameter, such as a rotary table or a causal mask.
struct Buffer {
  std::string name;
  std::vector<int64_t> shape;
  at::ScalarType dtype = at::kFloat;
  std::function<at::Tensor()> value;  // computes the buffer on the CPU; called if values are needed
  at::Tensor tensor = {};
};

class Module {
 public:
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // This module's part of a path, such as "q_proj" or "layers.3".
  const std::string& name() const { return name_; }
  const std::vector<Module*>& children() const { return children_; }
  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }

  // Every parameter once (a tied parameter at its first place): the module's own first, then the
  // children's, in order of registration. Sets their full names.
  std::vector<Parameter*> Parameters();
  // If two layers have the same kind and the same parameters, they must make the same allocations.
  // For example, layers with an attention window have the kind "window".
  virtual std::string kind() const { return {}; }
  // Visits this module and then all below it. `path` is the full name ("" for the root).
  void Visit(const std::function<void(Module&, const std::string& path)>& visitor);
  // Adds the module of a technique. Its tensors come after all that exist. Call it before
  // Materialize().
  Module* Adopt(std::unique_ptr<Module> child);

 protected:
  // Returns whether children move before the module's own tensors, as in module.to(device). If
  // false, the module's own tensors move first, because they belong to the first child in PEFT's
  // wrapper.
  virtual bool children_move_first() const { return true; }
  std::shared_ptr<Parameter> AddParameter(std::string name, ParameterSpec spec);
  // Adds a parameter that another module has, too (tied embeddings).
  void ShareParameter(std::string name, std::shared_ptr<Parameter> parameter);
  Buffer* AddBuffer(Buffer buffer);
  // Registers a child, which must be a member of `this`, and returns it.
  template <class M>
  M* AddChild(M* child) {
    children_.push_back(child);
    return child;
  }

 private:
  friend void Materialize(Module& root, const struct MaterializeOptions& options);
  void Collect(const std::string& prefix, std::vector<Parameter*>& out);
  // Calls the functions for all tensors of this module and its descendants, in the order of moving.
  void Move(const std::string& path, const std::function<void(Parameter&)>& parameter,
            const std::function<void(Buffer&, const std::string& path)>& buffer);

  std::string name_;
  std::vector<std::pair<std::string, std::shared_ptr<Parameter>>> parameters_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Module*> children_;
  std::vector<std::unique_ptr<Module>> adopted_;  // modules that are also in children_
};

struct Totals {
  uint64_t count = 0;      // elements of all parameters, tied ones once
  uint64_t trainable = 0;  // elements of the trained parameters
  uint64_t bytes = 0;
};
Totals Count(Module& root);

struct MaterializeOptions {
  c10::Device device = c10::Device(c10::kCPU);
  // If false, memory is allocated but not filled, because the device computes nothing.
  bool values = true;
  uint64_t seed = 0;
  std::optional<at::ScalarType> dtype = {};  // replaces the type of floating-point parameters
};
// Creates all tensors, gives them the category Parameter or Buffer, and sets requires_grad to
// `trainable`. Draws initial values on the CPU, so that they are the same on every device.
void Materialize(Module& root, const MaterializeOptions& options);

}  // namespace vramscope::trainer
