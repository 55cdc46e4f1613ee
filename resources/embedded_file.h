// Text files of resources/ are compiled into the programs, so that a copied binary needs no
// files.
#pragma once

#include <span>
#include <string_view>

namespace vramscope::resources {

struct EmbeddedFile {
  std::string_view name;     // file name without its extension, "qwen2-0.5b"
  std::string_view content;  // the whole file
};

// Model presets (resources/models/*.json), device profiles (resources/devices/*.json), published
// experiments (resources/experiments/*.json), in alphabetical order. Static storage; thread-safe.
std::span<const EmbeddedFile> ModelFiles();
std::span<const EmbeddedFile> DeviceFiles();
std::span<const EmbeddedFile> ExperimentFiles();
// Each of these returns one file: resources/catalogue.json, resources/device_sources.json, and
// resources/libtorch.txt.
std::span<const EmbeddedFile> CatalogueFile();
std::span<const EmbeddedFile> DeviceSourcesFile();
std::span<const EmbeddedFile> WheelsFile();

}  // namespace vramscope::resources
