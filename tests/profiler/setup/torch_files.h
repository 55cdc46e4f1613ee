// Creates archives and folders that look like PyTorch's wheels. Also creates hostile archives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vramscope::setup::testing {

// A folder that is deleted with the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void Write(const std::filesystem::path& path, const std::string& content);
std::string Read(const std::filesystem::path& path);

struct ZipFile {
  std::string name, content;
  uint32_t mode = 0100644;  // S_IFREG and permissions
  bool deflated = false;
  bool encrypted = false;
  uint16_t method = 0;         // if not 0, replaces the compression method that `deflated` implies
  int64_t stated_bytes = -1;   // unpacked size in the directory; -1: the true size
  int64_t stated_crc = -1;     // CRC in the directory; -1: the true CRC
  int64_t stated_header = -1;  // header's offset in the directory; -1: the true offset
  bool no_data = false;        // the file is only in the directory
};
std::string MakeZip(const std::vector<ZipFile>& files, bool zip64 = false);

// Returns the first bytes of an x86-64 shared library, followed by `more` other bytes.
std::string FakeLibrary(size_t more = 100);
// The files of torch/ that CheckTorch checks.
std::vector<ZipFile> TorchFiles(const std::string& version = "2.11.0+cu130",
                                const std::string& cuda = "'13.0'");
void WriteTorch(const std::filesystem::path& packages, const std::string& version = "2.11.0+cu130",
                const std::string& cuda = "'13.0'");

}  // namespace vramscope::setup::testing
