// A feed-forward part of many experts, of which a router chooses some for each token, as
// transformers writes it: a loop over the experts, each given its tokens by index.
//
// Who gets which token is computed. Where nothing is computed (the emulated platform) every expert
// is taken to get as many as the others: kEvenRouting is what a family then assumes.
//
//   SparseMoe moe("block_sparse_moe", config, options, {.experts = 8, .chosen = 2, .inner =
//   14336}); at::Tensor router_logits;                      // the layer's frame keeps them hidden
//   = moe.Run(hidden, router_logits);
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
    "tokens go to experts evenly (each expert gets tokens x chosen / experts)";

inline constexpr int64_t kMaxExperts = 4096;

// Fails where the file has a loss added that keeps the experts evenly busy.
void RefuseRouterLoss(run::ConfigReader& reader);

class SparseMoe : public FeedForward {
 public:
  struct Options {
    int64_t experts = 0;
    int64_t chosen = 0;      // of them, for each token
    int64_t inner = 0;       // width of an expert
    bool normalized = true;  // the chosen ones' weights sum to 1
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
