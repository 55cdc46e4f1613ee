#include "tests/fuzz/input_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

InputFolder::InputFolder() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  path_ = (std::filesystem::is_directory(memory, none) ? memory
                                                       : std::filesystem::temp_directory_path()) /
          "vramscope-fuzz-XXXXXX";
  Check(mkdtemp(path_.data()) != nullptr, "no folder for the input");
}

InputFolder::~InputFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

std::string InputFolder::Write(const std::string& name, std::string_view bytes) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::error_code none;
  std::filesystem::create_directories(path.parent_path(), none);
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  Check(out.good(), "the input cannot be written");
  return path;
}

void InputFolder::Clear() const {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(path_, none))
    std::filesystem::remove_all(entry.path(), none);
}

const InputFolder& TheFolder() {
  static const InputFolder folder;
  return folder;
}

}  // namespace vramscope::fuzz
