// A split vocabulary, as in torch.distributed.tensor.parallel: RowwiseParallel for the embedding,
// ColwiseParallel for the output layer. Logits are gathered, or stay split for loss_parallel().
// Calls the same operators as PyTorch (_MaskPartial in placement_types.py, and parallel/loss.py).
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
