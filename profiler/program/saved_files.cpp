#include "profiler/program/saved_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

// Whether the file is a binary, such as the interpreter. Users do not edit binaries.
bool IsBinary(const fs::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) ==
         "\x7f"
         "ELF";
}

}  // namespace

void SavedFiles::Add(const std::string& path) {
  std::error_code none;
  const fs::path real = fs::canonical(path, none);
  if (none || !fs::is_regular_file(real, none) || IsBinary(real)) return;
  facts_.emplace(real.string(), FactsOf(real.string()));
}

void SavedFiles::AddNamedIn(const std::vector<std::string>& command, const std::string& folder) {
  const auto add = [&](const std::string& word) { Add((fs::path(folder) / word).string()); };
  for (const std::string& word : command) {
    // The first word is the interpreter, unless it is the script itself.
    if (&word != &command.front() || word.ends_with(".py")) add(word);
    if (const size_t equals = word.find('='); equals != std::string::npos)
      add(word.substr(equals + 1));
  }
}

bool SavedFiles::Any() const {
  return std::ranges::any_of(facts_, [](const auto& one) { return IsSaved(one); });
}

std::vector<std::string> SavedFiles::Take() {
  std::vector<std::string> saved;
  for (auto& one : facts_) {
    if (!IsSaved(one)) continue;
    one.second = FactsOf(one.first);
    saved.push_back(one.first);
  }
  return saved;
}

std::vector<std::string> SavedFiles::Paths() const {
  std::vector<std::string> paths;
  for (const auto& one : facts_) paths.push_back(one.first);
  return paths;
}

std::optional<SavedFiles::Facts> SavedFiles::FactsOf(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return Facts{facts.st_ino, static_cast<uint64_t>(facts.st_size),
               facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

bool SavedFiles::IsSaved(const std::pair<const std::string, std::optional<Facts>>& one) {
  const std::optional<Facts> now = FactsOf(one.first);
  return now && now != one.second;
}

}  // namespace vramscope::program
