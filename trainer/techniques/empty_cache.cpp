// After each step, calls torch.cuda.empty_cache(), which returns unused segments to the driver.
#include <ATen/DeviceAccelerator.h>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class EmptyCache final : public Technique {
 public:
  void AfterStep(const RunContext& run, int) override {
    if (!run.device.is_cpu()) at::accelerator::emptyCache();
  }
};

}  // namespace

TechniqueEntry DeclareTechnique_empty_cache() {
  return {.declaration =
              {.id = "empty-cache",
               .group = "Allocator",
               .title = "empty_cache",
               .explanation =
                   "Unused segments are released to the driver after each step. The peak does not "
                   "change. Other processes can use the memory in between. The next step allocates "
                   "from the driver again, and these allocations wait for the GPU.",
               .settings = {{.key = "empty_cache",
                             .help = "torch.cuda.empty_cache() after each step",
                             .kind = run::ValueKind::kChoice,
                             .default_value = "never",
                             .choices = {{"never", ""}, {"step", "after each step"}}}},
               .toggles = {{.id = "empty-cache",
                            .title = "Empty the cache each step",
                            .explanation = "unused segments are released to the driver",
                            .on = {{"empty_cache", true, {"step"}}},
                            .ways = {{{"empty_cache", "step"}}}}}},
          .order = 90,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (!config.Is("empty_cache", "step")) return nullptr;
            return std::make_unique<EmptyCache>();
          }};
}

}  // namespace vramscope::trainer
