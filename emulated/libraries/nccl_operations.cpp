#include "emulated/libraries/nccl_operations.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "emulated/core/context.h"
#include "emulated/core/kernels.h"
#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/nccl_memory.h"
#include "emulated/libraries/nccl_values.h"

namespace vramscope::emulated::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Values of collectives and messages of bytes up to this size are exchanged between ranks, in
// rounds of Rendezvous::kMostBytes.
constexpr uint64_t kMostExchanged = uint64_t{4} << 20;

thread_local int t_depth = 0;
thread_local std::vector<Operation> t_group;
thread_local std::string t_last_error;

std::chrono::seconds Patience() {
  const char* text = std::getenv("VRAMSCOPE_EMULATED_NCCL_TIMEOUT_S");
  const long seconds = text ? std::strtol(text, nullptr, 10) : 0;
  return std::chrono::seconds(seconds > 0 && seconds < 1'000'000 ? seconds : 600);
}

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kAllReduce:
      return "ncclAllReduce";
    case Kind::kBroadcast:
      return "ncclBroadcast";
    case Kind::kReduce:
      return "ncclReduce";
    case Kind::kAllGather:
      return "ncclAllGather";
    case Kind::kReduceScatter:
      return "ncclReduceScatter";
    case Kind::kAllToAll:
      return "ncclAlltoAll";
    case Kind::kGather:
      return "ncclGather";
    case Kind::kScatter:
      return "ncclScatter";
    case Kind::kSend:
      return "ncclSend";
    case Kind::kReceive:
      return "ncclRecv";
    case Kind::kMeet:
      return "ncclCommInitRank";
  }
  return "";
}

// Bytes that a rank sends and receives in an operation.
struct Sizes {
  uint64_t sent = 0, received = 0;
};
Sizes SizesOf(const Operation& o) {
  const uint64_t part = Product(o.count, ElementBytes(o.type)),
                 all = Product(part, Positive(o.comm->ranks));
  const bool root = o.comm->rank == o.peer;
  switch (o.kind) {
    case Kind::kAllReduce:
      return {part, part};
    case Kind::kBroadcast:
      return {root ? part : 0, part};
    case Kind::kReduce:
      return {part, root ? part : 0};
    case Kind::kAllGather:
      return {part, all};
    case Kind::kReduceScatter:
      return {all, part};
    case Kind::kAllToAll:
      return {all, all};
    case Kind::kGather:
      return {part, root ? all : 0};
    case Kind::kScatter:
      return {root ? all : 0, part};
    case Kind::kSend:
      return {part, 0};
    case Kind::kReceive:
      return {0, part};
    case Kind::kMeet:
      return {};
  }
  return {};
}

// Assumed: links of 300 GB/s in each direction between GPUs whose memory bandwidth is that of data
// centre GPUs, otherwise PCIe; rings, with bus bandwidth as defined in NCCL's documentation.
constexpr double kFastLink = 300e9, kSlowLink = 20e9, kDataCentreMemory = 1.2e12;
constexpr int64_t kLatencyNs = 12'000;

int64_t DurationOf(const Operation& o) {
  const Comm& comm = *o.comm;
  const auto& gpus = ThePlatform().gpus;
  if (comm.device < 0 || comm.device >= static_cast<int>(gpus.size())) return kLatencyNs;
  const double bandwidth = gpus[comm.device].bandwidth_bytes_per_s;
  if (comm.ranks < 2) return 2'000;
  const double link = bandwidth > kDataCentreMemory ? kFastLink : kSlowLink, n = comm.ranks;
  const Sizes sizes = SizesOf(o);
  const auto most = static_cast<double>(std::max(sizes.sent, sizes.received));
  double moved = most * (n - 1) / n;
  if (o.kind == Kind::kAllReduce) moved *= 2;
  if (o.kind == Kind::kBroadcast || o.kind == Kind::kReduce || o.kind == Kind::kSend ||
      o.kind == Kind::kReceive)
    moved = most;
  const double ns = moved / link * 1e9;
  return kLatencyNs + static_cast<int64_t>(std::min(ns, 1e15));
}

