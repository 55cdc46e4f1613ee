// Simulates how peft and bitsandbytes train LoRA on a 4-bit base model with the sizes of TinyLlama.
// Weights are uint8 and have half a byte per element, a quantised absmax, and the absmax with which
// that absmax is quantised. Norms and embeddings are fp32 (prepare_model_for_kbit_training). Each
// projection has adapters A and B. Each matrix product, in forward and backward, dequantises its
// weight into a temporary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/profiler/inference/made.h"

namespace vramscope::testing {

class Qlora {
 public:
  struct Options {
    uint32_t layers = 22, rank = 16;
    uint64_t tokens = 512;
    bool checkpointing = false;
    bool recorded_from_start = false;
  };
  explicit Qlora(const Options& options);  // loads the model, then starts recording

  void Forward();
  void Backward();
  void OptimizerStep();  // AdamW, foreach
  void ZeroGrad();       // frees the gradients
  void Train(int steps);
  void Generate(int passes);  // forward only, nothing is saved

  Program& program() { return p_; }
  uint64_t AdapterBytes() const;  // bytes of all A and B

 private:
  struct Linear {
    std::string name;
    uint64_t in, out;
    uint32_t a, b;  // rows of adapters_
  };
  struct Adapter {
    uint64_t bytes;
    uint32_t parameter = 0, gradient = UINT32_MAX, moments[2] = {UINT32_MAX, UINT32_MAX};
  };
  struct Layer {
    std::vector<Linear> linears;
  };

  void Load();
  uint32_t Dequantised(const Linear& linear, const MadeStack& around);
  // Runs a layer's forward. If `save`, returns all blocks that it saves for backward. Otherwise,
  // returns its last few blocks, which are still allocated.
  std::vector<uint32_t> LayerForward(uint32_t layer, bool save, const MadeStack& around);
  void LayerBackward(uint32_t layer, std::vector<uint32_t> saved);
  void Gradient(uint32_t adapter, const MadeStack& around);
  trace::Category Saved(bool save) const {
    return save ? trace::Category::kActivation : trace::Category::kTemporary;
  }

  const Options o_;
  Program p_;
  std::vector<Layer> layers_;
  std::vector<Adapter> adapters_;
  std::vector<std::vector<uint32_t>> saved_;  // indexed by layer
  std::vector<uint32_t> head_;                // saved after the layers
  uint32_t loss_ = UINT32_MAX, batch_[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
};

}  // namespace vramscope::testing
