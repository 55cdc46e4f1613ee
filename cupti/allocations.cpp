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
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "cupti/mapped_file.h"
#include "cupti/operators.h"
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

// A file. There are two, one of which is being written: whoever is about to write the other finds
// that out, so that neither has to be locked, and none is ever freed.
struct Tail {
  std::string path;
  MappedFile file;
  std::atomic<uint64_t> taken{0};    // rows that somebody writes or has written
  std::atomic<uint32_t> writers{0};  // in here just now

  HistoryTailHeader* header() {
    return std::launder(reinterpret_cast<HistoryTailHeader*>(file.data()));
  }
  HistoryTailRow* row(uint64_t number) {
    return reinterpret_cast<HistoryTailRow*>(file.data() + sizeof(HistoryTailHeader)) + number;
  }
  bool Begin(const char* at) {
    path = at;
    taken = 0;
    if (!file.Create(at, program::kMostTailBytes) || !file.Reserve(kAhead)) {
      file.Close();
      return false;
    }
    new (file.data()) HistoryTailHeader{.row_bytes = sizeof(HistoryTailRow)};
    return true;
  }
  // `keep`: it is a chunk of the history.
  void End(bool keep) {
    if (file.data() == nullptr) return;
    const uint64_t rows = header()->rows.load(std::memory_order_acquire);
    if (keep) file.CutTo(sizeof(HistoryTailHeader) + rows * sizeof(HistoryTailRow));
    file.Close();
    if (!keep) return;
    constexpr size_t kEnding = 5;  // ".tail"
    const std::string chunk = path.substr(0, path.size() - kEnding) + ".rows";
    static_cast<void>(rename(path.c_str(), chunk.c_str()));
  }

  // What is kept reserved in front of the rows: 100,000 of them.
  static constexpr size_t kAhead = size_t{4} << 20;
};

// Never destroyed: called while the process ends.
struct State {
  std::mutex changing;  // of those who begin and end files; who allocates takes none
  Tail tails[2];
  sem_t wanted;            // by who allocates, of who reserves
  bool reserving = false;  // there is a thread that does
};
State& The() {
  static auto* state = new State;
  return *state;
}

std::atomic<Tail*> g_tail{nullptr};                   // that is being written; null: none
std::atomic<bool> g_asked{false};                     // for more room
std::atomic<Stacks*> g_stacks{nullptr};               // null: cannot be read
std::array<std::atomic<uint64_t>, 256> g_requests{};  // by device
// That there were requests on: 1, the handle's lower 55 bits, the device's 8. In their order, then
// 0.
std::array<std::atomic<uint64_t>, 4096> g_streams{};

void NoteStream(uint8_t device, uint64_t stream) {
  const uint64_t key = uint64_t{1} << 63 | stream << 8 | device;
  if (stream >> 55 != 0) return;  // no address of this platform's
  for (std::atomic<uint64_t>& place : g_streams) {
    uint64_t there = place.load(std::memory_order_relaxed);
    if (there == 0 && place.compare_exchange_strong(there, key, std::memory_order_relaxed)) return;
    if (there == key) return;
  }
}

// The file that is being written, which stays until Leave.
Tail* Enter() {
  for (Tail* tail = g_tail.load(); tail != nullptr;) {
    tail->writers.fetch_add(1);
    Tail* const now = g_tail.load();
    if (now == tail) return tail;
    tail->writers.fetch_sub(1);
    tail = now;
  }
  return nullptr;
}
void Leave(Tail* tail) { tail->writers.fetch_sub(1, std::memory_order_release); }

// No longer written by anybody, and what it holds is whole.
Tail* TakeAway(Tail* next) {
  Tail* const before = g_tail.exchange(next);
  if (before == nullptr) return nullptr;
  while (before->writers.load() != 0) sched_yield();
  return before;
}

void Put(Tail* tail, const HistoryTailRow& row) {
  HistoryTailHeader& header = *tail->header();
  if (header.full.load(std::memory_order_relaxed) != 0) return;
  const uint64_t number = tail->taken.fetch_add(1, std::memory_order_relaxed);
  const size_t end = sizeof header + (number + 1) * sizeof row;
  if (end + Tail::kAhead / 2 > tail->file.reserved() && !g_asked.exchange(true))
    sem_post(&The().wanted);
  // Reserved by now, unless the disk is full or nobody came to it.
  if (!tail->file.Reserve(end)) {
    header.full.store(1, std::memory_order_relaxed);
    return;
  }
  // All but what others may be looking at.
  HistoryTailRow* const place = tail->row(number);
  place->address = row.address;
  place->bytes = row.bytes;
  place->stream = row.stream;
  place->time_ns = row.time_ns;
  place->action = row.action;
  place->device = row.device;
  place->stack = row.stack;
  // Rows are told of in their order, each by who finds it done: whoever did the one before, or who
  // does it. In one order for all, so that one of the two sees the other.
  std::atomic_ref(place->done).store(row.done);
  for (uint64_t rows = header.rows.load();
       sizeof header + (rows + 1) * sizeof row <= tail->file.reserved() &&
       std::atomic_ref(tail->row(rows)->done).load() != 0;)
    if (header.rows.compare_exchange_weak(rows, rows + 1)) ++rows;
}

