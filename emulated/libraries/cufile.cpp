// Implements libcufile. It really reads and writes files. Bytes that it reads into GPU memory
// become known. It writes unknown bytes of GPU memory as zeros.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "emulated/core/kernels.h"
#include "emulated/core/platform.h"

using namespace vramscope::emulated;

namespace {

enum Operation : int { kSuccess = 0, kDriverNotInitialized = 5001, kInvalidValue = 5022 };
struct Error {
  int operation = kSuccess;
  int driver = 0;
};
struct Descriptor {  // filled in by the program: a type, then the file
  int type;
  union {
    int file;
    void* handle;
  };
  const void* operations;
};
struct File {
  int file = -1;
};
constexpr size_t kPiece = 1 << 20;

}  // namespace

// clang-format off
extern "C" {

Error cuFileDriverOpen() { return {}; }
Error cuFileDriverClose() { return {}; }
Error cuFileDriverClose_v2() { return {}; }
long cuFileUseCount() { return 1; }
Error cuFileGetVersion(int* version) { return version ? (*version = 1150, Error{}) : Error{kInvalidValue, 0}; }
Error cuFileBufRegister(const void*, size_t, int) { return {}; }
Error cuFileBufDeregister(const void*) { return {}; }
Error cuFileHandleRegister(File** file, const Descriptor* descriptor) {
  constexpr int kLinuxFile = 1;
  if (!file || !descriptor || descriptor->type != kLinuxFile) return {kInvalidValue, 0};
  *file = new File{descriptor->file};
  return {};
}
void cuFileHandleDeregister(File* file) { delete file; }
Error cuFileStreamRegister(void*, unsigned) { return {}; }
Error cuFileStreamDeregister(void*) { return {}; }

ssize_t cuFileRead(File* file, void* base, size_t bytes, off_t file_offset, off_t buffer_offset) {
  if (!file || !base) return -kInvalidValue;
  std::vector<char> piece(std::min(bytes, kPiece));
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(file->file, piece.data(), std::min(piece.size(), bytes - done), file_offset + static_cast<off_t>(done));
    if (got < 0) return -1;
    if (got == 0) break;
    CopyBytes(static_cast<char*>(base) + buffer_offset + done, piece.data(), static_cast<uint64_t>(got));
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}
ssize_t cuFileWrite(File* file, const void* base, size_t bytes, off_t file_offset, off_t buffer_offset) {
  if (!file || !base) return -kInvalidValue;
  std::vector<char> piece(std::min(bytes, kPiece));
  size_t done = 0;
  while (done < bytes) {
    const size_t size = std::min(piece.size(), bytes - done);
    CopyBytes(piece.data(), static_cast<const char*>(base) + buffer_offset + done, size);
    const ssize_t put = pwrite(file->file, piece.data(), size, file_offset + static_cast<off_t>(done));
    if (put <= 0) return -1;
    done += static_cast<size_t>(put);
  }
  return static_cast<ssize_t>(done);
}

}  // extern "C"
