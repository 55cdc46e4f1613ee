// Settings of the caching allocator: single keys of PYTORCH_CUDA_ALLOC_CONF, which libc10 reads.
// This file declares their names; ParseAllocConf checks their limits.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
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
           .explanation =
               "What PYTORCH_CUDA_ALLOC_CONF says: how blocks are cut, sizes rounded and cached "
               "segments given back. The requests stay the same; what is reserved for them does "
               "not.",
           .settings =
               {Setting("max_split_size_mb",
                        "blocks from this size on are not cut, in MiB; empty: all are",
                        "MiB and more"),
                Setting("max_non_split_rounding_mb",
                        "how much larger than asked for a block that is not cut may be, in MiB; "
                        "empty: 20",
                        "slack, MiB"),
                Setting("roundup_power2_divisions",
                        "sizes are rounded up to a part of their power of two: \"4\", or by size "
                        "\"[256:1,512:2,>:8]\"; empty: to 512 bytes",
                        "divisions"),
                Setting("garbage_collection_threshold",
                        "cached segments that were not used for long are given back from this "
                        "part of the allowed memory on (needs per_process_memory_fraction); "
                        "empty: never",
                        "from"),
                Setting("per_process_memory_fraction",
                        "the part of the card's memory that may be taken; empty: all", "part")},
           .toggles = {Row("split-limit", "Large blocks are not cut",
                           "what is freed of them stays whole, for the next of its size",
                           "max_split_size_mb", "128",
                           {"alloc.max_split_size_mb", "alloc.max_non_split_rounding_mb"}),
                       Row("rounded-sizes", "Sizes rounded to parts of a power of two",
                           "fewer different sizes: blocks are used again sooner, a little larger",
                           "roundup_power2_divisions", "4", {"alloc.roundup_power2_divisions"}),
                       Row("collected-segments", "Cached segments are collected",
                           "given back when they were idle for long and memory is short",
                           "garbage_collection_threshold", "0.8",
                           {"alloc.garbage_collection_threshold"}),
                       Row("memory-fraction", "A part of the card",
                           "a request beyond it fails as on a smaller card",
                           "per_process_memory_fraction", "0.8",
                           {"alloc.per_process_memory_fraction"})},
           .rules = {{.when = {{"backend", true, {"cpu"}},
                               {"alloc.max_split_size_mb", false, {""}}},
                      .why = "the caching allocator is CUDA's: the CPU has none",
                      .refuses = false},
                     {.when = {{"backend", true, {"cpu"}},
                               {"alloc.roundup_power2_divisions", false, {""}}},
                      .why = "the caching allocator is CUDA's: the CPU has none",
                      .refuses = false},
                     {.when = {{"backend", true, {"cpu"}},
                               {"alloc.garbage_collection_threshold", false, {""}}},
                      .why = "the caching allocator is CUDA's: the CPU has none",
                      .refuses = false},
                     {.when = {{"backend", true, {"cpu"}},
                               {"alloc.per_process_memory_fraction", false, {""}}},
                      .why = "the caching allocator is CUDA's: the CPU has none",
                      .refuses = false}}},
      .order = 90,
      .make = nullptr};
}

}  // namespace vramscope::trainer
