// A feed-forward part with many experts. A router chooses some experts for each token. As in
// transformers, a loop passes each expert its tokens, selected by index.
//
// The router's choice depends on computed values. The emulated platform computes nothing, so all
// experts are assumed to get equally many tokens there. Families declare this with kEvenRouting.
//
//   SparseMoe moe("block_sparse_moe", config, options,
//                 {.experts = 8, .chosen = 2, .inner = 14336});
//   at::Tensor router_logits;                      // kept by the layer's frame
//   hidden = moe.Run(hidden, router_logits);
//
// Not thread-safe; see module.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/config_reader.h"
#include "trainer/models/decoder.h"

namespace vramscope::trainer {

inline constexpr std::string_view kEvenRouting =
    "tokens are distributed evenly over the experts: with k experts chosen for each token, each "
    "expert gets tokens x k / experts";

inline constexpr int64_t kMaxExperts = 4096;

// Fails if the config adds an auxiliary loss to balance the experts' load.
void RefuseRouterLoss(run::ConfigReader& reader);

class SparseMoe : public FeedForward {
 public:
  struct Options {
    int64_t experts = 0;
    int64_t chosen = 0;      // experts for each token
    int64_t inner = 0;       // width of an expert
    bool normalized = true;  // the weights of the chosen experts sum to 1
    GatedMlp::Names names = {};
  };
  SparseMoe(std::string name, const DecoderConfig& config, const ModelOptions& options,
            const Options& form);
  at::Tensor Run(const at::Tensor& x, at::Tensor& router_logits) override;

 private:
  Options form_;
  Linear gate_;
  std::vector<std::unique_ptr<GatedMlp>> experts_;
};

}  // namespace vramscope::trainer
