// Reads frames at known offsets of a file. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"

namespace vramscope::trace {

class FooterFile {
 public:
  explicit FooterFile(const std::string& path);  // for "-" and files that cannot be opened,
                                                 // all functions return nothing
  ~FooterFile();
  FooterFile(const FooterFile&) = delete;
  FooterFile& operator=(const FooterFile&) = delete;

  uint64_t bytes() const { return bytes_; }
  // Returns the frame that begins at `offset`, or nullopt if no whole frame begins there.
  std::optional<Frame> At(uint64_t offset) const;
  // Reads the bytes from `offset` on. Returns 0 at the end or on failure.
  size_t Read(uint64_t offset, char* out, size_t size) const;
  // Searches from the end of the file. Returns nullopt if there is no valid footer.
  std::optional<Footer> FindFooter() const;

 private:
  int fd_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace vramscope::trace
