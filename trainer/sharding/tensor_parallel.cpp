#include "trainer/sharding/tensor_parallel.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trainer/capture/scopes.h"
#include "trainer/models/layers.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using Tensors = torch::autograd::variable_list;

// By outputs: rows of the weight. By inputs: its columns.
constexpr std::array<std::string_view, 5> kByOutputs = {"q_proj", "k_proj", "v_proj", "gate_proj",
                                                        "up_proj"};
constexpr std::array<std::string_view, 2> kByInputs = {"o_proj", "down_proj"};

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// What all ranks have becomes a part's input: its gradient is the sum of what the ranks have of it.
struct ToPart : torch::autograd::Function<ToPart> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const TensorParallel* parallel) {
    context->saved_data["parallel"] = reinterpret_cast<int64_t>(parallel);
    return x.view_as(x);
  }
  static Tensors backward(AutogradContext* context, Tensors gradients) {
    const auto* parallel =
        reinterpret_cast<const TensorParallel*>(context->saved_data["parallel"].toInt());
    return {parallel->Sum(gradients[0]), {}};
  }
};

// What a rank has of a sum becomes the sum.
struct FromPart : torch::autograd::Function<FromPart> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& part,
                            const TensorParallel* parallel) {
    return parallel->Sum(part);
  }
  static Tensors backward(AutogradContext*, Tensors gradients) { return {gradients[0], {}}; }
};

void Split(Parameter& parameter, int64_t dimension, const RankOf& rank) {
  ParameterSpec spec = parameter.spec();
  const int64_t whole = parameter.count();
  const bool trains = parameter.trainable;
  const int64_t size = spec.shape[static_cast<size_t>(dimension)] / rank.ranks;
  spec.shape[static_cast<size_t>(dimension)] = size;
  parameter.Store(std::move(spec), whole, [dimension, size, rank](const at::Tensor& weight) {
    const at::NoGradGuard no_grad;
    return weight.narrow(dimension, rank.rank * size, size).clone(at::MemoryFormat::Contiguous);
  });
  parameter.trainable = trains;  // a part as the whole
}

}  // namespace

void TensorParallel::Join(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model) {
  group_ = std::move(group);
  for (Parameter* parameter : model.Parameters()) {
    parameter->tensor.set_requires_grad(parameter->trainable);
  }
}

at::Tensor TensorParallel::Sum(const at::Tensor& part) const {
  const CategoryScope category(trace::Category::kCommunication);
  std::vector<at::Tensor> tensors = {part.clone(at::MemoryFormat::Contiguous)};
  group_->allreduce(tensors)->wait();
  return tensors.front();
}

absl::Status CheckRanks(const run::ModelConfig& config, const RankOf& rank) {
  const std::array<std::tuple<const char*, const char*, int64_t>, 3> sizes = {
      {{"attention heads", "num_attention_heads", config.heads},
       {"key-value heads", "num_key_value_heads", config.kv_heads},
       {"feed-forward width", "intermediate_size", config.intermediate_size}}};
  for (const auto& [what, key, size] : sizes) {
    if (size % rank.ranks == 0) continue;
    return absl::InvalidArgumentError(fmt::format(
        "shard.strategy=tensor: shard.ranks = {} does not divide the model's {} {} ({}): every "
        "rank has whole heads and as wide a part as the others; use a number of ranks that does",
        rank.ranks, size, what, key));
  }
  return absl::OkStatus();
}

std::shared_ptr<TensorParallel> SplitModel(Model& model, const RankOf& rank) {
  auto parallel = std::make_shared<TensorParallel>();
  std::unordered_map<std::string, Parameter*> parameters;
  for (Parameter* parameter : model.Parameters()) parameters[parameter->name()] = parameter;
  bool any = false;
  model.Visit([&](Module& module, const std::string& path) {
    auto* linear = dynamic_cast<Linear*>(&module);
    if (linear == nullptr || linear->transposed()) return;
    const bool by_outputs = IsOneOf(module.name(), kByOutputs);
    if (!by_outputs && !IsOneOf(module.name(), kByInputs)) return;
    any = true;
    Split(*linear->weight(), by_outputs ? 0 : 1, rank);
    const auto bias = parameters.find(path + ".bias");
    if (by_outputs && bias != parameters.end()) Split(*bias->second, 0, rank);
    const auto product = [weight = linear->weight()](const at::Tensor& x, const at::Tensor& bias) {
      return bias.defined() ? at::linear(x, weight->tensor, bias) : at::linear(x, weight->tensor);
    };
    if (by_outputs) {
      linear->SetBase(
          [product, parallel](const at::Tensor& x, const at::Tensor& bias) {
            return product(ToPart::apply(x, parallel.get()), bias);
          },
          /*copies=*/false);
      return;
    }
    linear->SetBase(
        [product, parallel](const at::Tensor& x, const at::Tensor& bias) {
          const at::Tensor sum = FromPart::apply(product(x, {}), parallel.get());
          return bias.defined() ? sum + bias : sum;
        },
        /*copies=*/false);
  });
  return any ? parallel : nullptr;
}

}  // namespace vramscope::trainer