uint64_t KnownPrefix(const void* address, uint64_t bytes) {
  if (!address) return 0;
  if (ThePlatform().memory.DeviceOf(address) < 0) return bytes;
  return ThePlatform().host_bytes.KnownPrefix(reinterpret_cast<uint64_t>(address), bytes);
}
std::vector<std::byte> ReadKnown(const void* address, uint64_t bytes) {
  const auto* first = static_cast<const std::byte*>(address);
  return {first, first + KnownPrefix(address, bytes)};
}
void WriteKnown(void* address, std::span<const std::byte> from) {
  if (from.empty() || !address) return;
  if (ThePlatform().memory.DeviceOf(address) >= 0)
    ThePlatform().host_bytes.Write(reinterpret_cast<uint64_t>(address), from.data(), from.size());
  else
    std::memcpy(address, from.data(), from.size());
}

// The known bytes that a rank sent.
using Brought = std::vector<std::byte>;

// Writes this rank's result, as far as it follows from known values.
void Combine(const Operation& o, const std::vector<Brought>& brought) {
  const Comm& comm = *o.comm;
  const auto ranks = static_cast<size_t>(comm.ranks), rank = static_cast<size_t>(comm.rank);
  const uint64_t part = o.count * ElementBytes(o.type);
  const auto chunk = [&](const Brought& from, size_t index) {
    const uint64_t begin = std::min<uint64_t>(index * part, from.size());
    return std::span<const std::byte>(from).subspan(begin, std::min(part, from.size() - begin));
  };
  const auto into = [&](size_t index) { return static_cast<std::byte*>(o.receive) + index * part; };
  switch (o.kind) {
    case Kind::kAllReduce:
    case Kind::kReduce:
    case Kind::kReduceScatter: {
      if (o.kind == Kind::kReduce && comm.rank != o.peer) return;
      const size_t own = o.kind == Kind::kReduceScatter ? rank : 0;
      if (std::any_of(brought.begin(), brought.end(),
                      [&](const Brought& b) { return chunk(b, own).size() != part; }))
        return;
      const auto first = chunk(brought[0], own);
      std::vector<std::byte> sum(first.begin(), first.end());
      for (size_t r = 1; r < ranks; ++r)
        if (!Reduce(o.type, o.reduction, sum, chunk(brought[r], own))) return;
      constexpr int kAverage = 4;
      if (o.reduction == kAverage) Divide(o.type, comm.ranks, sum);
      WriteKnown(o.receive, sum);
      return;
    }
    case Kind::kBroadcast:
      WriteKnown(o.receive, brought[static_cast<size_t>(o.peer)]);
      return;
    case Kind::kScatter:
      WriteKnown(o.receive, chunk(brought[static_cast<size_t>(o.peer)], rank));
      return;
    case Kind::kAllGather:
    case Kind::kGather:
    case Kind::kAllToAll:
      if (o.kind == Kind::kGather && comm.rank != o.peer) return;
      for (size_t r = 0; r < ranks; ++r)
        WriteKnown(into(r), chunk(brought[r], o.kind == Kind::kAllToAll ? rank : 0));
      return;
    default:
      return;
  }
}

// An operation in progress; its values are exchanged in rounds.
class Progress {
 public:
  explicit Progress(const Operation& operation)
      : operation_(operation), sizes_(SizesOf(operation)) {}

  int Submit() {
    if (operation_.kind == Kind::kMeet) return kSuccess;
    Own();  // before Submit() makes the result unknown, because it may be in the same buffer
    const void* const reads[] = {operation_.send};
    const Written writes[] = {{operation_.receive, sizes_.received}};
    const Result result = emulated::Submit(
        {.name = NameOf(operation_.kind),
         .stream = operation_.stream,
         .bytes = std::max(sizes_.sent, sizes_.received),
         .reads = reads,
         .writes = std::span(writes, operation_.receive && sizes_.received ? 1 : 0),
         .duration_ns = DurationOf(operation_),
         .polled = true});
    return result == Result::kSuccess ? kSuccess : kUnhandledCudaError;
  }

