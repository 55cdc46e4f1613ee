// Modules of a model: a tree of named parameters and buffers. A module is made from shapes alone;
// Materialize() then creates every tensor on a device, in the order in which PyTorch's
// module.to(device) would. So a model can be counted, given adapters and frozen before a byte is
// asked for.
//
//   auto model = ...;                        // shapes
//   Totals t = Count(*model);                // parameters, trainable ones, bytes
//   Materialize(*model, {.device = device}); // tensors
//   for (Parameter* p : model->Parameters()) use(p->name(), p->tensor);
//
// Lifetimes: a request stream that equals Python's needs operands to die when Python lets go of
// them. Forward functions take `const Tensor&` for what the caller holds during the call (as a
// Python module call does), keep results in locals, and release each with reset() where Python
// drops or rebinds the name.
//
// Not thread-safe. Forward may throw what LibTorch throws; the loop's edge catches it.
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
  double standard_deviation = 0.02;  // of kNormal
};

// One trainable or frozen tensor; shared between modules when tied.
class Parameter {
 public:
  explicit Parameter(ParameterSpec spec) : spec_(std::move(spec)) {}
  const ParameterSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }  // full: "model.layers.0.mlp.up_proj.weight"
  int64_t count() const;                             // of the model's weights that it stands for
  // Is kept as `spec` from now on, which stands for `count` weights of the model; frozen. Before
  // Materialize(), which makes the weight as it was and calls `keep` with it.
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
  int64_t stands_for_ = 0;  // 0: for itself
  ParameterSpec arrives_;
  Keep keep_;  // null: it stays as it arrives
};

// Something a module holds that is not trained: a rotary table, a causal mask.
struct Buffer {
  std::string name;
  std::vector<int64_t> shape;
  at::ScalarType dtype = at::kFloat;
  std::function<at::Tensor()> value;  // computes it on the CPU; called when values are wanted
  at::Tensor tensor = {};
};

class Module {
 public:
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }  // own part of the path: "q_proj", "layers.3"
  const std::vector<Module*>& children() const { return children_; }
  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }

  // Every parameter once (a tied one where it is met first): own ones, then the children's, in
  // order of registration. Sets their full names.
  std::vector<Parameter*> Parameters();
  // What sets it apart from a module with the same parameters ("window"): layers of one kind, with
  // the same parameters, ask for the same memory.
  virtual std::string kind() const { return {}; }
  // This module and all below it, parents first; `path` is the full name ("" for the root).
  void Visit(const std::function<void(Module&, const std::string& path)>& visitor);
  // A module that a technique brings; its tensors come after those that are there. Before
  // Materialize().
  Module* Adopt(std::unique_ptr<Module> child);

 protected:
  // module.to(device) moves children before the module's own tensors. A module that stands for a
  // wrapper and what it wraps has its own first.
  virtual bool children_move_first() const { return true; }
  std::shared_ptr<Parameter> AddParameter(std::string name, ParameterSpec spec);
  // Uses a parameter of another module (tied embeddings).
  void ShareParameter(std::string name, std::shared_ptr<Parameter> parameter);
  Buffer* AddBuffer(Buffer buffer);
  // Takes a child that `this` owns in some member; returns it.
  template <class M>
  M* AddChild(M* child) {
    children_.push_back(child);
    return child;
  }

 private:
  friend void Materialize(Module& root, const struct MaterializeOptions& options);
  void Collect(const std::string& prefix, std::vector<Parameter*>& out);
  // Calls them for all tensors below, in the order in which they are moved.
  void Move(const std::string& path, const std::function<void(Parameter&)>& parameter,
            const std::function<void(Buffer&, const std::string& path)>& buffer);

  std::string name_;
  std::vector<std::pair<std::string, std::shared_ptr<Parameter>>> parameters_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Module*> children_;
  std::vector<std::unique_ptr<Module>> adopted_;  // of the children
};

struct Totals {
  uint64_t count = 0;      // elements of all parameters, tied ones once
  uint64_t trainable = 0;  // of those that are trained
  uint64_t bytes = 0;
};
Totals Count(Module& root);

struct MaterializeOptions {
  c10::Device device = c10::Device(c10::kCPU);
  bool values = true;  // false: only the memory (a device that computes nothing)
  uint64_t seed = 0;
  std::optional<at::ScalarType> dtype = {};  // of floating parameters, in place of their own
};
// Creates all tensors, tagged Parameter and Buffer in the recorder, requires_grad set from
// `trainable`. Initial values are drawn on the CPU, so that they are the same on every device.
void Materialize(Module& root, const MaterializeOptions& options);

}  // namespace vramscope::trainer
