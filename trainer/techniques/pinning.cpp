// Keeps batches in page-locked host memory, as a DataLoader with pin_memory=True does. GPU memory
// does not change, but copies to the GPU may overlap with computation.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class Pinning final : public Technique {
 public:
  bool pins_batches() const override { return true; }
};

}  // namespace

TechniqueEntry DeclareTechnique_pinning() {
  return {.declaration = {.id = "pinning",
                          .group = "Data",
                          .title = "Pinned batches",
                          .explanation = "Batches are in page-locked host memory, so their copies "
                                         "are asynchronous. GPU memory does not change.",
                          .settings = {{.key = "pin_memory",
                                        .help = "batches in page-locked host memory",
                                        .kind = run::ValueKind::kChoice,
                                        .default_value = "false",
                                        .choices = {{"false", ""}, {"true", ""}}}},
                          .toggles = {{.id = "pin-memory",
                                       .title = "Pin batches",
                                       .explanation =
                                           "page-locked host memory; GPU memory does not change",
                                       .on = {{"pin_memory", true, {"true"}}},
                                       .ways = {{{"pin_memory", "true"}}}}}},
          .order = 71,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (!config.Is("pin_memory", "true")) return nullptr;
            return std::make_unique<Pinning>();
          }};
}

}  // namespace vramscope::trainer
