#include "trainer/sharding/data_parallel.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>

#include "trainer/capture/scopes.h"

namespace vramscope::trainer {
namespace {

// DistributedDataParallel's defaults.
constexpr size_t kBroadcastBytes = 250 << 20;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// With find_unused_parameters, DDP adds this node after forward. For an output that the loss does
// not use, the node returns an undefined gradient instead of zeros.
struct Sink : torch::autograd::Function<Sink> {
  static variable_list forward(AutogradContext* context, at::TensorList outputs) {
    context->set_materialize_grads(false);
    variable_list copies;
    for (const at::Tensor& output : outputs) copies.push_back(output.clone());
    return copies;
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return gradients; }
};

}  // namespace

DataParallel::DataParallel(c10::intrusive_ptr<c10d::ProcessGroup> group, Model& model,
                           std::vector<at::Tensor> trained, const DataParallelOptions& options)
    : group_(std::move(group)), finds_unused_(options.finds_unused) {
  c10d::verify_params_across_processes(group_, trained, std::nullopt);
  {
    std::vector<at::Tensor> states;
    for (Parameter* parameter : model.Parameters()) states.push_back(parameter->tensor.detach());
    model.Visit([&](Module& module, const std::string&) {
      for (const auto& buffer : module.buffers()) {
        buffers_.push_back(buffer->tensor);
        states.push_back(buffer->tensor.detach());
      }
    });
    c10d::broadcast_coalesced(group_, states, kBroadcastBytes);
  }
  const CategoryScope category(trace::Category::kCommunication);
  const std::vector<bool> sparse(trained.size(), false);
  const int64_t first_bytes = options.bucket_bytes == kDefaultBucketBytes
                                  ? c10d::kDefaultFirstBucketBytes
                                  : options.bucket_bytes;
  // All gradients share one bucket until the first backward shows their order. With finds_unused,
  // PyTorch never rebuilds the initial buckets.
  std::vector<size_t> sizes{static_cast<size_t>(std::numeric_limits<int64_t>::max())};
  if (options.finds_unused) {
    sizes = {static_cast<size_t>(first_bytes), static_cast<size_t>(options.bucket_bytes)};
  }
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(trained, sizes, sparse);
  std::reverse(buckets.begin(), buckets.end());
  reducer_ = std::make_shared<c10d::Reducer>(std::move(trained), std::move(buckets), group_, sparse,
                                             options.bucket_bytes, options.finds_unused,
                                             options.gradients_are_views,
                                             std::unordered_map<size_t, std::string>{}, first_bytes,
                                             /*skip_all_reduce_unused_params=*/false,
                                             /*use_python_reducer=*/false, std::vector<int64_t>{});
  // The logger times the first steps, so it waits until each of them is complete.
  logger_ = std::make_shared<c10d::Logger>(reducer_);
  reducer_->set_logger(logger_);
  logger_->set_construction_data_and_log("Model", {}, -1, /*broadcast_buffers=*/true,
                                         /*has_sync_bn=*/false, /*static_graph=*/false);
}

void DataParallel::BeforeForward(bool reduces) {
  if (at::GradMode::is_enabled()) {
    if (reduces) {
      logger_->set_runtime_stats_and_log();
      reducer_->prepare_for_forward();
    }
    const CategoryScope category(trace::Category::kCommunication);
    reducer_->rebuild_buckets();
  }
  if (synchronises_buffers_ && !buffers_.empty()) {
    c10d::broadcast_coalesced(group_, buffers_, kBroadcastBytes);
  }
}

void DataParallel::AfterForward(bool reduces, const std::vector<at::Tensor*>& outputs) {
  synchronises_buffers_ = at::GradMode::is_enabled() && reduces;
  std::vector<at::Tensor> given;
  if (finds_unused_) {
    for (const at::Tensor* output : outputs) given.push_back(*output);
  }
  if (synchronises_buffers_) reducer_->prepare_for_backward(given);
  if (given.empty()) return;
  const variable_list copies = Sink::apply(at::TensorList(given));
  for (size_t i = 0; i < copies.size(); ++i) {
    if (given[i].grad_fn() != nullptr) *outputs[i] = copies[i];
  }
}

}  // namespace vramscope::trainer
