#include "emulated/core/processes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vramscope::emulated {

uint64_t StartOfProcess(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* at = std::strrchr(text, ')');  // the program's name may contain anything
  if (!at || at[1] == '\0') return 0;
  at += 2;
  if (*at == 'Z' || *at == 'X') return 0;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (!at) return 0;
    ++at;
  }
  return std::strtoull(at, nullptr, 10);
}

namespace {

// Returns the process id and the low bits of the start time in one word, or 0 if the process has
// ended. One word suffices to claim a slot atomically.
uint64_t WhoIs(pid_t process) {
  const uint64_t start = StartOfProcess(process);
  return start == 0 ? 0 : start << 32 | static_cast<uint32_t>(process);
}
pid_t ProcessOf(uint64_t who) { return static_cast<pid_t>(who & 0xffffffff); }

}  // namespace

// A process that uses memory claims the first free slot. Slots of ended processes are reused.
struct SharedGpus::Slot {
  std::atomic<uint64_t> who;  // 0: never claimed
  std::atomic<uint64_t> bytes[kMostDevices];
};

SharedGpus::SharedGpus(const std::string& folder) { Map(folder); }

void SharedGpus::UseFolder(const std::string& folder) {
  Unmap();
  Map(folder);
}

void SharedGpus::Map(const std::string& folder) {
  if (folder.empty()) return;
  const std::string path = folder + "/cards";
  constexpr size_t kBytes = sizeof(Slot) * kMostProcesses;  // untouched pages take no memory
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat facts = {};
  const bool ours =
      file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid();
  const bool sized = ours && (facts.st_size >= static_cast<off_t>(kBytes) ||
                              ftruncate(file, static_cast<off_t>(kBytes)) == 0);
  void* memory =
      sized ? mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr,
                 "vramscope: cannot share %s with the program's other processes: each is planned "
                 "as if it had the GPU to itself\n",
                 path.c_str());
    return;
  }
  slots_ = static_cast<Slot*>(memory);
}

SharedGpus::~SharedGpus() {
  if (slots_ == nullptr) return;
  for (int device = 0; device < kMostDevices; ++device) Hold(device, 0);
  Unmap();
}

void SharedGpus::Unmap() {
  if (slots_ != nullptr) munmap(slots_, sizeof(Slot) * kMostProcesses);
  slots_ = own_ = nullptr;
}

SharedGpus::Slot* SharedGpus::Own(bool make) {
  const pid_t self = getpid();
  if (own_ != nullptr && ProcessOf(own_->who.load(std::memory_order_relaxed)) == self) return own_;
  own_ = nullptr;  // no slot yet, or a forked child of the slot's owner
  const uint64_t who = make ? WhoIs(self) : 0;
  for (Slot* slot = slots_; who != 0 && slot < slots_ + kMostProcesses; ++slot) {
    uint64_t holder = slot->who.load();
    if (holder != 0 && WhoIs(ProcessOf(holder)) == holder) continue;
    if (!slot->who.compare_exchange_strong(holder, who)) continue;
    for (std::atomic<uint64_t>& bytes : slot->bytes) bytes.store(0);
    own_ = slot;
    break;
  }
  return own_;
}

void SharedGpus::Hold(int device, uint64_t bytes) {
  if (slots_ == nullptr || device < 0 || device >= kMostDevices) return;
  if (Slot* own = Own(bytes > 0)) own->bytes[device].store(bytes);
}

template <typename Visit>
void SharedGpus::EachOther(int device, Visit&& visit) const {
  if (slots_ == nullptr || device < 0 || device >= kMostDevices) return;
  const pid_t self = getpid();
  for (const Slot* slot = slots_; slot < slots_ + kMostProcesses; ++slot) {
    const uint64_t who = slot->who.load(), bytes = slot->bytes[device].load();
    if (who == 0) break;
    const pid_t process = ProcessOf(who);
    if (process != self && bytes > 0 && WhoIs(process) == who) visit(process, bytes);
  }
}

std::vector<SharedGpus::Holder> SharedGpus::OtherProcesses(int device) const {
  std::vector<Holder> holders;
  EachOther(device, [&](pid_t process, uint64_t bytes) { holders.push_back({process, bytes}); });
  return holders;
}

uint64_t SharedGpus::UsedByOtherProcesses(int device) const {
  uint64_t held = 0;
  EachOther(device, [&](pid_t, uint64_t bytes) { held += bytes; });
  return held;
}

}  // namespace vramscope::emulated
