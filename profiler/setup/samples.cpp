#include "profiler/setup/samples.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "profiler/base/install_paths.h"
#include "profiler/program/folder_entries.h"
#include "profiler/trace/outline.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;

// The number of files is limited, because $VRAMSCOPE_SAMPLES may be any folder.
constexpr size_t kMostSamples = 1000;

}  // namespace

std::string SamplesFolder() {
  if (const char* set = std::getenv("VRAMSCOPE_SAMPLES"); set != nullptr) return set;
  const base::InstallPaths& own = base::OwnPaths();
  // In a build tree, the program is build/PRESET/bin/vramscope in the source tree.
  const fs::path folder = own.installed
                              ? own.share / "vramscope/samples"
                              : own.vramscope.parent_path() / "../../../resources/samples";
  std::error_code none;
  return fs::is_directory(folder, none) ? fs::weakly_canonical(folder, none).string() : "";
}

Samples Samples::In(const std::string& folder) {
  Samples out;
  if (folder.empty()) return out;
  program::ForEachEntry(folder, [&](const fs::directory_entry& entry) {
    if (entry.path().extension() != ".trace" || out.files_.size() >= kMostSamples) return;
    const absl::StatusOr<trace::Outline> outline = trace::ReadOutline(entry.path().string());
    if (!outline.ok() || !outline->info.has_config) return;
    out.files_.emplace(run::ToProtoBytes(outline->info.config), entry.path().string());
  });
  return out;
}

const std::string* Samples::Find(const run::RunConfig& config) const {
  const auto at = files_.find(run::ToProtoBytes(config));
  return at == files_.end() ? nullptr : &at->second;
}

std::vector<std::string> Samples::Files() const {
  std::vector<std::string> out;
  for (const auto& [key, file] : files_) out.push_back(file);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace vramscope::setup