// On the thread that allocates, under the allocator's lock, of which there is one for each device:
// takes no lock and allocates nothing.
void Take(const Entry& entry) {
  const auto device = static_cast<uint8_t>(entry.device);
  if (entry.action == kAlloc || entry.action == kFreeRequested)
    g_requests[device].fetch_add(1, std::memory_order_relaxed);
  if (entry.action == kSnapshot) return;
  Tail* const tail = Enter();
  if (tail == nullptr) return;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  Stacks* const stacks = g_stacks.load(std::memory_order_acquire);
  if (entry.action == kAlloc) NoteStream(device, entry.stream);
  const void* const context = &entry.context;  // a shared pointer of PyTorch's
  Put(tail,
      {.address = entry.address,
       .bytes = entry.bytes,
       .stream = entry.stream,
       .time_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec,
       .action = static_cast<uint8_t>(entry.action),
       .device = device,
       .done = static_cast<uint16_t>(1 + OperatorHere()),
       .stack =
           stacks == nullptr ? 0 : stacks->Number(*static_cast<const Stacks::Context*>(context))});
  Leave(tail);
}

// Room in front of the rows, so that who allocates need not ask for it.
void ReserveAhead() {
  State& state = The();
  for (;;) {
    while (sem_wait(&state.wanted) != 0) {
    }
    std::lock_guard lock(state.changing);
    g_asked.store(false);
    if (Tail* const tail = g_tail.load(); tail != nullptr) {
      const size_t used = sizeof(HistoryTailHeader) + tail->taken.load() * sizeof(HistoryTailRow);
      tail->file.Reserve(std::min(program::kMostTailBytes, used + Tail::kAhead));
    }
  }
}

// With `changing` held. Where there can be no thread who allocates reserves.
void StartReserving(State& state) {
  if (state.reserving) return;
  sem_init(&state.wanted, 0, 0);
  g_asked.store(false);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's are none of its business
  try {
    std::thread(ReserveAhead).detach();
    state.reserving = true;
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A child has neither the thread nor the files.
void InChild() {
  g_tail.store(nullptr);
  State& state = The();
  for (Tail& tail : state.tails) {
    tail.writers.store(0);
    tail.file.Forget();
  }
  state.reserving = false;
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
  static std::atomic<bool> attached = false;
  if (attached) return 1;
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
  The();  // not when it is first told of something
  Tracker tracker = &Take;
  reinterpret_cast<Attach>(found)(self, &tracker);
  attached = true;
  static const int in_children =
      pthread_atfork([] { The().changing.lock(); }, [] { The().changing.unlock(); },
                     [] {
                       InChild();
                       The().changing.unlock();
                     });
  static_cast<void>(in_children);
  return 1;
}

// Whether what PyTorch has captured can be read, as one that was captured in this code says; then
// rows have stacks from here on. With the interpreter's lock held.
VRAMSCOPE_EXPORTED int vramscope_history_stacks(const void* captured, const void* code) {
  const bool fits =
      PythonApi::The().complete && Stacks::Fits(captured, static_cast<const PyObject*>(code));
  static auto* stacks = new Stacks;
  g_stacks.store(fits ? stacks : nullptr, std::memory_order_release);
  return fits ? 1 : 0;
}

// Those that are new, with their names, and the operators. 1: written. Likewise.
VRAMSCOPE_EXPORTED int vramscope_history_write_stacks(int fd) {
  Stacks* const stacks = g_stacks.load(std::memory_order_acquire);
  return stacks == nullptr || (WriteOperators(fd) && stacks->Write(fd)) ? 1 : 0;
}

// Entries from here on go into that file, which is new; `keep`: the one before is a chunk. 1: it
// could be made.
VRAMSCOPE_EXPORTED int vramscope_history_begin(const char* path, int keep) {
  State& state = The();
  std::lock_guard lock(state.changing);
  Tail& next = g_tail.load() == &state.tails[0] ? state.tails[1] : state.tails[0];
  StartReserving(state);
  const bool made = next.Begin(path);
  if (Tail* const before = TakeAway(made ? &next : nullptr)) before->End(keep != 0);
  return made ? 1 : 0;
}

// In the file that was begun last.
VRAMSCOPE_EXPORTED uint64_t vramscope_history_rows() {
  std::lock_guard lock(The().changing);
  Tail* const tail = g_tail.load();
  return tail == nullptr ? 0 : tail->header()->rows.load(std::memory_order_acquire);
}

// The handle of a stream that there were requests on, counted from 0. Its device; -1: there are not
// so many.
VRAMSCOPE_EXPORTED int vramscope_history_stream(int number, uint64_t* handle) {
  if (number < 0 || static_cast<size_t>(number) >= g_streams.size()) return -1;
  const uint64_t key = g_streams[static_cast<size_t>(number)].load(std::memory_order_relaxed);
  if (key == 0) return -1;
  *handle = (key & ~(uint64_t{1} << 63)) >> 8;
  return static_cast<uint8_t>(key);
}

// How many blocks have been asked for and given back on a device so far.
VRAMSCOPE_EXPORTED uint64_t vramscope_history_requests(int device) {
  return g_requests[static_cast<uint8_t>(device)].load(std::memory_order_relaxed);
}

VRAMSCOPE_EXPORTED void vramscope_history_end() {
  std::lock_guard lock(The().changing);
  if (Tail* const before = TakeAway(nullptr)) before->End(false);
}