  // A key of operations that run in order: the collectives of a communicator, or the messages to or
  // from a rank.
  std::pair<const Comm*, int> order() const {
    if (operation_.kind == Kind::kSend) return {operation_.comm, 1 + 2 * operation_.peer};
    if (operation_.kind == Kind::kReceive) return {operation_.comm, 2 + 2 * operation_.peer};
    return {operation_.comm, 0};
  }
  Comm* comm() const { return operation_.comm; }
  const void* to() const { return operation_.receive; }
  uint64_t received_bytes() const { return sizes_.received; }
  // Something else was written where the message belongs: it is still received, but not stored.
  void Discard() { operation_.receive = nullptr; }

  // Returns true when done.
  bool Step() {
    Rendezvous* room = operation_.comm->room.get();
    if (operation_.kind == Kind::kMeet) {
      if (room && !room->AllJoined()) return false;
      if (room && !std::exchange(operation_.comm->met, true)) room->Unlink();
      return true;
    }
    if (!room || operation_.comm->ranks == 1) {
      if (operation_.kind != Kind::kSend && operation_.kind != Kind::kReceive && exchanged())
        Combine(operation_,
                std::vector<Brought>(static_cast<size_t>(operation_.comm->ranks), own_));
      return true;
    }
    if (operation_.kind == Kind::kSend || operation_.kind == Kind::kReceive) return Message(room);
    if (!exchanged()) return true;
    return Collective(room);
  }

  std::string Waiting() const {
    if (operation_.kind == Kind::kSend || operation_.kind == Kind::kReceive)
      return std::string(NameOf(operation_.kind)) + " with rank " + std::to_string(operation_.peer);
    return NameOf(operation_.kind);
  }
  int LateRank() const {
    if (!operation_.comm->room) return -1;
    if (operation_.kind == Kind::kSend || operation_.kind == Kind::kReceive) return operation_.peer;
    return operation_.comm->room->LateRank(operation_.comm->number);
  }

 private:
  // The result is the same on all ranks, because they agree on the sizes.
  bool exchanged() const { return most_sent() <= kMostExchanged; }
  uint64_t most_sent() const {
    const uint64_t part = Product(operation_.count, ElementBytes(operation_.type));
    const bool all = operation_.kind == Kind::kReduceScatter ||
                     operation_.kind == Kind::kAllToAll || operation_.kind == Kind::kScatter;
    return all ? Product(part, Positive(operation_.comm->ranks)) : part;
  }

  void Own() {
    const bool message = operation_.kind == Kind::kSend;
    if (sizes_.sent > (message ? most_in_message() : kMostExchanged)) return;
    const bool takes = (operation_.kind == Kind::kBroadcast || operation_.kind == Kind::kScatter) &&
                       operation_.comm->rank != operation_.peer;
    if (!takes) {
      own_ = ReadKnown(operation_.send, sizes_.sent);
    } else if (operation_.kind == Kind::kBroadcast && !operation_.comm->room && exchanged()) {
      // This is the only process: the root has the same values as this rank.
      own_ = ReadKnown(operation_.receive, most_sent());
    }
  }

  // Messages of bytes may be objects, whose values the receiver needs; other messages are not
  // awaited if they have several parts.
  uint64_t most_in_message() const {
    return ElementBytes(operation_.type) == 1 ? kMostExchanged : Rendezvous::kMostBytes;
  }

  bool Message(Rendezvous* room) {
    const uint64_t bytes = std::max(sizes_.sent, sizes_.received);
    if (bytes > most_in_message() || !room->HasBoxes()) return true;
    const bool sends = operation_.kind == Kind::kSend;
    if (!sends) message_.resize(bytes);
    do {
      const uint64_t begin = round_ * Rendezvous::kMostBytes;
      if (sends) {
        const uint64_t from = std::min<uint64_t>(begin, own_.size());
        const auto part = std::span<const std::byte>(own_).subspan(
            from, std::min<uint64_t>(Rendezvous::kMostBytes, own_.size() - from));
        if (!room->Send(operation_.peer, part, !part.empty())) return false;
      } else {
        const auto rest = std::span(message_).subspan(begin);
        size_t known = 0;
        if (!room->Receive(operation_.peer,
                           rest.first(std::min<size_t>(Rendezvous::kMostBytes, rest.size())),
                           &known))
          return false;
        if (known_ == begin) known_ += known;
      }
      ++round_;
    } while (round_ * Rendezvous::kMostBytes < bytes);
    if (!sends) WriteKnown(operation_.receive, std::span(message_).first(known_));
    return true;
  }

