// A technique that takes a hand in the loop itself: batches of other shapes, steps that are
// something else than training steps, what comes before the first step and after the last.
//
//   class Generation final : public LoopTechnique {
//     bool InsteadOfStep(const RunContext& run, const LoopAccess& loop) override { ... }
//   };
//
// On the loop's thread, as any technique.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

struct BatchShape {
  int64_t rows = 1;
  int64_t seq = 1;  // tokens of each
};

// What the loop hands to a technique that calls the model by itself.
struct LoopAccess {
  // What all techniques hold around a forward pass.
  std::function<std::vector<std::unique_ptr<Held>>()> hold;
  // So much of the technique's work is done, of 1; throws where the whole would be too long.
  std::function<void(double share)> done;
};

class LoopTechnique : public Technique {
 public:
  // Of the micro-batch of that number, counted from the first step on.
  virtual BatchShape ShapeOf(BatchShape shape, int64_t micro_batch) const {
    static_cast<void>(micro_batch);
    return shape;
  }
  // Before the first step; null: nothing is trained.
  virtual void BeforeTraining(const RunContext&, Optimizer*) {}
  // A step that is something else than a training step or a pass: true if it was made.
  virtual bool InsteadOfStep(const RunContext&, const LoopAccess&) { return false; }
  // The last step is done, and evaluation with it.
  virtual void AfterSteps(const RunContext&, const LoopAccess&) {}
};

}  // namespace vramscope::trainer
