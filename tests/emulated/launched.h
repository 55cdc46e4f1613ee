// Parameters of a launch, for tests of the rules that look at them.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace vramscope::emulated {

// Addresses of a card are whatever is large; a is 1 << 40 and so on.
inline uint64_t At(char name) { return uint64_t{1} << 40 | static_cast<uint64_t>(name) << 20; }

// Each of so many bytes, filled with what a launch before left over.
template <class Self>
class LaunchedWith {
 public:
  explicit LaunchedWith(std::vector<uint16_t> sizes) : sizes_(std::move(sizes)) {
    for (const uint16_t size : sizes_) {
      std::vector<uint64_t>& words = held_.emplace_back((size + 7) / 8, 0);
      if (size > 8)
        for (uint64_t& word : words) word = At('?');
    }
    for (std::vector<uint64_t>& words : held_) parameters_.push_back(words.data());
  }
  template <class T>
  Self& Put(size_t parameter, size_t at, T value) {
    std::memcpy(reinterpret_cast<char*>(held_[parameter].data()) + at, &value, sizeof value);
    return static_cast<Self&>(*this);
  }
  Self& Put(size_t parameter, size_t at, char name) { return Put(parameter, at, At(name)); }
  const std::vector<uint16_t>& sizes() const { return sizes_; }
  void** parameters() { return parameters_.data(); }

 private:
  std::vector<uint16_t> sizes_;
  std::vector<std::vector<uint64_t>> held_;
  std::vector<void*> parameters_;
};

}  // namespace vramscope::emulated
