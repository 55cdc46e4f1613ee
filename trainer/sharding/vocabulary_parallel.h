// A split vocabulary, as in torch.distributed.tensor.parallel: RowwiseParallel of the embedding,
// and ColwiseParallel of the output layer. Logits are gathered, or stay split for loss_parallel()
// (placement_types.py: _MaskPartial; parallel/loss.py). Calls the same operators as PyTorch.
//
// Only for devices that compute nothing, because the other ranks' parts do not exist.
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/sharding/tensor_parallel.h"

namespace vramscope::trainer {

// Looks up rows of a split embedding. Backward makes the gradient of the whole embedding.
at::Tensor EmbeddingOfParts(const at::Tensor& part, const at::Tensor& ids,
                            TensorParallel& parallel);
// Returns all logits, gathered from this rank's part.
at::Tensor GatheredLogits(const at::Tensor& part, const TensorParallel& parallel);
// Returns the mean cross entropy. Each rank has the logits of some of the classes.
at::Tensor CrossEntropyOfParts(const at::Tensor& part, const at::Tensor& labels,
                               const TensorParallel& parallel);

}  // namespace vramscope::trainer
