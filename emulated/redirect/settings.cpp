#include "emulated/redirect/settings.h"

#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "emulated/redirect/kernel.h"

namespace vramscope::isolation {
namespace {

constexpr size_t kMostReal = 64;
constexpr size_t kRealText = 32'768;

struct Settings {
  Mode mode = Mode::kNone;
  bool no_network = false;
  char changes[4096] = "";
  size_t changes_length = 0;
  char real_text[kRealText] = "";
  const char* real[kMostReal] = {};
  size_t real_length[kMostReal] = {};
  size_t real_count = 0;
  size_t always_count = 0;  // of them, those that are real without VRAMSCOPE_ISOLATION_REAL
};
Settings settings;

// Removable disks are mounted here, for example at /run/media/USER/DISK. They are isolated.
constexpr char kDisks[] = "/run/media";

int state;  // 0: not read, 1: being read, 2: read

void AddReal(const char* path, size_t length) {
  while (length > 1 && path[length - 1] == '/') --length;
  if (length < 2 || path[0] != '/' || settings.real_count == kMostReal) return;
  settings.real[settings.real_count] = path;
  settings.real_length[settings.real_count++] = length;
}

// Stores the path without links in `to`. Returns its length, or 0.
size_t WithoutLinks(const char* path, char* to, size_t size) {
  const int fd = kernel::Open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return 0;
  char name[32];
  kernel::NameOfDescriptor(fd, name);
  const long length = kernel::ReadLinkAt(AT_FDCWD, name, to, size - 1);
  kernel::Close(fd);
  if (length <= 0 || to[0] != '/') return 0;
  to[length] = 0;
  return static_cast<size_t>(length);
}

void ReadReal() {
  for (const char* always : {"/proc", "/sys", "/dev", "/run"}) AddReal(always, strlen(always));
  settings.always_count = settings.real_count;
  const char* given = getenv("VRAMSCOPE_ISOLATION_REAL");
  if (given == nullptr) return;
  size_t used = 0;
  for (const char* at = given; *at != 0;) {
    const char* end = strchrnul(at, ':');
    const size_t length = static_cast<size_t>(end - at);
    if (length > 0 && used + length + 1 < kRealText) {
      char* own = settings.real_text + used;
      memcpy(own, at, length);
      own[length] = 0;
      used += length + 1;
      AddReal(own, length);
      char* without = settings.real_text + used;
      const size_t other = WithoutLinks(own, without, kRealText - used);
      if (other > 0 && strcmp(own, without) != 0) {
        AddReal(without, other);
        used += other + 1;
      }
    }
    at = *end == 0 ? end : end + 1;
  }
}

void ReadEnvironment() {
  const char* network = getenv("VRAMSCOPE_NO_NETWORK");
  settings.no_network = network != nullptr && strcmp(network, "1") == 0;
  const char* mode = getenv("VRAMSCOPE_ISOLATION");
  if (mode == nullptr) return;
  if (strcmp(mode, "overlay") == 0) {
    settings.mode = Mode::kOverlay;
    ReadReal();
  }
  const char* changes = getenv("VRAMSCOPE_ISOLATION_CHANGES");
  if (strcmp(mode, "copy") != 0 || changes == nullptr || changes[0] != '/') return;
  size_t length = WithoutLinks(changes, settings.changes, sizeof settings.changes);
  if (length == 0) {  // no /proc, or the path does not exist
    length = strlen(changes);
    if (length >= sizeof settings.changes) return;
    memcpy(settings.changes, changes, length + 1);
  }
  while (length > 1 && settings.changes[length - 1] == '/') settings.changes[--length] = 0;
  settings.changes_length = length;
  ReadReal();
  settings.mode = Mode::kCopy;
}

const Settings& Read() {
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2) {
    int none = 0;
    if (__atomic_compare_exchange_n(&state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      ReadEnvironment();
      __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
    } else {
      while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2) kernel::Call(SYS_sched_yield);
    }
  }
  return settings;
}

bool IsWithin(const char* path, const char* folder, size_t length) {
  return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

}  // namespace

void ReadSettingsAgain() {
  settings.mode = Mode::kNone;
  settings.no_network = false;
  settings.changes[0] = 0;
  settings.changes_length = settings.real_count = settings.always_count = 0;
  __atomic_store_n(&state, 0, __ATOMIC_RELEASE);
}

Mode ModeOfProcess() { return Read().mode; }
bool NoNetwork() { return Read().no_network; }
const char* Changes() { return Read().changes; }
const char* ChangesName() { return strrchr(Changes(), '/') + 1; }
size_t ChangesLength() { return Read().changes_length; }

bool IsReal(const char* path) {
  const Settings& read = Read();
  const bool on_disk = IsWithin(path, kDisks, sizeof kDisks - 1);
  for (size_t i = on_disk ? read.always_count : 0; i < read.real_count; ++i) {
    if (IsWithin(path, read.real[i], read.real_length[i])) return true;
  }
  return false;
}

bool HoldsReal(const char* folder) {
  const Settings& read = Read();
  const size_t length = strlen(folder);
  for (size_t i = 0; i < read.real_count; ++i) {
    if (read.real_length[i] > length && IsWithin(read.real[i], folder, length)) return true;
  }
  return false;
}

}  // namespace vramscope::isolation
