#include "emulated/libraries/nccl_operations.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulated/core/context.h"
#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"
#include "emulated/libraries/nccl_memory.h"
#include "emulated/libraries/nccl_progress.h"
#include "emulated/libraries/nccl_values.h"

namespace vramscope::emulated::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

thread_local int t_depth = 0;
thread_local std::vector<Operation> t_group;
thread_local std::string t_last_error;

std::chrono::seconds Patience() {
  const char* text = std::getenv("VRAMSCOPE_EMULATED_NCCL_TIMEOUT_S");
  const long seconds = text ? std::strtol(text, nullptr, 10) : 0;
  return std::chrono::seconds(seconds > 0 && seconds < 1'000'000 ? seconds : 600);
}

std::string Describe(const Comm& comm, int rank) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(comm.ranks);
}

// A receive for which the host does not wait. On a GPU, it would wait on its stream while the host
// continues, for example with a send that another rank needs first. The receive is completed when
// its bytes are needed, at the next operation of its communicator, or while this rank waits for
// something else.
struct Deferred {
  uint64_t number = 0, expected = 0;
  Progress progress;
};
std::mutex g_deferred_mutex;
std::vector<Deferred>& TheDeferred() {
  static auto* deferred = new std::vector<Deferred>;  // never destroyed: used while a process ends
  return *deferred;
}

// Removes and returns the deferred receives of a communicator up to number `last`, in order.
std::vector<Progress> TakeDeferred(const Comm* comm, uint64_t last = ~uint64_t{0}) {
  std::vector<Progress> taken;
  std::lock_guard lock(g_deferred_mutex);
  std::erase_if(TheDeferred(), [&](Deferred& one) {
    if (one.progress.comm() != comm || one.number > last) return false;
    ThePlatform().host_bytes.ExpectNoMore(one.expected);
    taken.push_back(std::move(one.progress));
    return true;
  });
  return taken;
}

bool HasDeferred(const Comm* comm) {
  std::lock_guard lock(g_deferred_mutex);
  return std::any_of(TheDeferred().begin(), TheDeferred().end(),
                     [&](const Deferred& one) { return one.progress.comm() == comm; });
}

// Receives the messages that have arrived, so that their senders can continue. Releases the lock
// before that, because writing the bytes may call Overwrite().
void LookAtDeferred() {
  std::vector<Deferred> all;
  {
    std::lock_guard lock(g_deferred_mutex);
    all.swap(TheDeferred());
  }
  std::set<std::pair<const Comm*, int>> blocked;
  std::erase_if(all, [&](Deferred& one) {
    if (blocked.contains(one.progress.order()) || !one.progress.Step()) {
      blocked.insert(one.progress.order());
      return false;
    }
    ThePlatform().host_bytes.ExpectNoMore(one.expected);
    return true;
  });
  std::lock_guard lock(g_deferred_mutex);
  TheDeferred().insert(TheDeferred().begin(), std::make_move_iterator(all.begin()),
                       std::make_move_iterator(all.end()));
}

// Waits until all operations are done.
int Await(std::vector<Progress> pending) {
  const auto deadline = Clock::now() + Patience();
  auto look = Clock::now() + milliseconds(200);
  while (!pending.empty()) {
    std::set<std::pair<const Comm*, int>> blocked;
    const size_t before = pending.size();
    std::erase_if(pending, [&](Progress& progress) {
      if (blocked.contains(progress.order())) return false;
      if (progress.Step()) return true;
      blocked.insert(progress.order());
      return false;
    });
    if (pending.empty() || pending.size() < before) continue;

    Comm* comm = pending.front().comm();
    const auto now = Clock::now();
    if (now >= look) {
      look = now + milliseconds(200);
      const int ended = comm->room->EndedRank();
      // Messages that the rank sent before it ended are still received.
      if (ended >= 0 && !(pending.front().Step())) {
        comm->Fail(kRemoteError, Describe(*comm, ended) + " has ended while " +
                                     Describe(*comm, comm->rank) + " waited for it in " +
                                     pending.front().Waiting());
        return kRemoteError;
      }
      if (ended >= 0) {
        pending.erase(pending.begin());
        continue;
      }
    }
    if (now >= deadline) {
      const int late = pending.front().LateRank();
      comm->Fail(kRemoteError, (late >= 0 ? Describe(*comm, late) : "a rank") + " did not join " +
                                   pending.front().Waiting() + " within " +
                                   std::to_string(Patience().count()) + " s");
      return kRemoteError;
    }
    LookAtDeferred();
    comm->room->WaitForNews(milliseconds(20));
  }
  return kSuccess;
}

