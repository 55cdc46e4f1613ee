// Records every event of PyTorch's caching allocator when it happens, in a mapped file that
// survives the process (profiler/program/history_tail.h). Python's hooks
// (emulated/python/vramscope/tail.py) attach this recorder to the allocator and begin a new file
// with every chunk of the history.
//
// The allocator is called through its virtual table, because PyTorch's headers differ between
// versions. PyTorch exports the virtual table of another allocator, CUDAPluggableAllocator, and its
// attachAllocatorTraceTracker. The position of this function in the table is the same in all
// allocators.
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

// The first members of PyTorch's TraceEntry. Checked for 2.4, 2.6, 2.11 and 2.15.
struct Entry {
  int action;
  int8_t device;  // an int in early versions
  uint64_t address;
  std::array<void*, 2> context;
  uint64_t stream, bytes;
};
static_assert(offsetof(Entry, address) == 8 && offsetof(Entry, stream) == 32 &&
              offsetof(Entry, bytes) == 40);
enum : int { kAlloc = 0, kFreeRequested = 1, kSnapshot = 7 };  // kSnapshot: a snapshot was taken

// A file of history entries. There are two Tail objects, which are used in turn and never freed. A
// writer needs no lock: it checks that its file is still the current one.
struct Tail {
  std::string path;
  MappedFile file;
  std::atomic<uint64_t> taken{0};    // rows that are written or being written
  std::atomic<uint32_t> writers{0};  // threads that are writing now

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
  // Closes the file. If `keep`, renames it, so that it remains as a chunk of the history.
  void End(bool keep) {
    if (file.data() == nullptr) return;
    const uint64_t rows = header()->rows.load(std::memory_order_acquire);
    if (keep) file.CutTo(sizeof(HistoryTailHeader) + rows * sizeof(HistoryTailRow));
    file.Close();
    if (!keep) return;
    constexpr size_t kEnding = 5;  // length of ".tail"
    const std::string chunk = path.substr(0, path.size() - kEnding) + ".rows";
    static_cast<void>(rename(path.c_str(), chunk.c_str()));
  }

  // Bytes that are reserved in advance: 100,000 rows.
  static constexpr size_t kAhead = size_t{4} << 20;
};

// Never destroyed, because it is used while the process ends.
struct State {
  std::mutex changing;  // locked to begin or end a file; allocating threads never lock it
  Tail tails[2];
  sem_t wanted;            // posted by allocating threads, awaited by the reserving thread
  bool reserving = false;  // the reserving thread exists
};
State& The() {
  static auto* state = new State;
  return *state;
}

std::atomic<Tail*> g_tail{nullptr};                   // the current file; null: none
std::atomic<bool> g_asked{false};                     // more file space was requested
std::atomic<Stacks*> g_stacks{nullptr};               // null: stacks cannot be read
std::array<std::atomic<uint64_t>, 256> g_requests{};  // number of allocations and frees, by device
// The streams in the order of their first allocation. An unused entry is 0. A used entry consists
// of the top bit, the handle (55 bits) and the device (8 bits).
std::array<std::atomic<uint64_t>, 4096> g_streams{};

void NoteStream(uint8_t device, uint64_t stream) {
  const uint64_t key = uint64_t{1} << 63 | stream << 8 | device;
  if (stream >> 55 != 0) return;  // not an address on this platform
  for (std::atomic<uint64_t>& place : g_streams) {
    uint64_t there = place.load(std::memory_order_relaxed);
    if (there == 0 && place.compare_exchange_strong(there, key, std::memory_order_relaxed)) return;
    if (there == key) return;
  }
}

// Returns the current file, which remains valid until Leave().
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

// Makes `next` current. Returns the previous file after the last thread has finished writing to it.
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
  // Usually the thread of ReserveAhead() has already reserved these bytes. Reserve() fails if the
  // disk is full.
  if (!tail->file.Reserve(end)) {
    header.full.store(1, std::memory_order_relaxed);
    return;
  }
  // Writes all members except `done`, which tells readers that the row is complete.
  HistoryTailRow* const place = tail->row(number);
  place->address = row.address;
  place->bytes = row.bytes;
  place->stream = row.stream;
  place->time_ns = row.time_ns;
  place->action = row.action;
  place->device = row.device;
  place->stack = row.stack;
  // header.rows counts complete rows in order. A row is counted by its own thread or by the thread
  // that completes the preceding row. Sequential consistency ensures that one of these two threads
  // sees that both rows are complete.
  std::atomic_ref(place->done).store(row.done);
  for (uint64_t rows = header.rows.load();
       sizeof header + (rows + 1) * sizeof row <= tail->file.reserved() &&
       std::atomic_ref(tail->row(rows)->done).load() != 0;)
    if (header.rows.compare_exchange_weak(rows, rows + 1)) ++rows;
}

