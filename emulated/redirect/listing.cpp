#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "emulated/redirect/changes.h"
#include "emulated/redirect/kernel.h"
#include "emulated/redirect/marks.h"

// Lists the names in folders as the program sees them.
namespace vramscope::isolation {
namespace {

struct KernelEntry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};
constexpr size_t kNameAt = offsetof(KernelEntry, name);
constexpr size_t kBuffer = 32'768;

struct Record {
  uint64_t inode;
  unsigned short length;
  unsigned char type;
};

// Calls `function` for each name in the folder until it returns false.
template <typename Function>
int ForEach(int fd, Function function) {
  char* buffer = static_cast<char*>(malloc(kBuffer));
  if (buffer == nullptr) return -ENOMEM;
  int error = 0;
  for (long size = 0; error == 0;) {
    size = kernel::Call(SYS_getdents64, fd, kernel::Of(buffer), kBuffer);
    if (size <= 0) {
      error = static_cast<int>(size);
      break;
    }
    for (long at = 0; at < size && error == 0;) {
      KernelEntry entry;
      memcpy(&entry, buffer + at, kNameAt);
      if (!function(entry.inode, entry.type, buffer + at + kNameAt)) error = -ENOMEM;
      at += entry.size;
    }
  }
  free(buffer);
  return error;
}

int OpenFolder(const char* path) { return kernel::Open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

bool IsDots(const char* name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

}  // namespace

const char* HiddenIn(const char* folder) {
  const char* name = ChangesName();
  const size_t length = static_cast<size_t>(name - Changes()) - 1;
  return strlen(folder) == length && memcmp(folder, Changes(), length) == 0 ? name : "";
}

Listing::~Listing() { free(data_); }

bool Listing::Add(uint64_t inode, unsigned char type, const char* name, size_t length) {
  const size_t needed = sizeof(Record) + length + 1;
  if (used_ + needed > capacity_) {
    const size_t capacity = 2 * capacity_ + needed + 1024;
    void* more = realloc(data_, capacity);
    if (more == nullptr) return false;
    data_ = static_cast<char*>(more);
    capacity_ = capacity;
  }
  const Record record = {inode, static_cast<unsigned short>(length), type};
  memcpy(data_ + used_, &record, sizeof record);
  memcpy(data_ + used_ + sizeof record, name, length + 1);
  used_ += needed;
  return true;
}

bool Listing::Next(Name& name) {
  if (at_ >= used_) return false;
  Record record;
  memcpy(&record, data_ + at_, sizeof record);
  name = {record.inode, record.length, record.type, data_ + at_ + sizeof record};
  at_ += sizeof record + record.length + 1;
  return true;
}

bool Listing::IsEmpty() {
  at_ = 0;
  for (Name name; Next(name);) {
    if (!IsDots(name.text)) return false;
  }
  return true;
}

int Listing::ReadPlain(const char* folder) {
  used_ = at_ = 0;
  const int fd = OpenFolder(folder);
  if (fd < 0) return fd;
  const char* hidden = HiddenIn(folder);
  const int error = ForEach(fd, [&](uint64_t inode, unsigned char type, const char* name) {
    return strcmp(name, hidden) == 0 || Add(inode, type, name, strlen(name));
  });
  kernel::Close(fd);
  return error;
}

int Listing::Read(Spot& folder, const Layers& layers) {
  if (!layers.upper) return ReadPlain(folder.lower());
  used_ = at_ = 0;
  const int upper = OpenFolder(folder.upper());
  if (upper < 0) return upper;
  const size_t prefix = sizeof VRAMSCOPE_ISOLATION_PREFIX - 1;
  int error = ForEach(upper, [&](uint64_t inode, unsigned char type, const char* name) {
    if (strncmp(name, VRAMSCOPE_ISOLATION_PREFIX, prefix) == 0) return true;
    if ((type == DT_LNK || type == DT_UNKNOWN) && IsRemovedMark(upper, name, kRemovedSize)) {
      return true;
    }
    return Add(inode, type, name, strlen(name));
  });
  const int lower = error == 0 && layers.lower ? OpenFolder(folder.lower()) : -1;
  if (lower >= 0) {
    const char* hidden = HiddenIn(folder.lower());
    error = ForEach(lower, [&](uint64_t inode, unsigned char type, const char* name) {
      struct stat status;
      if (IsDots(name) || strcmp(name, hidden) == 0 ||
          kernel::StatAt(upper, name, &status, AT_SYMLINK_NOFOLLOW) != -ENOENT) {
        return true;  // changed or removed in the upper layer
      }
      return Add(inode, type, name, strlen(name));
    });
    kernel::Close(lower);
  }
  kernel::Close(upper);
  return error;
}

}  // namespace vramscope::isolation
