// The table behind HashMap and HashSet (hash_map.h). Internal.
#pragma once

#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace vramscope::base::internal {

// A full slot's control byte has seven bits of its hash (0 to 127). Other slots have one of
// these:
enum : int8_t {
  kEmpty = -128,
  kDeleted = -2,  // erased from a full group, so a search must continue past it
  kEnd = -1,      // after the last slot
};

// A group of sixteen control bytes. Each bit of a mask stands for a slot.
struct Group {
  static constexpr size_t kSlots = 16;

#if defined(__SSE2__)
  explicit Group(const int8_t* control)
      : bytes(_mm_load_si128(reinterpret_cast<const __m128i*>(control))) {}
  uint32_t Of(int8_t value) const { return Mask(_mm_cmpeq_epi8(_mm_set1_epi8(value), bytes)); }
  uint32_t NotFull() const { return Mask(bytes); }  // the sign bits
  static uint32_t Mask(__m128i from) { return static_cast<uint32_t>(_mm_movemask_epi8(from)); }

  __m128i bytes;
#else
  explicit Group(const int8_t* control) { std::memcpy(bytes, control, kSlots); }
  uint32_t Of(int8_t value) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kSlots; ++i) mask |= uint32_t{bytes[i] == value} << i;
    return mask;
  }
  uint32_t NotFull() const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kSlots; ++i) mask |= uint32_t{bytes[i] < 0} << i;
    return mask;
  }

  int8_t bytes[kSlots];
#endif
};

// The control bytes of a table without slots.
struct alignas(Group::kSlots) NoControl {
  int8_t bytes[Group::kSlots + 1] = {kEmpty, kEmpty, kEmpty, kEmpty, kEmpty, kEmpty,
                                     kEmpty, kEmpty, kEmpty, kEmpty, kEmpty, kEmpty,
                                     kEmpty, kEmpty, kEmpty, kEmpty, kEnd};
};
inline constexpr NoControl kNoControl;

template <class Key>
struct DefaultHash : absl::Hash<Key> {};
struct TextHash {
  using is_transparent = void;
  // If Abseil is built with its own string_view type, its hash is slower for std::string_view.
  size_t operator()(std::string_view text) const {
    return absl::Hash<absl::string_view>()(absl::string_view(text.data(), text.size()));
  }
};
template <>
struct DefaultHash<std::string> : TextHash {};
template <>
struct DefaultHash<std::string_view> : TextHash {};

template <class Key>
struct DefaultEqual : std::equal_to<Key> {};
struct TextEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};
template <>
struct DefaultEqual<std::string> : TextEqual {};
template <>
struct DefaultEqual<std::string_view> : TextEqual {};

// The type of a search key. If hash and equality are transparent, it is any type, otherwise Key.
template <bool kTransparent>
struct Searched {
  template <class K, class Key>
  using Type = K;
};
template <>
struct Searched<false> {
  template <class K, class Key>
  using Type = Key;
};

// Open addressing over groups of sixteen slots. `Policy` defines the contents of a slot: Key,
// Value, Slot (what is stored; a Value is at its address), static const Key& KeyOf(const Value&),
// kConstant (whether iterators are constant). To grow, the table first allocates the larger array
// and then moves the slots. Moving cannot fail. A value is constructed before its slot is marked as
// full. So the table is unchanged after an exception from an allocation or a constructor.
template <class Policy, class Hash, class Equal>
class HashTable {
  using Slot = typename Policy::Slot;
  static constexpr bool kTransparent = requires { typename Hash::is_transparent; }
  &&requires { typename Equal::is_transparent; };
  static_assert(std::is_nothrow_move_constructible_v<Slot> && std::is_nothrow_destructible_v<Slot>,
                "a growth that failed halfway could not be undone");
  static_assert(alignof(Slot) <= Group::kSlots);

 public:
  using key_type = typename Policy::Key;
  using value_type = typename Policy::Value;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = value_type&;
  using const_reference = const value_type&;
  template <class K>
  using key_arg = typename Searched<kTransparent>::template Type<K, key_type>;

