// Hash maps and sets for everything outside ui/. They are used like std::unordered_map and
// std::unordered_set. There are two differences: an insertion invalidates pointers and references
// to elements, and the order differs between runs.
//
// They have the design of absl's tables, but not their two defects when memory runs out. absl's
// tables store their new size before they allocate, so after a failed allocation their destructor
// frees an invalid pointer. They also mark a slot as full before its value is constructed. A
// wrapper around absl's tables could not avoid the defects: it would have to know when the tables
// grow, and that differs between versions. tests/setup/layering.py rejects absl's tables.
#pragma once

#include <stdexcept>
#include <tuple>

#include "profiler/base/hash_table.h"

namespace vramscope::base {
namespace internal {

template <class K>
struct SetPolicy {
  using Key = K;
  using Value = K;
  using Slot = K;
  static constexpr bool kConstant = true;
  static const Key& KeyOf(const Value& value) { return value; }
  template <class... From>
  static Slot Make(From&&... from) {
    return Slot(std::forward<From>(from)...);
  }
  template <class... From>
  static void Construct(Slot* at, From&&... from) {
    std::construct_at(at, std::forward<From>(from)...);
  }
};

// A pair with a key that users cannot change. The table can still move the key.
template <class K, class V>
struct MapSlot {
  template <class... From>
  explicit MapSlot(std::in_place_t, From&&... from) : value(std::forward<From>(from)...) {}
  MapSlot(MapSlot&& other) noexcept(
      std::is_nothrow_move_constructible_v<K>&& std::is_nothrow_move_constructible_v<V>)
      : value(std::move(const_cast<K&>(other.value.first)), std::move(other.value.second)) {}

  std::pair<const K, V> value;
};

template <class K, class V>
struct MapPolicy {
  using Key = K;
  using Value = std::pair<const K, V>;
  using Slot = MapSlot<K, V>;
  static constexpr bool kConstant = false;
  static const Key& KeyOf(const Value& value) { return value.first; }
  template <class... From>
  static Slot Make(From&&... from) {
    return Slot(std::in_place, std::forward<From>(from)...);
  }
  template <class... From>
  static void Construct(Slot* at, From&&... from) {
    std::construct_at(at, std::in_place, std::forward<From>(from)...);
  }
  static void Construct(Slot* at, Slot&& from) { std::construct_at(at, std::move(from)); }
};

}  // namespace internal

template <class K, class Hash = internal::DefaultHash<K>, class Equal = internal::DefaultEqual<K>>
class HashSet : public internal::HashTable<internal::SetPolicy<K>, Hash, Equal> {
  using Table = internal::HashTable<internal::SetPolicy<K>, Hash, Equal>;

 public:
  using Table::Table;
  HashSet() = default;
  HashSet(std::initializer_list<K> values) : Table(values) {}

  template <class... From>
  std::pair<typename Table::iterator, bool> emplace(From&&... from) {
    return this->insert(K(std::forward<From>(from)...));
  }
};

template <class K, class V, class Hash = internal::DefaultHash<K>,
          class Equal = internal::DefaultEqual<K>>
class HashMap : public internal::HashTable<internal::MapPolicy<K, V>, Hash, Equal> {
  using Table = internal::HashTable<internal::MapPolicy<K, V>, Hash, Equal>;
  // Whether a search can use a `Given` directly. Otherwise, a K is constructed from it first.
  template <class Given>
  static constexpr bool kAsItIs = std::is_same_v<std::remove_cvref_t<Given>, K> ||
                                  std::is_same_v<typename Table::template key_arg<Given>, Given>;

 public:
  using typename Table::iterator;
  using mapped_type = V;
  using Table::insert;
  using Table::Table;
  HashMap() = default;
  HashMap(std::initializer_list<std::pair<const K, V>> values) : Table(values) {}

  // If the key exists, `from` is not moved from.
  template <class... From>
  std::pair<iterator, bool> try_emplace(const K& key, From&&... from) {
    return TryEmplace(key, std::forward<From>(from)...);
  }
  template <class... From>
  std::pair<iterator, bool> try_emplace(K&& key, From&&... from) {
    return TryEmplace(std::move(key), std::forward<From>(from)...);
  }
  template <class Given, class... From>
  requires(kAsItIs<Given> && !std::is_same_v<std::remove_cvref_t<Given>, K>)
      std::pair<iterator, bool> try_emplace(Given&& key, From&&... from) {
    return TryEmplace(std::forward<Given>(key), std::forward<From>(from)...);
  }

  template <class Given, class From>
  std::pair<iterator, bool> emplace(Given&& key, From&& from) {
    if constexpr (kAsItIs<Given>)
      return TryEmplace(std::forward<Given>(key), std::forward<From>(from));
    else
      return TryEmplace(K(std::forward<Given>(key)), std::forward<From>(from));
  }
  template <class A, class B>
  std::pair<iterator, bool> insert(const std::pair<A, B>& value) {
    return emplace(value.first, value.second);
  }
  template <class A, class B>
  std::pair<iterator, bool> insert(std::pair<A, B>&& value) {
    return emplace(std::move(value.first), std::move(value.second));
  }
  template <class From>
  std::pair<iterator, bool> insert_or_assign(const K& key, From&& from) {
    auto result = TryEmplace(key, std::forward<From>(from));
    if (!result.second) result.first->second = std::forward<From>(from);
    return result;
  }

  V& operator[](const K& key) { return TryEmplace(key).first->second; }
  V& operator[](K&& key) { return TryEmplace(std::move(key)).first->second; }
  template <class Given>
  requires(kAsItIs<Given> && !std::is_same_v<std::remove_cvref_t<Given>, K>) V& operator[](
      Given&& key) {
    return TryEmplace(std::forward<Given>(key)).first->second;
  }

  template <class Given = K>
  V& at(const typename Table::template key_arg<Given>& key) {
    return const_cast<V&>(std::as_const(*this).template at<Given>(key));
  }
  template <class Given = K>
  const V& at(const typename Table::template key_arg<Given>& key) const {
    const auto found = this->template find<Given>(key);
    if (found == this->end()) throw std::out_of_range("HashMap::at");
    return found->second;
  }

 private:
  template <class Given, class... From>
  std::pair<iterator, bool> TryEmplace(Given&& key, From&&... from) {
    return this->Insert(key, std::piecewise_construct,
                        std::forward_as_tuple(std::forward<Given>(key)),
                        std::forward_as_tuple(std::forward<From>(from)...));
  }
};

template <class Policy, class Hash, class Equal, class Predicate>
size_t erase_if(internal::HashTable<Policy, Hash, Equal>& table, Predicate predicate) {
  const size_t before = table.size();
  for (auto at = table.begin(); at != table.end();) {
    const auto here = at++;
    if (predicate(*here)) table.erase(here);
  }
  return before - table.size();
}

}  // namespace vramscope::base
