#include "trainer/sharding/vocabulary_parallel.h"

#include <torch/autograd.h>
#include <torch/types.h>

namespace vramscope::trainer {
namespace {

using at::indexing::Slice;
using torch::autograd::AutogradContext;
using Tensors = torch::autograd::variable_list;

constexpr int64_t kIgnored = -100;

int64_t Handle(const TensorParallel& parallel) { return reinterpret_cast<int64_t>(&parallel); }
TensorParallel& Of(AutogradContext* context) {
  return *reinterpret_cast<TensorParallel*>(context->saved_data["parallel"].toInt());
}

// `mask`: true for rows of other ranks. `indices`: all indices minus this rank's first index.
struct Masked {
  at::Tensor mask, indices;
};
Masked Mask(const at::Tensor& indices, int64_t size, const RankOf& rank) {
  const int64_t first = rank.rank * size;
  Masked out;
  out.mask = [&] {
    const at::Tensor below = indices < first;
    const at::Tensor above = indices >= first + size;
    return below.bitwise_or(above);
  }();
  out.indices = [&] {
    const at::Tensor copy = indices.clone();
    return copy - first;
  }();
  out.indices.index_put_({out.mask}, 0);
  return out;
}

struct EmbeddingPart : torch::autograd::Function<EmbeddingPart> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& part, const at::Tensor& ids,
                            TensorParallel& parallel) {
    context->saved_data["parallel"] = Handle(parallel);
    context->saved_data["size"] = part.size(0);
    context->save_for_backward({ids});
    Masked masked = Mask(ids, part.size(0), parallel.rank());
    at::Tensor rows = at::embedding(part, masked.indices);
    masked.indices.reset();
    rows.index_put_({masked.mask, Slice()}, 0.0);
    masked.mask.reset();
    return parallel.Sum(rows);
  }
  static Tensors backward(AutogradContext* context, Tensors gradients) {
    TensorParallel& parallel = Of(context);
    const RankOf rank = parallel.rank();
    const int64_t size = context->saved_data["size"].toInt();
    const at::Tensor whole = at::embedding_dense_backward(
        gradients[0], context->get_saved_variables()[0], size * rank.ranks, -1, false);
    const at::Tensor part = whole.narrow(0, rank.rank * size, size);
    if (!parallel.tied()) return {part, {}, {}};
    parallel.HoldUntilSum(whole);
    return {part.clone(), {}, {}};
  }
};

struct Gather : torch::autograd::Function<Gather> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& part,
                            const TensorParallel& parallel) {
    context->saved_data["parallel"] = Handle(parallel);
    const at::Tensor rows = parallel.Gathered(part);
    return at::cat(rows.chunk(parallel.rank().ranks, 0), -1);
  }
  static Tensors backward(AutogradContext* context, Tensors gradients) {
    const RankOf rank = Of(context).rank();
    const int64_t size = gradients[0].size(-1) / rank.ranks;
    return {gradients[0].narrow(-1, rank.rank * size, size).clone(), {}};
  }
};

struct LogSoftmaxPart : torch::autograd::Function<LogSoftmaxPart> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, const TensorParallel& parallel) {
    at::Tensor most = at::amax(x, 1, /*keepdim=*/true);
    most = parallel.Max(most);
    const at::Tensor shifted = x - most;
    at::Tensor sum = [&] {
      const at::Tensor exponential = at::exp(shifted);
      return at::sum(exponential, 1, /*keepdim=*/true);
    }();
    sum = parallel.Sum(sum);
    const at::Tensor log = at::log(sum);
    return shifted - log;
  }
  // LossPart's backward already returns the gradient of the logits `x`.
  static Tensors backward(AutogradContext*, Tensors gradients) { return {gradients[0], {}}; }
};

struct LossPart : torch::autograd::Function<LossPart> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& labels,
                            const TensorParallel& parallel) {
    context->saved_data["parallel"] = Handle(parallel);
    const at::Tensor safe = Safe(labels);
    at::Tensor picked;
    {
      const Masked masked = Mask(safe.unsqueeze(1), x.size(1), parallel.rank());
      at::Tensor part = at::gather(x, 1, masked.indices);
      part.index_put_({masked.mask}, 0.0);
      picked = parallel.Sum(part);
    }
    at::Tensor result = -picked.squeeze(1);
    result = [&] { return at::where(labels != kIgnored, result, 0); }();
    const at::Tensor count = [&] {
      const at::Tensor counted = (labels != kIgnored).sum();
      return counted.to(x.scalar_type());
    }();
    context->save_for_backward({x, labels, count});
    return result.sum() / count;
  }
  static Tensors backward(AutogradContext* context, Tensors gradients) {
    const Tensors saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &count = saved[2];
    const at::Tensor labels = saved[1].unsqueeze(1);
    at::Tensor outer = gradients[0] / count;
    at::Tensor safe = Safe(labels);
    at::Tensor gradient = at::zeros_like(x);
    safe = safe.squeeze(1).flatten();
    const Masked masked = Mask(safe, x.size(1), Of(context).rank());
    const at::Tensor update = [&] { return masked.mask.to(x.scalar_type()) - 1.0; }();
    const at::Tensor rows = at::arange(masked.indices.size(0), masked.indices.options());
    gradient.index_put_({rows, masked.indices}, update);
    outer = [&] { return at::where(labels != kIgnored, outer, 0); }();
    at::Tensor sum = [&] {
      const at::Tensor exponential = at::exp(x);
      return gradient + exponential;
    }();
    return {sum * outer, {}, {}};
  }

 private:
  static at::Tensor Safe(const at::Tensor& labels) {
    const at::Tensor counts = labels != kIgnored;
    return at::where(counts, labels, 0);
  }
};

}  // namespace

at::Tensor EmbeddingOfParts(const at::Tensor& part, const at::Tensor& ids,
                            TensorParallel& parallel) {
  return EmbeddingPart::apply(part, ids, parallel);
}

at::Tensor GatheredLogits(const at::Tensor& part, const TensorParallel& parallel) {
  return Gather::apply(part, parallel);
}

at::Tensor CrossEntropyOfParts(const at::Tensor& part, const at::Tensor& labels,
                               const TensorParallel& parallel) {
  return LossPart::apply(LogSoftmaxPart::apply(part, parallel), labels, parallel);
}

}  // namespace vramscope::trainer
