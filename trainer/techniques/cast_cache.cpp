// Whether autocast caches its casts of weights: torch.autocast(cache_enabled=...).
#include <ATen/autocast_mode.h>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

// Disables the cache before the precision technique enters autocast. Entering autocast does not
// change this setting. A recomputation restores the setting together with autocast's type.
class NoCastCache final : public Technique {
 public:
  std::unique_ptr<Held> AroundForward(const RunContext&) override {
    return std::make_unique<Off>();
  }

 private:
  class Off final : public Held {
   public:
    Off() { at::autocast::set_autocast_cache_enabled(false); }
    ~Off() override { at::autocast::set_autocast_cache_enabled(was_); }

   private:
    const bool was_ = at::autocast::is_autocast_cache_enabled();
  };
};

}  // namespace

TechniqueEntry DeclareTechnique_cast_cache() {
  return {.declaration =
              {.id = "cast-cache",
               .group = "Precision",
               .title = "Autocast's cache",
               .explanation =
                   "Autocast keeps the 16-bit copy of each weight in a cache until the end of "
                   "forward, in case the weight is used again. So all copies exist at once, even "
                   "in evaluation and re-entrant checkpoints, where no graph keeps them. Without "
                   "the cache, each copy is freed after its matrix product.",
               .settings = {{.key = "cast_cache",
                             .help = "whether autocast keeps its casts of weights until the end of "
                                     "forward (torch.autocast's cache_enabled)",
                             .kind = run::ValueKind::kChoice,
                             .default_value = "true",
                             .choices = {{"true", ""}, {"false", ""}}}},
               .toggles = {{.id = "no-cast-cache",
                            .title = "Autocast without its cache",
                            .explanation = "each cast weight is freed after its matrix product",
                            .on = {{"cast_cache", true, {"false"}}},
                            .ways = {{{"cast_cache", "false"}, {"precision", "amp-bf16"}}}}},
               .rules = {{.when = {{"cast_cache", true, {"false"}},
                                   {"precision", false, {"amp-bf16", "amp-fp16"}}},
                          .why = "without autocast, weights are not cast: set precision=amp-bf16",
                          .instead = {{"precision", "amp-bf16"}},
                          .refuses = false}}},
          .order = 9,  // outside of autocast
          .place = 12,
          .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
            if (!config.Is("cast_cache", "false")) return nullptr;
            return std::make_unique<NoCastCache>();
          }};
}

}  // namespace vramscope::trainer
