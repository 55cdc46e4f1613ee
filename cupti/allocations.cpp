// PyTorch's caching allocator tells of every request at the moment at which it is made: as entries
// of a mapped file (profiler/program/history_tail.h), which is there when the process no longer is.
// Python's hooks (emulated/python/vramscope/tail.py) attach it and begin a file with every chunk of
// the history.
//
// The allocator is reached without its headers, which differ by version: by the table of virtual
// functions. At which place of it attachAllocatorTraceTracker stands tells another allocator's
// table (CUDAPluggableAllocator's, which is exported, as its own function of that name is).
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "cupti/mapped_file.h"
#include "cupti/stacks.h"
#include "profiler/program/history_tail.h"

#define VRAMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace vramscope::cupti {
namespace {

using program::HistoryTailHeader;
using program::HistoryTailRow;

// The front of PyTorch's TraceEntry, alike in 2.4, 2.6, 2.11, 2.15 (tried).
struct Entry {
  int action;
  int8_t device;  // in early versions an int
  uint64_t address;
  std::array<void*, 2> context;
  uint64_t stream, bytes;
};
static_assert(offsetof(Entry, address) == 8 && offsetof(Entry, stream) == 32 &&
              offsetof(Entry, bytes) == 40);
enum : int { kAlloc = 0, kFreeRequested = 1, kSnapshot = 7 };  // the last: somebody looked

struct Tail {
  std::mutex mutex;
  std::string path;
  MappedFile file;
  uint64_t rows = 0;  // the file's
  Stacks stacks;
  std::set<std::pair<uint8_t, uint64_t>> streams;  // that there were requests on, by device

  HistoryTailHeader* header() {
    return std::launder(reinterpret_cast<HistoryTailHeader*>(file.data()));
  }
  // `keep`: it is a chunk of the history.
  void End(bool keep) {
    if (file.data() == nullptr) return;
    if (keep) file.CutTo(sizeof(HistoryTailHeader) + rows * sizeof(HistoryTailRow));
    file.Close();
    if (!keep) return;
    constexpr size_t kEnding = 5;  // ".tail"
    const std::string chunk = path.substr(0, path.size() - kEnding) + ".rows";
    static_cast<void>(rename(path.c_str(), chunk.c_str()));
  }
};

Tail& TheTail() {
  static auto* tail = new Tail;  // called while the process ends
  return *tail;
}

std::atomic<bool> g_writing{false};
std::atomic<bool> g_stacks{false};                    // can be read
std::array<std::atomic<uint64_t>, 256> g_requests{};  // by device

// On the thread that allocates, under the allocator's lock.
void Take(const Entry& entry) {
  if (entry.action == kAlloc || entry.action == kFreeRequested)
    g_requests[static_cast<uint8_t>(entry.device)].fetch_add(1, std::memory_order_relaxed);
  if (!g_writing.load(std::memory_order_acquire) || entry.action == kSnapshot) return;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  Tail& tail = TheTail();
  const uint32_t stack =
      g_stacks.load(std::memory_order_relaxed)
          ? tail.stacks.Number(*reinterpret_cast<const Stacks::Context*>(&entry.context))
          : 0;
  std::lock_guard lock(tail.mutex);
  if (tail.file.data() == nullptr) return;
  if (entry.action == kAlloc) tail.streams.emplace(entry.device, entry.stream);
  const size_t at = sizeof(HistoryTailHeader) + tail.rows * sizeof(HistoryTailRow);
  if (!tail.file.Reserve(at + sizeof(HistoryTailRow))) {
    tail.header()->full.store(1, std::memory_order_relaxed);
    return;
  }
  new (tail.file.data() + at)
      HistoryTailRow{.address = entry.address,
                     .bytes = entry.bytes,
                     .stream = entry.stream,
                     .time_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec,
                     .action = static_cast<uint8_t>(entry.action),
                     .device = static_cast<uint8_t>(entry.device),
                     .stack = stack};
  tail.header()->rows.store(++tail.rows, std::memory_order_release);
}

// How many the loader says that it has. What lies behind it is another's, or not mapped.
size_t SlotsOf(void* const* table) {
  constexpr size_t kMost = 128;
  Dl_info where = {};
  void* found = nullptr;
  if (dladdr1(table, &where, &found, RTLD_DL_SYMENT) == 0 || found == nullptr ||
      where.dli_saddr != table)
    return kMost;
  return std::min(kMost, size_t{static_cast<const ElfW(Sym)*>(found)->st_size} / sizeof(void*));
}

}  // namespace
}  // namespace vramscope::cupti

