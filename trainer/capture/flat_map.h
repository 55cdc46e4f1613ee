// A hash table from non-zero 64-bit keys to small values. It is a single array, which does not
// allocate any more once it is large enough for the run. The recorder looks up every allocation and
// free in such a table.
//
//   FlatMap<int> map;
//   map.Insert(7, 1);
//   if (int* v = map.Find(7)) ++*v;
//
// Not thread-safe. Pointers are valid until the next Insert or Erase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vramscope::trainer {

template <class Value>
class FlatMap {
 public:
  explicit FlatMap(size_t capacity = 1024) {
    size_t slots = 16;
    while (slots < capacity * 2) slots *= 2;
    slots_.resize(slots);
  }

  size_t size() const { return size_; }

  Value* Find(uint64_t key) {
    for (size_t i = Home(key);; i = Next(i)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == 0) return nullptr;
    }
  }
  const Value* Find(uint64_t key) const { return const_cast<FlatMap*>(this)->Find(key); }

  // If the key is present, replaces its value.
  Value& Insert(uint64_t key, const Value& value) {
    if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
    size_t i = Home(key);
    while (slots_[i].key != 0 && slots_[i].key != key) i = Next(i);
    if (slots_[i].key == 0) ++size_;
    slots_[i] = {key, value};
    return slots_[i].value;
  }

  bool Erase(uint64_t key) {
    size_t i = Home(key);
    while (slots_[i].key != key) {
      if (slots_[i].key == 0) return false;
      i = Next(i);
    }
    // Moves later entries into the gap, so that erased entries need no markers.
    size_t hole = i;
    for (size_t j = Next(i); slots_[j].key != 0; j = Next(j)) {
      const size_t home = Home(slots_[j].key);
      const bool reachable = hole <= j ? (hole < home && home <= j) : (hole < home || home <= j);
      if (reachable) continue;
      slots_[hole] = slots_[j];
      hole = j;
    }
    slots_[hole] = {};
    --size_;
    return true;
  }

  void Clear() {
    for (Slot& slot : slots_) slot = {};
    size_ = 0;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Value value{};
  };

  size_t Home(uint64_t key) const {
    // Addresses differ only in their middle bits. Fibonacci hashing spreads these over all bits.
    return static_cast<size_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & (slots_.size() - 1);
  }
  size_t Next(size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void Grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.key != 0) Insert(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace vramscope::trainer
