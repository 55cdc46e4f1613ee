// Foreach and fused optimizer kernels, and the GradScaler's. In CUDA one launch works through all
// tensors of a list; the Meta path would take them one by one, and slowly.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/backends/plan/kernels.h"
#include "trainer/backends/plan/plan_memory.h"

namespace vramscope::trainer::plan {
namespace {

using at::Tensor;

uint64_t BytesOf(const c10::IValue& value) {
  if (value.isTensor()) return Bytes(value.toTensor());
  if (!value.isTensorList()) return 0;
  uint64_t bytes = 0;
  for (const Tensor& tensor : value.toTensorVector()) bytes += Bytes(tensor);
  return bytes;
}

// Writes into its arguments, returns nothing, asks for nothing: foreach in place, fused, unscale.
void InPlace(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t size = BytesOf((*stack)[stack->size() - count + i]);
    const c10::AliasInfo* alias = op.schema().arguments()[i].alias_info();
    bytes += alias != nullptr && alias->isWrite() ? 2 * size : size;
  }
  torch::jit::drop(*stack, count);
  Launch(bytes);
}

// One result per tensor of the first list, like it, all requested before the kernel runs. Results
// of half and integer lists keep their type, as foreach arithmetic does.
void OutOfPlace(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  const size_t begin = stack->size() - count;
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += BytesOf((*stack)[begin + i]);
  // Scalar.Power takes its list second.
  size_t list = begin;
  while (!(*stack)[list].isTensorList()) ++list;
  c10::List<Tensor> results;
  for (const Tensor& tensor : (*stack)[list].toTensorVector()) {
    results.push_back(at::empty_like(tensor));
    bytes += Bytes(tensor);
  }
  torch::jit::drop(*stack, count);
  stack->emplace_back(std::move(results));
  Launch(bytes);
}

// ForeachReduceOp.cu: partial norms per chunk of every tensor, then one scalar each.
std::vector<Tensor> ForeachNorm(at::TensorList tensors, const at::Scalar&,
                                std::optional<at::ScalarType> type) {
  constexpr int64_t kChunk = 65536;
  int64_t chunks = 1;
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    chunks = std::max(chunks, (tensor.numel() + kChunk - 1) / kChunk);
    bytes += Bytes(tensor);
  }
  const at::ScalarType result = type.value_or(tensors[0].scalar_type());
  const int64_t accumulator = result == at::kDouble ? 8 : 4;
  Scratch partial(static_cast<int64_t>(tensors.size()) * chunks * accumulator);
  std::vector<Tensor> norms;
  for (size_t i = 0; i < tensors.size(); ++i) {
    norms.push_back(at::empty({}, tensors[i].options().dtype(result)));
  }
  Launch(bytes);
  return norms;
}

Tensor& UpdateScale(Tensor& self, Tensor& growth, const Tensor& found, double, double, int64_t) {
  Launch(Bytes(self, growth, found));
  return self;
}

}  // namespace

void RegisterOptimizerKernels(torch::Library& m) {
  m.impl("_foreach_norm.Scalar", ForeachNorm);
  m.impl("_amp_update_scale_", UpdateScale);
  for (const char* name :
       {"_amp_foreach_non_finite_check_and_unscale_", "_fused_adam_", "_fused_adam_.tensor_lr",
        "_fused_adamw_", "_fused_adamw_.tensor_lr", "_fused_sgd_", "_fused_sgd_.tensor_lr"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&InPlace>());
  }
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    constexpr std::string_view kPrefix = "aten::_foreach_";
    if (name.name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    const auto handle = dispatcher.findSchema(name);
    if (!handle.has_value() || handle->hasKernelForDispatchKey(c10::DispatchKey::CUDA)) continue;
    const c10::FunctionSchema& schema = handle->schema();
    std::string local = name.name.substr(std::string_view("aten::").size());
    if (!name.overload_name.empty()) local += "." + name.overload_name;
    if (schema.returns().empty() && local.find("out") == std::string::npos) {
      m.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&InPlace>());
    } else if (schema.returns().size() == 1 && local.find("out") == std::string::npos &&
               local.find("norm") == std::string::npos && local.find("max") == std::string::npos) {
      m.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&OutOfPlace>());
    }
  }
}

}  // namespace vramscope::trainer::plan