  template <bool kConst>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = typename Policy::Value;
    using difference_type = ptrdiff_t;
    using reference = std::conditional_t<kConst, const value_type&, value_type&>;
    using pointer = std::remove_reference_t<reference>*;

    Iterator() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): an iterator is a const_iterator
    Iterator(const Iterator<!kConst>& other) requires kConst : control_(other.control_),
                                                               slot_(other.slot_) {}
    reference operator*() const { return *reinterpret_cast<pointer>(slot_); }
    pointer operator->() const { return reinterpret_cast<pointer>(slot_); }
    Iterator& operator++() {
      ++control_;
      ++slot_;
      Skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.control_ == b.control_;
    }

   private:
    friend class HashTable;
    friend class Iterator<!kConst>;
    Iterator(const int8_t* control, Slot* slot) : control_(control), slot_(slot) {}
    void Skip() {
      while (*control_ < kEnd) {
        ++control_;
        ++slot_;
      }
      if (*control_ == kEnd) control_ = nullptr;
    }

    const int8_t* control_ = nullptr;  // null: the end
    Slot* slot_ = nullptr;
  };
  using iterator = Iterator<Policy::kConstant>;
  using const_iterator = Iterator<true>;

  HashTable() = default;
  explicit HashTable(size_t count, Hash hash = Hash(), Equal equal = Equal())
      : hash_(std::move(hash)), equal_(std::move(equal)) {
    reserve(count);
  }
  template <std::input_iterator It>
  HashTable(It first, It last) {
    insert(first, last);
  }
  HashTable(std::initializer_list<value_type> values) { insert(values.begin(), values.end()); }
  // Delegates to another constructor, so that the destructor runs if this constructor throws.
  HashTable(const HashTable& other) : HashTable(0, other.hash_, other.equal_) {
    reserve(other.size_);
    for (const auto& value : other) {
      const size_t hash = hash_(Policy::KeyOf(value));
      Construct(FirstNotFull(hash), hash, value);
    }
  }
  HashTable(HashTable&& other) noexcept : hash_(other.hash_), equal_(other.equal_) {
    SwapSlots(other);
  }
  HashTable& operator=(const HashTable& other) {
    if (this != &other) {
      HashTable copy(other);
      swap(copy);
    }
    return *this;
  }
  HashTable& operator=(HashTable&& other) noexcept {
    if (this != &other) {
      HashTable gone(std::move(*this));
      swap(other);
    }
    return *this;
  }
  ~HashTable() { Release(); }

  void swap(HashTable& other) noexcept {
    SwapSlots(other);
    std::swap(hash_, other.hash_);
    std::swap(equal_, other.equal_);
  }

  iterator begin() { return First<iterator>(); }
  iterator end() { return {}; }
  const_iterator begin() const { return First<const_iterator>(); }
  const_iterator end() const { return {}; }
  const Hash& hash_function() const { return hash_; }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  size_t capacity() const { return slots_in_all_; }

  // Reserves space for a total of `count` elements.
  void reserve(size_t count) {
    if (count > size_ + room_) Rehash(SlotsFor(count));
  }
  void clear() noexcept {
    if (slots_in_all_ > kRetainedSlots) {
      Release();
      SetNoSlots();
      return;
    }
    DestroyValues();
    if (slots_in_all_ > 0) MarkAllEmpty();
  }

  template <class K = key_type>
  iterator find(const key_arg<K>& key) {
    return Find<iterator>(key, hash_(key));
  }
  template <class K = key_type>
  const_iterator find(const key_arg<K>& key) const {
    return Find<const_iterator>(key, hash_(key));
  }
  template <class K = key_type>
  bool contains(const key_arg<K>& key) const {
    return find<K>(key) != end();
  }
  template <class K = key_type>
  size_t count(const key_arg<K>& key) const {
    return contains<K>(key) ? 1 : 0;
  }

  std::pair<iterator, bool> insert(const value_type& value) {
    return Insert(Policy::KeyOf(value), value);
  }
  std::pair<iterator, bool> insert(value_type&& value) {
    return Insert(Policy::KeyOf(value), std::move(value));
  }
  template <std::input_iterator It>
  void insert(It first, It last) {
    if constexpr (std::forward_iterator<It>)
      if (empty()) reserve(static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) insert(*first);
  }

  template <class K = key_type>
  size_t erase(const key_arg<K>& key) {
    const iterator found = find<K>(key);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  void erase(const_iterator at) noexcept {
    std::destroy_at(at.slot_);
    const auto place = static_cast<size_t>(at.slot_ - slots_);
    // In a full group, the slot is marked deleted, not empty, so that searches do not end there.
    const bool was_full = Group(control_ + place / Group::kSlots * Group::kSlots).Of(kEmpty) == 0;
    control_[place] = was_full ? kDeleted : kEmpty;
    if (!was_full) ++room_;
    --size_;
  }
  void erase(iterator at) noexcept requires(!Policy::kConstant) { erase(const_iterator(at)); }

  friend bool operator==(const HashTable& a, const HashTable& b) {
    if (a.size() != b.size()) return false;
    for (const auto& value : a) {
      const auto found = b.find(Policy::KeyOf(value));
      if (found == b.end() || !(*found == value)) return false;
    }
    return true;
  }

 protected:
  // Inserts a value made from `from` if the key does not exist.
  template <class K, class... From>
  std::pair<iterator, bool> Insert(const K& key, From&&... from) {
    const size_t hash = hash_(key);
    const iterator found = Find<iterator>(key, hash);
    if (found != end()) return {found, false};
    return {InsertNew(hash, std::forward<From>(from)...), true};
  }

 private:
  static constexpr size_t kSmallest = 4;
  static constexpr size_t kRetainedSlots = 128;  // the largest table that clear() keeps
  static constexpr size_t kMost =
      size_t{1} << (std::bit_width(std::numeric_limits<size_t>::max() / 4 / (sizeof(Slot) + 1)) -
                    1);

  // The number of full slots at which a table grows. A small table, which has only one group, fills
  // all of its slots. Other tables fill seven eighths.
  static constexpr size_t Limit(size_t slots) {
    return slots < Group::kSlots ? slots : slots / 8 * 7;
  }
  static size_t SlotsFor(size_t count) {
    if (count > Limit(kMost)) throw std::bad_alloc();
    size_t slots = std::max(kSmallest, std::bit_ceil(count));
    if (Limit(slots) < count) slots *= 2;
    return slots;
  }
  static int8_t Low(size_t hash) { return static_cast<int8_t>(hash & 0x7f); }
  static size_t Groups(size_t slots) { return (slots + Group::kSlots - 1) / Group::kSlots; }
  // The memory has the control bytes, the end mark, and then the slots.
  static size_t SlotsAt(size_t slots) { return (Groups(slots) + 1) * Group::kSlots; }
  static size_t Bytes(size_t slots) { return SlotsAt(slots) + slots * sizeof(Slot); }

  template <class It, class K>
  It Find(const K& key, size_t hash) const {
    const int8_t low = Low(hash);
    size_t group = (hash >> 7) & group_mask_;
    for (size_t step = 1;; ++step) {
      const size_t first = group * Group::kSlots;
      const Group controls(control_ + first);
      for (uint32_t mask = controls.Of(low); mask != 0; mask &= mask - 1) {
        const size_t place = first + static_cast<size_t>(std::countr_zero(mask));
        if (equal_(Policy::KeyOf(*reinterpret_cast<const value_type*>(slots_ + place)), key))
            [[likely]]
          return It(control_ + place, slots_ + place);
      }
      // After group_mask_ + 1 steps, the search has visited every group.
      if (controls.Of(kEmpty) != 0 || step > group_mask_) [[likely]]
        return It();
      group = (group + step) & group_mask_;
    }
  }

  // Returns the first slot that is not full, for a value with this hash. There always is one,
  // because large tables are never full and small tables have an extra slot. Returns the extra slot
  // only if room_ == 0.
  size_t FirstNotFull(size_t hash) const {
    size_t group = (hash >> 7) & group_mask_;
    for (size_t step = 1;; ++step) {
      const size_t first = group * Group::kSlots;
      if (const uint32_t mask = Group(control_ + first).NotFull(); mask != 0)
        return first + static_cast<size_t>(std::countr_zero(mask));
      group = (group + step) & group_mask_;
    }
  }

  // Not inlined, because most calls only search.
  template <class... From>
  [[gnu::noinline]] iterator InsertNew(size_t hash, From&&... from) {
    size_t place = FirstNotFull(hash);
    if (room_ == 0 && control_[place] != kDeleted) [[unlikely]] {
      // The arguments may refer to elements of this table, so the value is made before the elements
      // are moved.
      Slot made = Policy::Make(std::forward<From>(from)...);
      Grow();
      place = FirstNotFull(hash);
      Construct(place, hash, std::move(made));
    } else {
      Construct(place, hash, std::forward<From>(from)...);
    }
    return iterator(control_ + place, slots_ + place);
  }

  template <class... From>
  void Construct(size_t place, size_t hash, From&&... from) {
    Policy::Construct(slots_ + place, std::forward<From>(from)...);
    room_ -= control_[place] == kEmpty ? 1 : 0;
    control_[place] = Low(hash);
    ++size_;
  }

  void Grow() {
    if (slots_in_all_ == 0) return Rehash(kSmallest);
    if (slots_in_all_ >= kMost) throw std::bad_alloc();
    // With many deleted slots, the table is rebuilt at the same size.
    const bool same = slots_in_all_ > Group::kSlots && size_ <= slots_in_all_ / 32 * 25;
    Rehash(same ? slots_in_all_ : slots_in_all_ * 2);
  }

  void Rehash(size_t slots) {
    HashTable larger(0, hash_, equal_);
    auto* const memory = static_cast<int8_t*>(::operator new(Bytes(slots)));
    larger.control_ = memory;
    larger.slots_ = reinterpret_cast<Slot*>(memory + SlotsAt(slots));
    larger.slots_in_all_ = slots;
    larger.group_mask_ = Groups(slots) - 1;
    larger.MarkAllEmpty();
    const size_t places = Groups(slots_in_all_) * Group::kSlots;
    for (size_t place = 0; place < places; ++place) {
      if (control_[place] < 0) continue;
      Slot* const from = slots_ + place;
      const size_t hash = hash_(Policy::KeyOf(*reinterpret_cast<const value_type*>(from)));
      const size_t to = larger.FirstNotFull(hash);
      std::construct_at(larger.slots_ + to, std::move(*from));
      larger.control_[to] = Low(hash);
    }
    larger.size_ = size_;
    larger.room_ -= size_;
    SwapSlots(larger);  // `larger` now owns the moved-from slots
  }

  void MarkAllEmpty() noexcept {
    const size_t bytes = Groups(slots_in_all_) * Group::kSlots;
    std::memset(control_, static_cast<unsigned char>(kEmpty), bytes);
    control_[bytes] = kEnd;
    size_ = 0;
    room_ = Limit(slots_in_all_);
  }
  void DestroyValues() noexcept {
    if constexpr (!std::is_trivially_destructible_v<Slot>) {
      const size_t places = Groups(slots_in_all_) * Group::kSlots;
      for (size_t place = 0; place < places; ++place)
        if (control_[place] >= 0) std::destroy_at(slots_ + place);
    }
  }
  void Release() noexcept {
    if (slots_in_all_ == 0) return;
    DestroyValues();
    ::operator delete(control_);
  }
  void SetNoSlots() noexcept {
    control_ = const_cast<int8_t*>(kNoControl.bytes);
    slots_ = nullptr;
    slots_in_all_ = group_mask_ = size_ = room_ = 0;
  }
  void SwapSlots(HashTable& other) noexcept {
    std::swap(control_, other.control_);
    std::swap(slots_, other.slots_);
    std::swap(slots_in_all_, other.slots_in_all_);
    std::swap(group_mask_, other.group_mask_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }
  template <class It>
  It First() const {
    if (size_ == 0) return It();
    It first(control_, slots_);
    first.Skip();
    return first;
  }

  int8_t* control_ = const_cast<int8_t*>(kNoControl.bytes);
  Slot* slots_ = nullptr;
  size_t slots_in_all_ = 0;
  size_t group_mask_ = 0;
  size_t size_ = 0;
  size_t room_ = 0;  // number of empty slots to fill before the table grows
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

}  // namespace vramscope::base::internal
