// An InputStream that reads from a text, the given number of bytes at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "profiler/trace/input.h"

namespace vramscope::importers {

class TextInput : public trace::InputStream {
 public:
  explicit TextInput(std::string text, size_t chunk = 1 << 16)
      : text_(std::move(text)), chunk_(chunk) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t n = std::min({size, chunk_, text_.size() - at_});
    std::memcpy(out, text_.data() + at_, n);
    at_ += n;
    return n;
  }
  uint64_t consumed() const override { return at_; }
  uint64_t total() const override { return text_.size(); }
  bool compressed() const override { return false; }

 private:
  std::string text_;
  size_t chunk_;
  size_t at_ = 0;
};

}  // namespace vramscope::importers
