// A file that is written by storing into memory: what is stored is in the file at once, whatever
// becomes of the process.
//
//   MappedFile file;
//   if (file.Create(path, most_bytes) && file.Reserve(bytes)) std::memcpy(file.data(), ...);
//
// Only what is reserved may be touched: a disk that is full refuses there, and kills nobody.
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

  // A new, empty one; nothing is at `path` yet, or what is there goes.
  bool Create(const char* path, size_t most_bytes);
  // Whether the first `bytes` may be written. On any thread; a system call, unless they are
  // reserved.
  bool Reserve(size_t bytes);
  size_t reserved() const { return reserved_.load(std::memory_order_acquire); }
  // What is reserved behind the first `bytes` is not the file's.
  void CutTo(size_t bytes);
  void Close();
  // Of a child of the process: the mapping is not there, the file is its parent's.
  void Forget();

  uint8_t* data() const { return data_; }  // null: there is none

 private:
  int fd_ = -1;
  uint8_t* data_ = nullptr;
  size_t most_bytes_ = 0;
  std::atomic<size_t> reserved_{0};
};

}  // namespace vramscope::cupti
