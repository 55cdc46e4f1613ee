// A compressed column of a table. A run of 512 values stores two things once: the minimum, and the
// number of low bits that are zero in all differences from it. The other bits of each value take as
// few bits as the run needs. Reads like a const std::vector, by value. Suits columns that only grow
// at their end; shared_column.h suits rows that change.
//
//   PackedColumn<int64_t> time_ns;
//   time_ns.push_back(5);
//   int64_t first = time_ns[0];
//   PackedColumn<int64_t> copy = time_ns;  // shares all full runs
//
// Any number of threads may read while nobody writes; copies are independent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "profiler/trace/column_iterator.h"

namespace vramscope::trace {

// 512 unsigned numbers of at most 64 bits. Immutable; copies share the bytes.
class PackedRun {
 public:
  static constexpr size_t kValues = 512;

  // `values` points to kValues numbers. Unsigned is uint8_t, uint32_t or uint64_t.
  template <class Unsigned>
  explicit PackedRun(const Unsigned* values);
  uint64_t operator[](size_t i) const {
    const size_t bit = i * bits_;
    uint64_t word;
    std::memcpy(&word, bytes_.get() + bit / 8, sizeof word);
    return base_ + ((word >> bit % 8 & mask_) << shift_);
  }
  template <class Unsigned>
  void Decode(size_t first, size_t count, Unsigned* to) const;
  bool AllAlike() const { return bits_ == 0; }
  bool IsSame(const PackedRun& other) const {
    return bytes_.get() == other.bytes_.get() && base_ == other.base_;
  }
  size_t MemoryBytes() const;

 private:
  static_assert(std::endian::native == std::endian::little);
  std::shared_ptr<const uint8_t[]> bytes_;
  uint64_t base_ = 0, mask_ = 0;
  uint8_t bits_ = 0;   // per value: 64, or at most 57 so that 8 bytes contain any value
  uint8_t shift_ = 0;  // low bits that are zero in every value - base_
};

// T is an integer, an enumeration, or a struct like Id whose only member is `value`.
template <class T>
class PackedColumn {
 public:
  using value_type = T;
  using const_iterator = ColumnIterator<PackedColumn>;
  using iterator = const_iterator;
  static constexpr size_t kRun = PackedRun::kValues;

  PackedColumn() = default;
  template <class Iterator>
  PackedColumn(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  size_t size() const { return runs_.size() * kRun + open_.size(); }
  bool empty() const { return runs_.empty() && open_.empty(); }
  T operator[](size_t i) const {
    const size_t run = i / kRun;
    return run < runs_.size() ? FromBits(static_cast<Bits>(runs_[run][i % kRun]))
                              : FromBits(open_[i % kRun]);
  }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size() - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, static_cast<std::ptrdiff_t>(size())}; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }

  // Reads the rows [first, first + to.size()), which must exist. This takes half as long as reading
  // them one by one.
  void Read(size_t first, std::span<T> to) const {
    std::array<Bits, kRun> decoded;
    for (size_t done = 0; done < to.size();) {
      const size_t run = (first + done) / kRun, at = (first + done) % kRun;
      const size_t n = std::min(to.size() - done, kRun - at);
      const Bits* bits = decoded.data();
      if (run < runs_.size())
        runs_[run].Decode(at, n, decoded.data());
      else
        bits = open_.data() + at;
      for (size_t i = 0; i < n; ++i) to[done + i] = FromBits(bits[i]);
      done += n;
    }
  }

  void reserve(size_t n) { runs_.reserve(n / kRun); }
  void clear() { *this = {}; }
  void push_back(T value) {
    open_.push_back(ToBits(value));
    if (open_.size() == kRun) Close();
  }
  void Append(std::span<const T> values) {
    for (const T value : values) push_back(value);
  }
  // New rows are zero.
  void resize(size_t n) {
    while (size() < n) push_back(T{});
    if (n < runs_.size() * kRun) {
      const size_t run = n / kRun;
      open_.resize(kRun);
      runs_[run].Decode(0, kRun, open_.data());
      runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(run), runs_.end());
    }
    open_.resize(n % kRun);
  }
  // Appends the further rows of `longer`, which must begin with these rows. Shares full runs.
  void GrowTo(const PackedColumn& longer) {
    runs_.insert(runs_.end(), longer.runs_.begin() + static_cast<std::ptrdiff_t>(runs_.size()),
                 longer.runs_.end());
    open_ = longer.open_;
  }
  // Returns whether this column has grown from a copy of `earlier`, and so begins with its rows.
  // Compares the shared buffers, so equal values alone are not enough.
  bool SharesBegin(const PackedColumn& earlier) const {
    return earlier.runs_.size() <= runs_.size() && earlier.size() <= size() &&
           std::equal(earlier.runs_.begin(), earlier.runs_.end(), runs_.begin(),
                      [](const PackedRun& a, const PackedRun& b) { return a.IsSame(b); });
  }
  // Changes one row; repacks its whole run.
  void Set(size_t i, T value) {
    const size_t run = i / kRun;
    if (run >= runs_.size()) {
      open_[i % kRun] = ToBits(value);
      return;
    }
    std::array<Bits, kRun> decoded;
    runs_[run].Decode(0, kRun, decoded.data());
    decoded[i % kRun] = ToBits(value);
    runs_[run] = PackedRun(decoded.data());
  }
  // Replaces every row, in order, by to(row).
  template <class To>
  void Change(To to) {
    PackedColumn changed;
    changed.reserve(size());
    for (const T value : *this) changed.push_back(to(value));
    *this = std::move(changed);
  }
  // Whether all rows are equal; inspects each run once.
  bool AllAlike() const {
    for (const PackedRun& run : runs_)
      if (!run.AllAlike() || run[0] != runs_.front()[0]) return false;
    return std::all_of(open_.begin(), open_.end(),
                       [first = empty() ? Bits{} : ToBits(front())](Bits b) { return b == first; });
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
  static auto Number(T value) {
    if constexpr (requires { value.value; })
      return value.value;
    else if constexpr (std::is_enum_v<T>)
      return static_cast<std::underlying_type_t<T>>(value);
    else
      return value;
  }
  using Integer = decltype(Number(T{}));
  using Bits = std::make_unsigned_t<Integer>;
  // Flips the sign bit of signed values, so that they sort correctly as unsigned numbers.
  static constexpr Bits kFlip =
      std::is_signed_v<Integer> ? static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1)) : Bits{0};
  static Bits ToBits(T value) {
    return static_cast<Bits>(static_cast<Bits>(Number(value)) ^ kFlip);
  }
  static T FromBits(Bits bits) {
    const auto number = static_cast<Integer>(static_cast<Bits>(bits ^ kFlip));
    if constexpr (requires(T value) { value.value; })
      return T{number};
    else
      return static_cast<T>(number);
  }
  void Close() {
    runs_.emplace_back(open_.data());
    open_.clear();
  }

  std::vector<PackedRun> runs_;  // full runs
  std::vector<Bits> open_;       // the rows after the full runs
};

}  // namespace vramscope::trace