void Overwrite(uint64_t number) {
  std::lock_guard lock(g_deferred_mutex);
  for (Deferred& one : TheDeferred())
    if (one.number == number) one.progress.Discard();
}

void Need(uint64_t number) {
  const Comm* comm = nullptr;
  {
    std::lock_guard lock(g_deferred_mutex);
    for (const Deferred& one : TheDeferred())
      if (one.number == number) comm = one.progress.comm();
  }
  if (comm) static_cast<void>(Await(TakeDeferred(comm, number)));
}

void Defer(Progress progress) {
  const void* const to = progress.to();
  const uint64_t bytes = progress.received_bytes();
  static uint64_t last = 0;
  std::lock_guard lock(g_deferred_mutex);
  const uint64_t number = ++last;
  const uint64_t expected = ThePlatform().host_bytes.Expect(
      reinterpret_cast<uint64_t>(to), bytes,
      [number](bool needed) { needed ? Need(number) : Overwrite(number); });
  TheDeferred().push_back({number, expected, std::move(progress)});
}

int Run(const std::vector<Operation>& operations) {
  std::vector<Progress> pending;
  // A receive into host memory cannot be deferred, because the host can read that memory at any
  // time.
  const bool defers = std::all_of(operations.begin(), operations.end(), [](const Operation& o) {
    return o.kind == Kind::kReceive && ThePlatform().memory.DeviceOf(o.receive) >= 0;
  });
  for (const Operation& operation : operations) {
    if (const int error = operation.comm->error; error != kSuccess) return error;
    if (!defers)
      if (const int status = Await(TakeDeferred(operation.comm)); status != kSuccess) return status;
    pending.emplace_back(operation);
    if (const int status = pending.back().Submit(); status != kSuccess) return status;
  }
  if (!defers) return Await(std::move(pending));
  LookAtDeferred();
  for (Progress& progress : pending)
    if (HasDeferred(progress.comm()) || !progress.Step()) Defer(std::move(progress));
  return kSuccess;
}

}  // namespace

void Comm::Fail(int status, const std::string& why) {
  Log("NCCL: %s", why.c_str());
  error = status;
  t_last_error = why;
  std::lock_guard lock(mutex_);
  why_ = why;
}
std::string Comm::last_error() const {
  std::lock_guard lock(mutex_);
  return why_;
}
std::string LastErrorOfThread() { return t_last_error; }

int Enqueue(const Operation& operation) {
  if (!operation.comm) return kInvalidArgument;
  if (operation.kind != Kind::kMeet) {
    if (ElementBytes(operation.type) == 0 || operation.peer < 0 ||
        operation.peer >= operation.comm->ranks)
      return kInvalidArgument;
  }
  if (t_depth > 0) {
    t_group.push_back(operation);
    return kSuccess;
  }
  return Run({operation});
}
void GroupStart() { ++t_depth; }
int GroupEnd() {
  if (t_depth == 0) return kInvalidUsage;
  if (--t_depth > 0) return kSuccess;
  return Run(std::exchange(t_group, {}));
}

std::vector<std::array<int64_t, 2>> ExchangeNumbers(Comm* comm, std::array<int64_t, 2> numbers) {
  std::vector<std::array<int64_t, 2>> all(static_cast<size_t>(comm->ranks), numbers);
  if (!comm->room) return all;
  constexpr int kInt64 = 4;
  std::vector<std::array<int64_t, 2>> gathered(all.size());
  const Operation operation{.kind = Kind::kAllGather,
                            .comm = comm,
                            .send = numbers.data(),
                            .receive = gathered.data(),
                            .count = 2,
                            .type = kInt64};
  if (Run({operation}) != kSuccess) return {};
  return gathered;
}

