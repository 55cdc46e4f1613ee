// A column of a table in a fraction of its bytes: every run of 512 values keeps once what they have
// in common (the least of them, their lowest zero bits), and of each what is left in as few bits as
// the run needs. Reads as a const std::vector, by value; grows at its end only.
//
//   PackedColumn<int64_t> time_ns;
//   time_ns.push_back(5);
//   int64_t first = time_ns[0];
//   PackedColumn<int64_t> picture = time_ns;  // shares all full runs
//
// Any number of threads may read while nobody writes; copies are independent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace vramscope::trace {

// 512 numbers, or fewer at the end of a column. Immutable; copies share the bytes.
class PackedRun {
 public:
  static constexpr size_t kValues = 512;

  // At most kValues. `is_signed`: as two's complement.
  PackedRun(std::span<const uint64_t> values, bool is_signed);
  uint64_t operator[](size_t i) const {
    const size_t bit = i * bits_;
    uint64_t word;
    std::memcpy(&word, bytes_.get() + bit / 8, sizeof word);
    return base_ + ((word >> bit % 8 & mask_) << shift_);
  }
  size_t MemoryBytes() const;

 private:
  static_assert(std::endian::native == std::endian::little);
  std::shared_ptr<const uint8_t[]> bytes_;
  uint64_t base_ = 0, mask_ = 0;
  uint8_t bits_ = 0;   // of a value: at most 57, so that eight bytes hold it wherever it begins; 64
  uint8_t shift_ = 0;  // zero bits that all have in common above base_
};

// T: an integer, an enumeration, or an Id and the like with one member `value`.
template <class T>
class PackedColumn {
 public:
  using value_type = T;
  class const_iterator;
  using iterator = const_iterator;

  PackedColumn() = default;
  template <class Iterator>
  PackedColumn(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  size_t size() const { return runs_.size() * PackedRun::kValues + open_.size(); }
  bool empty() const { return runs_.empty() && open_.empty(); }
  T operator[](size_t i) const {
    const size_t run = i / PackedRun::kValues;
    return run < runs_.size() ? FromBits(runs_[run][i % PackedRun::kValues])
                              : open_[i % PackedRun::kValues];
  }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size() - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, static_cast<std::ptrdiff_t>(size())}; }

  void reserve(size_t n) { runs_.reserve(n / PackedRun::kValues); }
  void clear() { *this = {}; }
  void push_back(T value) {
    open_.push_back(value);
    if (open_.size() == PackedRun::kValues) Close();
  }
  void Append(std::span<const T> values) {
    while (!values.empty()) {
      const size_t n = std::min(values.size(), PackedRun::kValues - open_.size());
      open_.insert(open_.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
      if (open_.size() == PackedRun::kValues) Close();
      values = values.subspan(n);
    }
  }
  // Only to more rows; the new ones are zero.
  void resize(size_t n) {
    while (size() < n) push_back(T{});
  }
  size_t MemoryBytes() const {
    size_t bytes = runs_.capacity() * sizeof(PackedRun) + open_.capacity() * sizeof(T);
    for (const PackedRun& run : runs_) bytes += run.MemoryBytes();
    return bytes;
  }

  friend bool operator==(const PackedColumn& a, const PackedColumn& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  static uint64_t ToBits(T value) {
    if constexpr (requires { value.value; })
      return value.value;
    else
      return static_cast<uint64_t>(value);  // a sign is carried on
  }
  static T FromBits(uint64_t bits) {
    if constexpr (requires(T value) { value.value; })
      return T{static_cast<decltype(T::value)>(bits)};
    else
      return static_cast<T>(bits);
  }
  void Close() {
    std::array<uint64_t, PackedRun::kValues> values;
    std::ranges::transform(open_, values.begin(), ToBits);
    runs_.emplace_back(values, std::is_signed_v<T>);
    open_.clear();
  }

  std::vector<PackedRun> runs_;  // full ones
  std::vector<T> open_;          // what comes behind them, fewer than a run
};

template <class T>
class PackedColumn<T>::const_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = T;

  const_iterator() = default;
  const_iterator(const PackedColumn* column, std::ptrdiff_t at) : column_(column), at_(at) {}
  T operator*() const { return (*column_)[static_cast<size_t>(at_)]; }
  T operator[](std::ptrdiff_t n) const { return *(*this + n); }
  const_iterator& operator+=(std::ptrdiff_t n) {
    at_ += n;
    return *this;
  }
  const_iterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
  const_iterator& operator++() { return *this += 1; }
  const_iterator& operator--() { return *this -= 1; }
  const_iterator operator++(int) { return {column_, at_++}; }
  const_iterator operator--(int) { return {column_, at_--}; }
  friend const_iterator operator+(const_iterator i, std::ptrdiff_t n) { return i += n; }
  friend const_iterator operator+(std::ptrdiff_t n, const_iterator i) { return i += n; }
  friend const_iterator operator-(const_iterator i, std::ptrdiff_t n) { return i -= n; }
  friend std::ptrdiff_t operator-(const_iterator a, const_iterator b) { return a.at_ - b.at_; }
  friend bool operator==(const_iterator a, const_iterator b) { return a.at_ == b.at_; }
  friend auto operator<=>(const_iterator a, const_iterator b) { return a.at_ <=> b.at_; }

 private:
  const PackedColumn* column_ = nullptr;
  std::ptrdiff_t at_ = 0;
};

}  // namespace vramscope::trace
