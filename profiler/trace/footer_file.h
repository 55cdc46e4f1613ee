// Frames at known places of a file. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"

namespace vramscope::trace {

class FooterFile {
 public:
  explicit FooterFile(const std::string& path);  // "-" and what cannot be opened has nothing
  ~FooterFile();
  FooterFile(const FooterFile&) = delete;
  FooterFile& operator=(const FooterFile&) = delete;

  uint64_t bytes() const { return bytes_; }
  // The whole frame that begins there; nullopt: there is none.
  std::optional<Frame> At(uint64_t offset) const;
  // Bytes from there on, 0 at the end or where they cannot be read.
  size_t Read(uint64_t offset, char* out, size_t size) const;
  // Found from the file's end; nullopt when it has none that can be trusted.
  std::optional<Footer> FindFooter() const;

 private:
  int fd_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace vramscope::trace