bool IsAlone() {
  const char* text = std::getenv("VRAMSCOPE_EMULATED_ALONE");
  return text && *text && std::strcmp(text, "0") != 0;
}

// Reports the buffers as if NCCL had called cudaMalloc. The buffers' reported address is that of
// the Comm object.
void TellBuffers(const Comm& comm, bool taken) {
  Recorder* recorder = TheRecorder();
  if (recorder == nullptr) return;
  const int64_t now = ThePlatform().clock.now();
  recorder->OnMemory({.call = taken ? Call::kMalloc : Call::kFree,
                      .allocated = taken,
                      .address = reinterpret_cast<uint64_t>(&comm),
                      .bytes = comm.buffer_bytes,
                      .device = comm.device,
                      .begin_ns = now,
                      .end_ns = now,
                      .caller = reinterpret_cast<const void*>(&TellBuffers)});
}

// Returns the memory of NCCL's kernels, which a device's first communicator adds to the context.
// Returns 0 if the device table has a figure for this memory.
uint64_t KernelBytes(int device) {
  static std::atomic<uint64_t> had{0};
  const uint64_t bit = uint64_t{1} << device;
  return ThePlatform().gpus[device].growth.nccl > 0 || (had.fetch_or(bit) & bit) != 0
             ? 0
             : kKernelBytes;
}

std::string MiBText(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

int CompleteReceives(Comm* comm) { return Await(TakeDeferred(comm)); }

int MakeComm(Comm** comm, const UniqueId& id, int ranks, int rank) {
  if (!comm) return kInvalidArgument;
  *comm = nullptr;
  if (ThePlatform().gpus.empty()) return kUnhandledCudaError;
  if (ranks < 1 || rank < 0 || rank >= ranks) return kInvalidArgument;
  auto made = std::make_unique<Comm>();
  made->id = id;
  made->ranks = ranks;
  made->rank = rank;
  made->device = CurrentDevice();
  if (ranks > 1 && !IsAlone()) {
    std::string problem;
    made->room = Rendezvous::Join(id, ranks, rank, &problem);
    if (!made->room) {
      t_last_error = problem;
      Log("NCCL: %s", problem.c_str());
      return kSystemError;
    }
  }
  // These buffers are outside PyTorch's caching allocator.
  const CommunicatorMemory memory = MemoryOfCommunicator(
      ranks, ThePlatform().gpus[made->device].peers, MemorySettingsFromEnvironment());
  const uint64_t bytes = memory.most, kernels = KernelBytes(made->device);
  GrowContext(made->device, ContextPart::kNccl);
  if (kernels > 0) {
    ThePlatform().memory.GrowContext(made->device, kernels);
    Assume("memory of NCCL's kernels, as measured on an H200 with NCCL 2.28", "ncclCommInitRank",
           kernels);
  }
  if (ThePlatform().memory.TakePhysical(made->device, bytes) != Result::kSuccess) {
    t_last_error = "out of memory: a communicator's buffers need " + std::to_string(bytes >> 20) +
                   " MiB on the GPU";
    return kUnhandledCudaError;
  }
  made->buffer_bytes = bytes;
  TellBuffers(*made, true);
  if (ranks > 1) {
    Assume("NCCL memory of a communicator of " + std::to_string(ranks) +
               " ranks, by NCCL 2.28's rules: " + MiBText(memory.least) + " to " + MiBText(bytes) +
               ", depending on channels and algorithms. The maximum is used",
           "ncclCommInitRank", bytes);
    Assume("NCCL: durations of collectives, computed from the bandwidth between GPUs",
           "ncclCommInitRank", 0);
  } else {
    Assume("NCCL memory of a communicator of one rank, as measured on an H200 with NCCL 2.28",
           "ncclCommInitRank", bytes);
  }
  *comm = made.release();
  return Enqueue({.kind = Kind::kMeet, .comm = *comm});
}

void DestroyComm(Comm* comm) {
  if (!comm) return;
  for (Progress& progress : TakeDeferred(comm)) static_cast<void>(progress.Step());
  if (comm->buffer_bytes) {
    ThePlatform().memory.GivePhysical(comm->device, comm->buffer_bytes);
    TellBuffers(*comm, false);
  }
  delete comm;
}

}  // namespace vramscope::emulated::nccl
