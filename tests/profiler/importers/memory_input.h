// An InputStream that reads from memory, the given number of bytes at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "profiler/trace/input.h"

namespace vramscope::importers::testing {

class MemoryInput : public trace::InputStream {
 public:
  explicit MemoryInput(std::string bytes, size_t piece = size_t{1} << 20,
                       std::function<void(uint64_t at)> before_read = {})
      : bytes_(std::move(bytes)), piece_(piece), before_read_(std::move(before_read)) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (before_read_) before_read_(at_);
    const size_t n = std::min({size, piece_, bytes_.size() - at_});
    std::memcpy(out, bytes_.data() + at_, n);
    at_ += n;
    return n;
  }
  uint64_t consumed() const override { return at_; }
  uint64_t total() const override { return bytes_.size(); }
  bool compressed() const override { return false; }

 private:
  const std::string bytes_;
  const size_t piece_;
  const std::function<void(uint64_t)> before_read_;
  size_t at_ = 0;
};

}  // namespace vramscope::importers::testing