// Called by the allocating thread under the allocator's lock (one for each device). Takes no lock
// and allocates nothing.
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
  const void* const context = &entry.context;  // PyTorch's shared pointer
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

// Reserves file space in advance, so that allocating threads make no system call.
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

// Call with `changing` locked. If the thread cannot start, allocating threads reserve space.
void StartReserving(State& state) {
  if (state.reserving) return;
  sem_init(&state.wanted, 0, 0);
  g_asked.store(false);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's threads handle signals
  try {
    std::thread(ReserveAhead).detach();
    state.reserving = true;
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A forked child has neither the thread nor the files.
void InChild() {
  g_tail.store(nullptr);
  State& state = The();
  for (Tail& tail : state.tails) {
    tail.writers.store(0);
    tail.file.Forget();
  }
  state.reserving = false;
}

// Computes the number of slots in the table from the size of its symbol, so that memory after the
// table is never read.
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

// `allocator`: the process's allocator (c10's CUDACachingAllocator::allocator). `table` and
// `function`: CUDAPluggableAllocator's virtual table and attachAllocatorTraceTracker. Returns 1 on
// success; events are recorded from then on. Call once in a process, after CUDA is initialized.
VRAMSCOPE_EXPORTED int vramscope_history_attach(void** allocator, void* const* table,
                                                void* function) {
  static std::atomic<bool> attached = false;
  if (attached) return 1;
  void* const self = *allocator;
  if (self == nullptr) return 0;
  const size_t end = SlotsOf(table);
  size_t place = 2;  // after the offset and the type information
  while (place < end && table[place] != function) ++place;
  if (place >= end) return 0;
  void* const found = (*static_cast<void* const* const*>(self))[place - 2];
  using Tracker = std::function<void(const Entry&)>;
  // The ABI passes a parameter whose type has a destructor as a pointer to the caller's copy.
  using Attach = void (*)(void* self, Tracker* tracker);
  The();  // created now, not at the first event
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

// Checks the assumed layout of PyTorch's captured stacks with a stack captured in `code`. If the
// layout is as assumed, returns 1, and rows have stacks from then on. Call with the interpreter's
// lock held.
VRAMSCOPE_EXPORTED int vramscope_history_stacks(const void* captured, const void* code) {
  const bool fits =
      PythonApi::The().complete && Stacks::Fits(captured, static_cast<const PyObject*>(code));
  static auto* stacks = new Stacks;
  g_stacks.store(fits ? stacks : nullptr, std::memory_order_release);
  return fits ? 1 : 0;
}

// Writes new stacks, their names and the operators. Returns 1 on success. Call with the
// interpreter's lock held.
VRAMSCOPE_EXPORTED int vramscope_history_write_stacks(int fd) {
  Stacks* const stacks = g_stacks.load(std::memory_order_acquire);
  return stacks == nullptr || (WriteOperators(fd) && stacks->Write(fd)) ? 1 : 0;
}

// Creates a file and makes it current. If `keep`, the previous file remains as a chunk. Returns 1
// if the new file could be created.
VRAMSCOPE_EXPORTED int vramscope_history_begin(const char* path, int keep) {
  State& state = The();
  std::lock_guard lock(state.changing);
  Tail& next = g_tail.load() == &state.tails[0] ? state.tails[1] : state.tails[0];
  StartReserving(state);
  const bool made = next.Begin(path);
  if (Tail* const before = TakeAway(made ? &next : nullptr)) before->End(keep != 0);
  return made ? 1 : 0;
}

// Returns the number of rows in the current file.
VRAMSCOPE_EXPORTED uint64_t vramscope_history_rows() {
  std::lock_guard lock(The().changing);
  Tail* const tail = g_tail.load();
  return tail == nullptr ? 0 : tail->header()->rows.load(std::memory_order_acquire);
}

// Sets `handle` to the handle of stream `number`, counted from 0 in the order of first allocations.
// Returns the stream's device, or -1 if there are fewer streams.
VRAMSCOPE_EXPORTED int vramscope_history_stream(int number, uint64_t* handle) {
  if (number < 0 || static_cast<size_t>(number) >= g_streams.size()) return -1;
  const uint64_t key = g_streams[static_cast<size_t>(number)].load(std::memory_order_relaxed);
  if (key == 0) return -1;
  *handle = (key & ~(uint64_t{1} << 63)) >> 8;
  return static_cast<uint8_t>(key);
}

// Returns the number of allocations and frees on a device so far.
VRAMSCOPE_EXPORTED uint64_t vramscope_history_requests(int device) {
  return g_requests[static_cast<uint8_t>(device)].load(std::memory_order_relaxed);
}

VRAMSCOPE_EXPORTED void vramscope_history_end() {
  std::lock_guard lock(The().changing);
  if (Tail* const before = TakeAway(nullptr)) before->End(false);
}