using namespace vramscope::cupti;  // NOLINT: C functions follow

// `allocator`: where the process's allocator stands (c10's CUDACachingAllocator::allocator);
// `table` and `function`: those of another one, as the loader knows them. 1: it tells from here on.
// Once in a process, when CUDA has been initialized.
VRAMSCOPE_EXPORTED int vramscope_history_attach(void** allocator, void* const* table,
                                                void* function) {
  void* const self = *allocator;
  if (self == nullptr) return 0;
  const size_t end = SlotsOf(table);
  size_t place = 2;  // behind the offset and the type
  while (place < end && table[place] != function) ++place;
  if (place >= end) return 0;
  void* const found = (*static_cast<void* const* const*>(self))[place - 2];
  using Tracker = std::function<void(const Entry&)>;
  // By value, of a type with a destructor: a pointer to a copy of the caller's.
  using Attach = void (*)(void* self, Tracker* tracker);
  Tracker tracker = &Take;
  reinterpret_cast<Attach>(found)(self, &tracker);
  static const int in_children =
      pthread_atfork(nullptr, nullptr, [] { g_writing.store(false, std::memory_order_relaxed); });
  static_cast<void>(in_children);
  return 1;
}

// Whether what PyTorch has captured can be read, as one that was captured in this code says; then
// rows have stacks from here on. With the interpreter's lock held.
VRAMSCOPE_EXPORTED int vramscope_history_stacks(const void* captured, const void* code) {
  const bool fits =
      PythonApi::The().complete && Stacks::Fits(captured, static_cast<const PyObject*>(code));
  g_stacks.store(fits, std::memory_order_relaxed);
  return fits ? 1 : 0;
}

// Those that are new, with their names. 1: written. Likewise.
VRAMSCOPE_EXPORTED int vramscope_history_write_stacks(int fd) {
  return TheTail().stacks.Write(fd) ? 1 : 0;
}

// Entries from here on go into that file, which is new; `keep`: the one before is a chunk. 1: it
// could be made.
VRAMSCOPE_EXPORTED int vramscope_history_begin(const char* path, int keep) {
  Tail& tail = TheTail();
  std::lock_guard lock(tail.mutex);
  tail.End(keep != 0);
  tail.rows = 0;
  tail.path = path;
  const bool made = tail.file.Create(path, vramscope::program::kMostTailBytes) &&
                    tail.file.Reserve(sizeof(HistoryTailHeader));
  if (made)
    new (tail.file.data()) HistoryTailHeader{.row_bytes = sizeof(HistoryTailRow)};
  else
    tail.file.Close();
  g_writing.store(made, std::memory_order_release);
  return made ? 1 : 0;
}

// In the file that was begun last.
VRAMSCOPE_EXPORTED uint64_t vramscope_history_rows() {
  Tail& tail = TheTail();
  std::lock_guard lock(tail.mutex);
  return tail.rows;
}

// The handle of a stream that there were requests on, counted from 0. Its device; -1: there are not
// so many.
VRAMSCOPE_EXPORTED int vramscope_history_stream(int number, uint64_t* handle) {
  Tail& tail = TheTail();
  std::lock_guard lock(tail.mutex);
  if (number < 0 || static_cast<size_t>(number) >= tail.streams.size()) return -1;
  const auto& [device, stream] = *std::next(tail.streams.begin(), number);
  *handle = stream;
  return device;
}

// How many blocks have been asked for and given back on a device so far.
VRAMSCOPE_EXPORTED uint64_t vramscope_history_requests(int device) {
  return g_requests[static_cast<uint8_t>(device)].load(std::memory_order_relaxed);
}

VRAMSCOPE_EXPORTED void vramscope_history_end() {
  g_writing.store(false, std::memory_order_release);
  Tail& tail = TheTail();
  std::lock_guard lock(tail.mutex);
  tail.End(false);
}
