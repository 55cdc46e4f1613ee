// Gradient accumulation: several passes for one batch before the optimizer step. The loop
// implements this; the file only declares the technique's name and settings.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

TechniqueEntry DeclareTechnique_accumulation() {
  return {
      .declaration =
          {.id = "accumulation",
           .group = "Gradients",
           .title = "Gradient accumulation",
           .explanation = "If a batch is split into k passes, only 1/k of the activations is "
                          "kept at a time. Gradients stay in memory during all passes.",
           .toggles = {{.id = "accumulate",
                        .title = "Accumulate gradients",
                        .explanation = "split the batch into smaller passes",
                        .on = {{"micro_batches", false, {"1"}}},
                        .ways = {{{"micro_batches", "4"}},
                                 {{"micro_batches", "3"}},
                                 {{"micro_batches", "2"}}},
                        .off = {{"micro_batches", "1"}}}},
           .rules = {{.when = {{"batch.divides", true, {"false"}}},
                      .why =
                          "a batch of {batch} samples can't be split into 2, 3 or 4 equal passes",
                      .refuses = false}}},
      .fit = {{.row = "accumulate", .doubles = "micro_batches"}},
      .order = 60,
      .make = nullptr};
}

}  // namespace vramscope::trainer
