// Watches the files of a program, which is planned again whenever one of them is saved.
//
//   SavedFiles files;
//   files.AddNamedIn({"python", "train.py", "--config=a.yaml"}, folder);
//   while (files.Take().empty()) Wait();
//
// Not thread-safe. Reads the file system.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vramscope::program {

// If a file is missing, an editor is assumed to be saving it at this moment.
class SavedFiles {
 public:
  // Ignores folders, binaries, files that do not exist, and files that it already has.
  void Add(const std::string& path);
  // Adds the script and the files that its arguments name. `folder`: where the command starts; "":
  // the current folder.
  void AddNamedIn(const std::vector<std::string>& command, const std::string& folder);
  bool Any() const;  // whether a file has been saved
  // Returns the files saved since the last call.
  std::vector<std::string> Take();
  std::vector<std::string> Paths() const;

 private:
  struct Facts {
    uint64_t inode = 0, size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Facts&) const = default;
  };
  static std::optional<Facts> FactsOf(const std::string& path);
  static bool IsSaved(const std::pair<const std::string, std::optional<Facts>>& one);

  std::map<std::string, std::optional<Facts>> facts_;
};

}  // namespace vramscope::program
