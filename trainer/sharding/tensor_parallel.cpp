#include "trainer/sharding/tensor_parallel.h"

#include <fmt/format.h>
#include <torch/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trainer/capture/scopes.h"
#include "trainer/models/layers.h"
#include "trainer/optimizers/group.h"
#include "trainer/sharding/vocabulary_parallel.h"

namespace vramscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using Tensors = torch::autograd::variable_list;

// The linear layers split by outputs (rows of the weight), and those split by inputs (columns).
constexpr std::array<std::string_view, 5> kByOutputs = {"q_proj", "k_proj", "v_proj", "gate_proj",
                                                        "up_proj"};
constexpr std::array<std::string_view, 2> kByInputs = {"o_proj", "down_proj"};

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The input of a layer split by outputs. All ranks have it, and backward sums their gradients.
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

// Sums the ranks' partial results.
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
  spec.shape[static_cast<size_t>(dimension)] /= rank.ranks;
  parameter.Store(std::move(spec), whole, [dimension, rank](const at::Tensor& weight) {
    const at::NoGradGuard no_grad;
    // Makes the parts of all ranks, like distribute_tensor(). Parts of columns are copies.
    std::vector<at::Tensor> parts = weight.chunk(rank.ranks, dimension);
    for (at::Tensor& part : parts) part = part.contiguous();
    at::Tensor own = at::empty_like(parts.front());
    own.copy_(parts[static_cast<size_t>(rank.rank)]);
    ReleaseList(parts);
    return own;
  });
  parameter.trainable = trains;  // as before the split
}

// Splits embedding and output layer by rows.
absl::Status SplitVocabulary(Model& model, const RankOf& rank, Vocabulary vocabulary,
                             const std::shared_ptr<TensorParallel>& parallel) {
  Embedding* embedding = nullptr;
  Linear* head = nullptr;
  model.Visit([&](Module& module, const std::string&) {
    if (auto* found = dynamic_cast<Embedding*>(&module)) embedding = found;
    if (module.name() == "lm_head") head = dynamic_cast<Linear*>(&module);
  });
  if (embedding == nullptr || head == nullptr) {
    return absl::InvalidArgumentError(
        "shard.vocabulary: this model lacks an embedding or an output layer to split; set "
        "shard.vocabulary=whole");
  }
  if (head->outputs() % rank.ranks != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "shard.vocabulary: shard.ranks = {} does not divide the model's {} tokens (vocab_size); "
        "set shard.vocabulary=whole",
        rank.ranks, head->outputs()));
  }
  Split(*embedding->weight(), 0, rank);
  embedding->SetLookup([parallel](const at::Tensor& weight, const at::Tensor& ids) {
    return EmbeddingOfParts(weight, ids, *parallel);
  });
  if (head->weight() == embedding->weight()) {
    parallel->Tie(*head->weight());
  } else {
    Split(*head->weight(), 0, rank);
  }
  const bool gathers = vocabulary == Vocabulary::kParts;
  head->SetBase(
      [parallel, gathers, weight = head->weight()](const at::Tensor& x, const at::Tensor&) {
        const at::Tensor part = at::linear(ToPart::apply(x, parallel.get()), weight->tensor);
        return gathers ? GatheredLogits(part, *parallel) : part;
      },
      /*copies=*/false);
  if (!gathers) {
    model.cross_entropy = [parallel](const at::Tensor& logits, const at::Tensor& labels) {
      return CrossEntropyOfParts(logits, labels, *parallel);
    };
  }
  return absl::OkStatus();
}

}  // namespace

void TensorParallel::Join(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model) {
  group_ = std::move(group);
  for (Parameter* parameter : model.Parameters()) {
    parameter->tensor.set_requires_grad(parameter->trainable);
  }
  if (tied() && tied_->trainable) {
    tied_->tensor.register_hook([this](const at::Tensor&) { held_.reset(); });
  }
}

at::Tensor TensorParallel::Reduced(const at::Tensor& part, c10d::ReduceOp how) const {
  const CategoryScope category(trace::Category::kCommunication);
  std::vector<at::Tensor> tensors = {part.clone(at::MemoryFormat::Contiguous)};
  c10d::AllreduceOptions options;
  options.reduceOp = std::move(how);
  group_->allreduce(tensors, options)->wait();
  return tensors.front();
}

at::Tensor TensorParallel::Sum(const at::Tensor& part) const {
  return Reduced(part, c10d::ReduceOp::SUM);
}

at::Tensor TensorParallel::Max(const at::Tensor& part) const {
  return Reduced(part, c10d::ReduceOp::MAX);
}

at::Tensor TensorParallel::Gathered(const at::Tensor& part) const {
  const CategoryScope category(trace::Category::kCommunication);
  std::vector<int64_t> sizes = part.sizes().vec();
  sizes.front() *= rank_.ranks;
  at::Tensor input = part.contiguous();
  at::Tensor all = at::empty(sizes, part.options());
  group_->_allgather_base(all, input)->wait();
  return all;
}

absl::Status CheckRanks(const run::ModelConfig& config, const RankOf& rank) {
  const std::array<std::tuple<const char*, const char*, int64_t>, 3> sizes = {
      {{"attention heads", "num_attention_heads", config.heads},
       {"key-value heads", "num_key_value_heads", config.kv_heads},
       {"feed-forward width", "intermediate_size", config.intermediate_size}}};
  for (const auto& [what, key, size] : sizes) {
    if (size % rank.ranks == 0) continue;
    return absl::InvalidArgumentError(
        fmt::format("shard.strategy=tensor: shard.ranks = {} does not divide the model's {} {} "
                    "({}), but every rank needs whole heads and an equal part of the width; use a "
                    "number of ranks that divides it",
                    rank.ranks, size, what, key));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<TensorParallel>> SplitModel(Model& model, const RankOf& rank,
                                                           Vocabulary vocabulary) {
  auto parallel = std::make_shared<TensorParallel>(rank);
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
  if (!any) return nullptr;
  if (vocabulary != Vocabulary::kWhole) {
    if (absl::Status status = SplitVocabulary(model, rank, vocabulary, parallel); !status.ok()) {
      return status;
    }
  }
  return parallel;
}

}  // namespace vramscope::trainer
