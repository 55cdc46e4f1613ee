// Iterates over a column whose elements column[i] are values, not references. Iterators stay valid
// as long as the column neither moves nor shrinks.
#pragma once

#include <cstddef>
#include <iterator>

namespace vramscope::trace {

template <class Column>
class ColumnIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = typename Column::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  ColumnIterator() = default;
  ColumnIterator(const Column* column, std::ptrdiff_t at) : column_(column), at_(at) {}
  value_type operator*() const { return (*column_)[static_cast<size_t>(at_)]; }
  value_type operator[](std::ptrdiff_t n) const { return *(*this + n); }
  ColumnIterator& operator+=(std::ptrdiff_t n) {
    at_ += n;
    return *this;
  }
  ColumnIterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
  ColumnIterator& operator++() { return *this += 1; }
  ColumnIterator& operator--() { return *this -= 1; }
  ColumnIterator operator++(int) { return {column_, at_++}; }
  ColumnIterator operator--(int) { return {column_, at_--}; }
  friend ColumnIterator operator+(ColumnIterator i, std::ptrdiff_t n) { return i += n; }
  friend ColumnIterator operator+(std::ptrdiff_t n, ColumnIterator i) { return i += n; }
  friend ColumnIterator operator-(ColumnIterator i, std::ptrdiff_t n) { return i -= n; }
  friend std::ptrdiff_t operator-(ColumnIterator a, ColumnIterator b) { return a.at_ - b.at_; }
  friend bool operator==(ColumnIterator a, ColumnIterator b) { return a.at_ == b.at_; }
  friend auto operator<=>(ColumnIterator a, ColumnIterator b) { return a.at_ <=> b.at_; }

 private:
  const Column* column_ = nullptr;
  std::ptrdiff_t at_ = 0;
};

}  // namespace vramscope::trace
