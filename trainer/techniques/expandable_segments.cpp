// Expandable segments: a key of PYTORCH_CUDA_ALLOC_CONF, which libc10 reads. This file declares the
// technique's name and setting.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {

TechniqueEntry DeclareTechnique_expandable_segments() {
  const std::string conf = "expandable_segments:True";
  return {
      .declaration = {.id = "expandable-segments",
                      .group = "Allocator",
                      .title = "Expandable segments",
                      .explanation =
                          "Instead of reserving another segment, the allocator extends a segment "
                          "by pages of 2 or 20 MiB. Less memory is lost in holes between blocks.",
                      .toggles = {{.id = "expandable-segments",
                                   .title = "Expandable segments",
                                   .explanation =
                                       "segments can grow, which leaves fewer holes between blocks",
                                   .on = {{"alloc_conf", true, {conf}}},
                                   .ways = {{{"alloc_conf", conf}}},
                                   .off = {{"alloc_conf", ""}}}},
                      .rules = {{.when = {{"backend", true, {"cpu"}}, {"alloc_conf", true, {conf}}},
                                 .why = "the CPU has no caching allocator",
                                 .refuses = false}}},
      .fit = {{.row = "expandable-segments"}},
      .order = 89,
      .make = nullptr};
}

}  // namespace vramscope::trainer
