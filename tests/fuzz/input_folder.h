// A folder of this process for inputs of readers that take one, in memory where there is such a
// place; removed when the process ends.
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

  // Of `name`, which may lie in a folder within this one.
  std::string Write(const std::string& name, std::string_view bytes) const;
  // Nothing is in it then.
  void Clear() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const InputFolder& TheFolder();

}  // namespace vramscope::fuzz
