// Expandable segments: a key of PYTORCH_CUDA_ALLOC_CONF, which libc10 reads. This file declares its
// name and switch.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

TechniqueEntry DeclareTechnique_expandable_segments() {
  const std::string conf = "expandable_segments:True";
  return {.declaration =
              {.id = "expandable-segments",
               .group = "Allocator",
               .title = "Expandable segments",
               .explanation =
                   "A segment grows by pages of 2 or 20 MiB where its end is wanted, instead of "
                   "another one being asked for: less is held between blocks.",
               .toggles = {{.id = "expandable-segments",
                            .title = "Expandable segments",
                            .explanation = "segments grow: less is held between blocks",
                            .on = {{"alloc_conf", true, {conf}}},
                            .ways = {{{"alloc_conf", conf}}},
                            .off = {{"alloc_conf", ""}}}},
               .rules = {{.when = {{"backend", true, {"cpu"}}, {"alloc_conf", true, {conf}}},
                          .why = "the caching allocator is CUDA's: the CPU has none",
                          .refuses = false}}},
          .fit = {{.row = "expandable-segments"}},
          .order = 89,
          .make = nullptr};
}

}  // namespace vramscope::trainer
