// A column whose copies share equal parts: rows are stored in chunks of 1,024, and a shared chunk
// is copied when one of its owners changes a row. Suits columns that are copied for snapshots and
// grow at their end, while rows of the last steps still change (by frees, ends of slices, changes
// of category). PackedColumn needs less memory for rows that never change. Reads like a const
// std::vector.
//
//   SharedColumn<int64_t> end_ns;
//   end_ns.push_back(5);
//   SharedColumn<int64_t> copy = end_ns;  // no row is copied
//   end_ns.Set(0, 7);                     // copy[0] stays 5
//
// Any number of threads may read or copy a column while no thread writes to it; copies are
// independent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "profiler/trace/column_iterator.h"
#include "profiler/trace/only_owner.h"

namespace vramscope::trace {

template <class T>
class SharedColumn {
 public:
  using value_type = T;
  using const_iterator = ColumnIterator<SharedColumn>;
  using iterator = const_iterator;
  static constexpr size_t kPiece = 1024;

  SharedColumn() = default;
  template <class Iterator>
  SharedColumn(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t i) const { return (*pieces_[i / kPiece])[i % kPiece]; }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size_ - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, static_cast<std::ptrdiff_t>(size_)}; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  // Reads the rows [first, first + to.size()), which must exist.
  void Read(size_t first, std::span<T> to) const {
    for (size_t done = 0; done < to.size();) {
      const size_t at = (first + done) % kPiece, n = std::min(to.size() - done, kPiece - at);
      const T* from = pieces_[(first + done) / kPiece]->data() + at;
      std::copy(from, from + n, to.data() + done);
      done += n;
    }
  }

  void reserve(size_t n) { pieces_.reserve((n + kPiece - 1) / kPiece); }
  void clear() { *this = {}; }
  void push_back(T value) {
    if (size_ % kPiece == 0) pieces_.push_back(std::make_shared_for_overwrite<Piece>());
    OwnPiece(size_ / kPiece)[size_ % kPiece] = value;
    ++size_;
  }
  // New rows are zero.
  void resize(size_t n) {
    while (size_ < n) push_back(T{});
    size_ = n;
    pieces_.resize((n + kPiece - 1) / kPiece);
  }
  void Set(size_t i, T value) { OwnPiece(i / kPiece)[i % kPiece] = value; }
  // Replaces every row, in order, by to(row).
  template <class To>
  void Change(To to) {
    for (size_t i = 0; i < size_; ++i) Set(i, to((*this)[i]));
  }

  size_t MemoryBytes() const {
    return pieces_.size() * sizeof(Piece) + pieces_.capacity() * sizeof(pieces_[0]);
  }

  friend bool operator==(const SharedColumn& a, const SharedColumn& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  using Piece = std::array<T, kPiece>;
  // Returns a chunk that may be written to. Copies the chunk first if it is shared.
  Piece& OwnPiece(size_t piece) {
    std::shared_ptr<Piece>& own = pieces_[piece];
    if (!OnlyOwner(own)) own = std::make_shared<Piece>(*own);
    return *own;
  }

  std::vector<std::shared_ptr<Piece>> pieces_;
  size_t size_ = 0;
};

}  // namespace vramscope::trace
