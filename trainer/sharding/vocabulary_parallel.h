// A vocabulary in parts, as torch.distributed.tensor.parallel has it: RowwiseParallel of the
// embedding, ColwiseParallel of the output layer, whose logits are gathered or stay in parts for
// loss_parallel() (placement_types.py: _MaskPartial; parallel/loss.py). PyTorch's operators in
// their order.
//
// For devices that compute nothing: other ranks' parts are not there.
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/sharding/tensor_parallel.h"

namespace vramscope::trainer {

// Rows of an embedding of which this rank has a part. Its gradient is made as a whole on each rank.
at::Tensor EmbeddingOfParts(const at::Tensor& part, const at::Tensor& ids,
                            TensorParallel& parallel);
// All logits from a rank's part of them.
at::Tensor GatheredLogits(const at::Tensor& part, const TensorParallel& parallel);
// Mean cross entropy of rows of which each rank has a part of the classes.
at::Tensor CrossEntropyOfParts(const at::Tensor& part, const at::Tensor& labels,
                               const TensorParallel& parallel);

}  // namespace vramscope::trainer
