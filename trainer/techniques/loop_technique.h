// A technique that changes the loop itself: it may change the shapes of batches, replace training
// steps, or do work before the first step and after the last.
//
//   class Generation final : public LoopTechnique {
//     bool InsteadOfStep(const RunContext& run, const LoopAccess& loop) override { ... }
//   };
//
// Called on the loop's thread, like any technique.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

struct BatchShape {
  int64_t rows = 1;
  int64_t seq = 1;  // tokens per sample
};

// Functions of the loop for a technique that calls the model itself.
struct LoopAccess {
  // Creates the scopes of all techniques around a forward pass.
  std::function<std::vector<std::unique_ptr<Held>>()> hold;
  // Reports the completed share of the technique's work (0 to 1). Throws if the complete work is
  // expected to have too many events.
  std::function<void(double share)> done;
};

class LoopTechnique : public Technique {
 public:
  // Returns the shape of a micro-batch. `micro_batch` counts from the first step on.
  virtual BatchShape ShapeOf(BatchShape shape, int64_t micro_batch) const {
    static_cast<void>(micro_batch);
    return shape;
  }
  // Called before the first step. The optimizer is null if nothing is trained.
  virtual void BeforeTraining(const RunContext&, Optimizer*) {}
  // Runs the technique's own work in place of a step. Returns false if it has none.
  virtual bool InsteadOfStep(const RunContext&, const LoopAccess&) { return false; }
  // Called after the last step and evaluation.
  virtual void AfterSteps(const RunContext&, const LoopAccess&) {}
};

}  // namespace vramscope::trainer
