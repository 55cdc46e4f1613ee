// Stores descriptors whose attributes are read back as they were set. The handle of a descriptor is
// an address. Create() allocates memory and returns its address. In interfaces where the program
// provides the memory of descriptors, Adopt() takes the address of this memory.
//
//   AttributeStore& store = ...;
//   void* descriptor = store.Create();
//   store.Set(descriptor, 3, &value, sizeof value);
//   int same = store.Get<int>(descriptor, 3, 0);
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace vramscope::emulated {

class AttributeStore {
 public:
  static constexpr size_t kMostBytes = 4096;  // limit for an attribute

  void* Create() {
    // Zeros, because some programs read the descriptor's memory.
    auto storage = std::make_unique<char[]>(512);
    void* descriptor = storage.get();
    std::lock_guard lock(mutex_);
    descriptors_[descriptor].storage = std::move(storage);
    return descriptor;
  }
  void Adopt(void* descriptor) {
    std::lock_guard lock(mutex_);
    descriptors_[descriptor].values.clear();
  }
  void Destroy(const void* descriptor) {
    std::lock_guard lock(mutex_);
    descriptors_.erase(descriptor);
  }
  bool Has(const void* descriptor) const {
    std::lock_guard lock(mutex_);
    return descriptors_.contains(descriptor);
  }

  bool Set(const void* descriptor, int attribute, const void* value, size_t bytes) {
    if (bytes > kMostBytes || (bytes && !value)) return false;
    std::lock_guard lock(mutex_);
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return false;
    const auto* first = static_cast<const char*>(value);
    found->second.values[attribute].assign(first, first + bytes);
    return true;
  }
  template <class T>
  bool Put(const void* descriptor, int attribute, T value) {
    return Set(descriptor, attribute, &value, sizeof value);
  }
  // Copies the value that was set, or zeros. Sets *written to the size of the attribute's value.
  bool Copy(const void* descriptor, int attribute, void* value, size_t bytes,
            size_t* written) const {
    std::lock_guard lock(mutex_);
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return false;
    const auto set = found->second.values.find(attribute);
    const size_t has = set == found->second.values.end() ? 0 : set->second.size();
    if (value) {
      std::memset(value, 0, bytes);
      if (has) std::memcpy(value, set->second.data(), std::min(bytes, has));
    }
    if (written) *written = has ? has : bytes;
    return true;
  }
  template <class T>
  T Get(const void* descriptor, int attribute, T otherwise) const {
    std::lock_guard lock(mutex_);
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return otherwise;
    const auto set = found->second.values.find(attribute);
    if (set == found->second.values.end() || set->second.empty()) return otherwise;
    T value{};
    std::memcpy(&value, set->second.data(), std::min(sizeof value, set->second.size()));
    return value;
  }

 private:
  struct Descriptor {
    std::unique_ptr<char[]> storage;
    std::map<int, std::vector<char>> values;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Descriptor> descriptors_;
};

}  // namespace vramscope::emulated
