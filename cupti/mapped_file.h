// A memory-mapped file for writing. Stored bytes stay in the file even if the process dies.
// Example:
//
//   MappedFile file;
//   if (file.Create(path, most_bytes) && file.Reserve(bytes)) std::memcpy(file.data(), ...);
//
// Only reserved bytes may be accessed. If the disk is full, Reserve() fails; a store never raises a
// signal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramscope::cupti {

class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile() { Close(); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Creates an empty file and replaces an existing one.
  bool Create(const char* path, size_t most_bytes);
  // Makes the first `bytes` bytes writable. Returns false if the disk is full. Makes a system call
  // only if these bytes are not all reserved yet. Callable from any thread.
  bool Reserve(size_t bytes);
  size_t reserved() const { return reserved_.load(std::memory_order_acquire); }
  // Shortens the file to the first `bytes` bytes.
  void CutTo(size_t bytes);
  void Close();
  // For a forked child: the mapping does not exist there, and the file belongs to the parent.
  void Forget();

  uint8_t* data() const { return data_; }  // null: no file

 private:
  int fd_ = -1;
  uint8_t* data_ = nullptr;
  size_t most_bytes_ = 0;
  std::atomic<size_t> reserved_{0};
};

}  // namespace vramscope::cupti
