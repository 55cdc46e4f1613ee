#include "cupti/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace vramscope::cupti {
namespace {

constexpr size_t kAtOnce = size_t{1} << 20;

}  // namespace

bool MappedFile::Create(const char* path, size_t most_bytes) {
  Close();
  unlink(path);
  fd_ = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd_ < 0) return false;
  void* const at = mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (at == MAP_FAILED) {
    Close();
    return false;
  }
  madvise(at, most_bytes, MADV_DONTFORK);  // a forked child does not share the mapping
  data_ = static_cast<uint8_t*>(at);
  most_bytes_ = most_bytes;
  return true;
}

bool MappedFile::Reserve(size_t bytes) {
  size_t before = reserved();
  if (bytes <= before) return true;
  if (data_ == nullptr || bytes > most_bytes_) return false;
  const size_t until = std::min(most_bytes_, (bytes + kAtOnce - 1) / kAtOnce * kAtOnce);
  int status = 0;
  do status = posix_fallocate(fd_, 0, static_cast<off_t>(until));
  while (status == EINTR);
  if (status != 0) return false;
  while (before < until && !reserved_.compare_exchange_weak(before, until)) {
  }
  return true;
}

void MappedFile::CutTo(size_t bytes) {
  if (fd_ < 0 || bytes > reserved()) return;
  if (ftruncate(fd_, static_cast<off_t>(bytes)) == 0) reserved_ = bytes;
}

void MappedFile::Close() {
  if (data_ != nullptr) munmap(data_, most_bytes_);
  if (fd_ >= 0) close(fd_);
  data_ = nullptr;
  fd_ = -1;
  most_bytes_ = 0;
  reserved_ = 0;
}

void MappedFile::Forget() {
  data_ = nullptr;
  Close();
}

}  // namespace vramscope::cupti