  // The parts of all ranks arrive in rounds; a part that is shorter than a round is the last one.
  bool Collective(Rendezvous* room) {
    bool more = true;
    while (more) {
      if (!published_) {
        const uint64_t begin = std::min<uint64_t>(round_ * Rendezvous::kMostBytes, own_.size());
        const auto part = std::span<const std::byte>(own_).subspan(
            begin, std::min<uint64_t>(Rendezvous::kMostBytes, own_.size() - begin));
        room->Publish(++operation_.comm->number, part, !part.empty());
        published_ = true;
      }
      if (!room->Arrived(operation_.comm->number)) return false;
      brought_.resize(static_cast<size_t>(operation_.comm->ranks));
      more = false;
      for (int r = 0; r < operation_.comm->ranks; ++r) {
        const Rendezvous::PartView part = room->Part(r, operation_.comm->number);
        if (!part.known) continue;
        Brought& from = brought_[static_cast<size_t>(r)];
        from.insert(from.end(), part.bytes.begin(), part.bytes.end());
        more |= part.bytes.size() == Rendezvous::kMostBytes;
      }
      published_ = false;
      ++round_;
      more &= round_ * Rendezvous::kMostBytes < most_sent();
    }
    Combine(operation_, brought_);
    return true;
  }

  Operation operation_;
  Sizes sizes_;
  Brought own_;
  std::vector<Brought> brought_;
  std::vector<std::byte> message_;  // received so far
  size_t known_ = 0;                // bytes at its beginning that are known
  uint64_t round_ = 0;
  bool published_ = false;
};

std::string Describe(const Comm& comm, int rank) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(comm.ranks);
}

// Receives that the host does not wait for. On a GPU they wait on their stream, so the host may go
// on, for example with a send that another rank needs first. They are completed when their bytes
// are needed, at the next operation of their communicator (which waits on the same stream), and
// while this rank waits for something else.
struct Deferred {
  uint64_t number = 0, expected = 0;
  Progress progress;
};
std::mutex g_deferred_mutex;
std::vector<Deferred>& TheDeferred() {
  static auto* deferred = new std::vector<Deferred>;  // never destroyed: used while a process ends
  return *deferred;
}

// Removes and returns those of a communicator up to this number, in order.
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

// Receives what has arrived, so that the senders can go on. The lock is not held meanwhile, because
// writing the bytes may call Overwrite().
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
      // What the rank sent before it ended still counts.
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
  // Memory of the host can be read at any time.
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

// Reports the buffers as if NCCL had called cudaMalloc. The address of the Comm object stands in
// for that of its buffers.
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

// NCCL's kernels, which the first communicator of a device adds to the context; 0 if the device
// table already has the figure.
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
  // These buffers are outside the framework's allocator.
  const CommunicatorMemory memory = MemoryOfCommunicator(
      ranks, ThePlatform().gpus[made->device].peers, MemorySettingsFromEnvironment());
  const uint64_t bytes = memory.most, kernels = KernelBytes(made->device);
  GrowContext(made->device, ContextPart::kNccl);
  if (kernels > 0) {
    ThePlatform().memory.GrowContext(made->device, kernels);
    Assume("NCCL's kernels, as measured on an H200 with NCCL 2.28", "ncclCommInitRank", kernels);
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
               " depending on channels and algorithms; the maximum is used",
           "ncclCommInitRank", bytes);
    Assume("NCCL duration of collectives: bandwidth between GPUs", "ncclCommInitRank", 0);
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
