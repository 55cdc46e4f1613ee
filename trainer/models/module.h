// Modules of a model: a tree of named parameters and buffers. A module is constructed from shapes
// only. Materialize() then creates every tensor on a device, in the order of PyTorch's
// module.to(device). So a model can be counted, given adapters and frozen before any memory is
// allocated.
//
//   auto model = ...;                        // shapes
//   Totals t = Count(*model);                // parameters, trainable ones, bytes
//   Materialize(*model, {.device = device}); // tensors
//   for (Parameter* p : model->Parameters()) use(p->name(), p->tensor);
//
// Lifetimes: memory is freed in the same order as in Python only if each operand is freed when
// Python frees it. Forward functions take `const Tensor&` for arguments that the caller holds
// during the call (as in a Python module call), keep results in locals, and release each with
// reset() at the point at which Python drops or rebinds the name.
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

// One trainable or frozen tensor. Modules with tied weights share a Parameter.
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

// An untrained tensor of a module: a rotary table, a causal mask.
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

  // this module's part of the path: "q_proj", "layers.3"
  const std::string& name() const { return name_; }
  const std::vector<Module*>& children() const { return children_; }
  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }

  // Every parameter once (a tied parameter at its first place): the module's own first, then the
  // children's, in order of registration. Sets their full names.
  std::vector<Parameter*> Parameters();
  // Two layers of the same kind with the same parameters must make the same allocations. For
  // example, layers with an attention window have the kind "window".
  virtual std::string kind() const { return {}; }
  // Visits this module and all below it, parents first. `path` is the full name ("" for the root).
  void Visit(const std::function<void(Module&, const std::string& path)>& visitor);
  // Adds a technique's module, whose tensors come after all existing tensors. Call it before
  // Materialize().
  Module* Adopt(std::unique_ptr<Module> child);

 protected:
  // True: children move before the module's own tensors, as in module.to(device). False: own
  // tensors move first, because they belong to the first child in PEFT's wrapper.
  virtual bool children_move_first() const { return true; }
  std::shared_ptr<Parameter> AddParameter(std::string name, ParameterSpec spec);
  // Uses a parameter of another module (tied embeddings).
  void ShareParameter(std::string name, std::shared_ptr<Parameter> parameter);
  Buffer* AddBuffer(Buffer buffer);
  // Registers a child that is a member of `this`; returns it.
  template <class M>
  M* AddChild(M* child) {
    children_.push_back(child);
    return child;
  }

 private:
  friend void Materialize(Module& root, const struct MaterializeOptions& options);
  void Collect(const std::string& prefix, std::vector<Parameter*>& out);
  // Calls the functions for all tensors of this module and below, in the order in which they move.
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
  // false: memory is allocated, but has no values (on a device that computes nothing)
  bool values = true;
  uint64_t seed = 0;
  std::optional<at::ScalarType> dtype = {};  // replaces the type of floating-point parameters
};
// Creates all tensors, tags them Parameter and Buffer in the recorder, and sets requires_grad from
// `trainable`. Initial values are drawn on the CPU, so that they are the same on every device.
void Materialize(Module& root, const MaterializeOptions& options);

}  // namespace vramscope::trainer
