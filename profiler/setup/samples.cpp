#include "profiler/setup/samples.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "profiler/program/folder_entries.h"
#include "profiler/trace/outline.h"

namespace vramscope::setup {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSamples = 1000;  // of a folder that somebody names

// Where a program finds what is installed with it.
std::vector<fs::path> BesideTheProgram() {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  if (none) return {};
  return {folder / "../share/vramscope/samples",     // installed, of a program in bin/
          folder / "../../share/vramscope/samples",  // and of one in lib/vramscope/
          folder / "../../../resources/samples"};    // build/PRESET/bin of the source tree
}

}  // namespace

std::string SamplesFolder() {
  if (const char* set = std::getenv("VRAMSCOPE_SAMPLES"); set != nullptr) return set;
  std::error_code none;
  for (const fs::path& folder : BesideTheProgram())
    if (fs::is_directory(folder, none)) return fs::weakly_canonical(folder, none).string();
  return "";
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
