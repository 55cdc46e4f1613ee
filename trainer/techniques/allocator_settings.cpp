// Settings of the caching allocator: single keys of PYTORCH_CUDA_ALLOC_CONF, which libc10 reads.
// This file declares their names; ParseAllocConf checks their limits.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer::allocator_settings_technique {
namespace {

run::SettingDeclaration Setting(const std::string& name, std::string help, std::string label) {
  return {.key = "alloc." + name,
          .help = std::move(help),
          .kind = run::ValueKind::kText,
          .default_value = "",
          .format = name,
          .label = std::move(label)};
}

run::Toggle Row(std::string id, std::string title, std::string explanation, const std::string& name,
                const std::string& value, std::vector<std::string> controls) {
  const std::string key = "alloc." + name;
  return {.id = std::move(id),
          .title = std::move(title),
          .explanation = std::move(explanation),
          .on = {{key, false, {""}}},
          .ways = {{{key, value}}},
          .controls = std::move(controls)};
}

}  // namespace

TechniqueEntry DeclareTechnique_allocator_settings() {
  return {
      .declaration =
          {.id = "allocator-settings",
           .group = "Allocator",
           .title = "Allocator settings",
           .explanation = "These settings of PYTORCH_CUDA_ALLOC_CONF control how blocks are split, "
                          "how sizes are rounded, and when cached segments are released. The "
                          "requested sizes stay the same, but the reserved memory changes.",
           .settings =
               {Setting("max_split_size_mb",
                        "smallest size, in MiB, of blocks that are not split; empty: all blocks "
                        "are split",
                        "limit, MiB"),
                Setting("max_non_split_rounding_mb",
                        "number of MiB by which an unsplit block may be larger than its request; "
                        "empty: 20",
                        "excess, MiB"),
                Setting("roundup_power2_divisions",
                        "number of divisions between two powers of two. Sizes are rounded up to "
                        "these divisions. The value is one number (\"4\"), or a number for each "
                        "range of sizes (\"[256:1,512:2,>:8]\"). Empty: sizes are rounded up to "
                        "multiples of 512 bytes",
                        "divisions"),
                Setting("garbage_collection_threshold",
                        "fraction of the allowed memory (needs per_process_memory_fraction). If "
                        "more than this fraction is used, cached segments that were unused for "
                        "long are released. Empty: never",
                        "from"),
                Setting("per_process_memory_fraction",
                        "fraction of the GPU's memory that may be used; empty: all", "fraction")},
           .toggles =
               {Row("split-limit", "Do not split large blocks",
                    "freed blocks stay whole for the next allocation of their size",
                    "max_split_size_mb", "128",
                    {"alloc.max_split_size_mb", "alloc.max_non_split_rounding_mb"}),
                Row("rounded-sizes", "Round sizes to fractions of a power of two",
                    "fewer different sizes; blocks are slightly larger, but are reused sooner",
                    "roundup_power2_divisions", "4", {"alloc.roundup_power2_divisions"}),
                Row("collected-segments", "Release unused cached segments",
                    "when memory is short, releases segments that were unused for long",
                    "garbage_collection_threshold", "0.8", {"alloc.garbage_collection_threshold"}),
                Row("memory-fraction", "Limit to a fraction of the GPU's memory",
                    "allocations beyond this limit fail, as on a smaller GPU",
                    "per_process_memory_fraction", "0.8", {"alloc.per_process_memory_fraction"})},
           .rules = {{.when = {{"backend", true, {"cpu"}},
                               {"alloc.max_split_size_mb", false, {""}}},
                      .why = "the CPU has no caching allocator",
                      .refuses = false},
                     {.when = {{"backend", true, {"cpu"}},
                               {"alloc.roundup_power2_divisions", false, {""}}},
                      .why = "the CPU has no caching allocator",
                      .refuses = false},
                     {.when = {{"backend", true, {"cpu"}},
                               {"alloc.garbage_collection_threshold", false, {""}}},
                      .why = "the CPU has no caching allocator",
                      .refuses = false},
                     {.when = {{"backend", true, {"cpu"}},
                               {"alloc.per_process_memory_fraction", false, {""}}},
                      .why = "the CPU has no caching allocator",
                      .refuses = false}}},
      .order = 90,
      .make = nullptr};
}

}  // namespace vramscope::trainer::allocator_settings_technique
