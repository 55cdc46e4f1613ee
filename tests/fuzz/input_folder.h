// A folder for inputs of readers that can only read files. It is in memory if possible, and is
// deleted when the process ends.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::fuzz {

class InputFolder {
 public:
  InputFolder();
  ~InputFolder();
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  // Writes a file and returns its path. `name` may contain subfolders.
  std::string Write(const std::string& name, std::string_view bytes) const;
  // Deletes the contents of the folder.
  void Clear() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const InputFolder& TheFolder();

}  // namespace vramscope::fuzz
