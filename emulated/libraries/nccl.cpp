// Implements the functions of libnccl that programs call. Communicators and collectives are in
// nccl_operations.cpp.
#include <algorithm>
#include <cstring>

#include "emulated/core/pacing.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/nccl_operations.h"
#include "emulated/libraries/program_version.h"

using namespace vramscope::emulated;
using namespace vramscope::emulated::nccl;

namespace {

// Splits a communicator by color, and orders the ranks by key.
int Split(Comm* parent, int color, int key, Comm** child) {
  constexpr int kNoColor = -1;
  if (!parent || !child) return kInvalidArgument;
  *child = nullptr;
  const uint64_t number = ++parent->splits;
  if (!parent->room && parent->ranks > 1) {
    Assume("NCCL: a split communicator is assumed to contain all ranks of its parent communicator",
           "ncclCommSplit", 0);
    return color == kNoColor ? kSuccess
                             : MakeComm(child, DeriveUniqueId(parent->id, number, color),
                                        parent->ranks, parent->rank);
  }
  const std::vector<std::array<int64_t, 2>> all = ExchangeNumbers(parent, {color, key});
  if (all.empty()) return parent->error;
  if (color == kNoColor) return kSuccess;
  int ranks = 0, rank = 0;
  for (int other = 0; other < parent->ranks; ++other) {
    const auto [their_color, their_key] = all[static_cast<size_t>(other)];
    if (their_color != color) continue;
    ++ranks;
    rank += their_key < key || (their_key == key && other < parent->rank);
  }
  return MakeComm(child, DeriveUniqueId(parent->id, number, color), ranks, rank);
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  if (!version) return kInvalidArgument;
  const Version v = ProgramVersion("nvidia-nccl-cu", {2, 21, 5});
  // As in nccl.h's macro NCCL_VERSION, versions from 2.9 on have five digits.
  *version = v.major > 2 || v.minor >= 9 ? v.major * 10000 + v.minor * 100 + v.patch
                                         : v.major * 1000 + v.minor * 100 + v.patch;
  return kSuccess;
}
int ncclGetUniqueId(UniqueId* id) {
  if (!id) return kInvalidArgument;
  *id = MakeUniqueId();
  return kSuccess;
}
int ncclCommInitRank(Comm** comm, int ranks, UniqueId id, int rank) {
  PaceWaitsOf(__builtin_return_address(0));  // paces the caller's watchdog
  return MakeComm(comm, id, ranks, rank);
}
int ncclCommInitRankConfig(Comm** comm, int ranks, UniqueId id, int rank, void*) {
  PaceWaitsOf(__builtin_return_address(0));  // paces the caller's watchdog
  return MakeComm(comm, id, ranks, rank);
}
int ncclCommInitRankScalable(Comm** comm, int ranks, int rank, int ids, const UniqueId* id, void*) {
  PaceWaitsOf(__builtin_return_address(0));  // paces the caller's watchdog
  return ids < 1 || !id ? kInvalidArgument : MakeComm(comm, id[0], ranks, rank);
}
int ncclCommInitAll(Comm** comms, int count, const int* devices) {
  if (!comms || count < 1 || count > static_cast<int>(ThePlatform().gpus.size()))
    return kInvalidArgument;
  const UniqueId id = MakeUniqueId();
  const int before = CurrentDevice();
  GroupStart();
  int status = kSuccess;
  for (int i = 0; i < count && status == kSuccess; ++i) {
    if (SetCurrentDevice(devices ? devices[i] : i) != Result::kSuccess)
      status = kInvalidArgument;
    else
      status = MakeComm(&comms[i], id, count, i);
  }
  SetCurrentDevice(before);
  const int met = GroupEnd();
  return status == kSuccess ? met : status;
}
int ncclCommSplit(Comm* parent, int color, int key, Comm** child, void*) {
  return Split(parent, color, key, child);
}
int ncclCommShrink(Comm* parent, int* excluded, int count, Comm** child, void*, int) {
  if (!parent || !child || count < 0 || (count && !excluded)) return kInvalidArgument;
  int ranks = 0, rank = 0;
  for (int other = 0; other < parent->ranks; ++other) {
    if (std::find(excluded, excluded + count, other) != excluded + count) continue;
    rank += other < parent->rank;
    ++ranks;
  }
  return MakeComm(child, DeriveUniqueId(parent->id, ++parent->splits, 0), ranks, rank);
}
int ncclCommFinalize(Comm* comm) { return comm ? CompleteReceives(comm) : kInvalidArgument; }
int ncclCommDestroy(Comm* comm) {
  CompleteReceives(comm);
  DestroyComm(comm);
  return kSuccess;
}
int ncclCommAbort(Comm* comm) {
  DestroyComm(comm);
  return kSuccess;
}
int ncclCommRevoke(Comm* comm, int) { return comm ? kSuccess : kInvalidArgument; }
int ncclCommCount(const Comm* comm, int* count) {
  if (!comm || !count) return kInvalidArgument;
  *count = comm->ranks;
  return kSuccess;
}
int ncclCommUserRank(const Comm* comm, int* rank) {
  if (!comm || !rank) return kInvalidArgument;
  *rank = comm->rank;
  return kSuccess;
}
int ncclCommCuDevice(const Comm* comm, int* device) {
  if (!comm || !device) return kInvalidArgument;
  *device = comm->device;
  return kSuccess;
}
int ncclCommGetAsyncError(const Comm* comm, int* error) {
  if (!comm || !error) return kInvalidArgument;
  *error = comm->error;
  return kSuccess;
}
const char* ncclGetErrorString(int status) {
  switch (status) {
    case kSuccess:
      return "no error";
    case kUnhandledCudaError:
      return "unhandled cuda error";
    case kSystemError:
      return "unhandled system error";
    case kInternalError:
      return "internal error";
    case kInvalidArgument:
      return "invalid argument";
    case kInvalidUsage:
      return "invalid usage";
    case kRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "unknown result code";
  }
}
const char* ncclGetLastError(const Comm* comm) {
  thread_local std::string text;
  text = comm ? comm->last_error() : LastErrorOfThread();
  return text.c_str();
}

int ncclGroupStart() {
  GroupStart();
  return kSuccess;
}
int ncclGroupEnd() { return GroupEnd(); }
int ncclGroupSimulateEnd(void* info) {
  struct {
    size_t size;
    unsigned magic, version;
    float estimated;
  } head;
  if (info) {
    std::memcpy(&head, info, sizeof head.size);
    const float none = 0;
    if (head.size >= 20) std::memcpy(static_cast<char*>(info) + 16, &none, sizeof none);
  }
  return GroupEnd();
}

int ncclAllReduce(const void* send, void* receive, size_t count, int type, int reduction,
                  Comm* comm, void* stream) {
  return Enqueue({.kind = Kind::kAllReduce,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .reduction = reduction,
                  .stream = stream});
}
int ncclReduce(const void* send, void* receive, size_t count, int type, int reduction, int root,
               Comm* comm, void* stream) {
  return Enqueue({.kind = Kind::kReduce,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .reduction = reduction,
                  .peer = root,
                  .stream = stream});
}
int ncclBroadcast(const void* send, void* receive, size_t count, int type, int root, Comm* comm,
                  void* stream) {
  return Enqueue({.kind = Kind::kBroadcast,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .peer = root,
                  .stream = stream});
}
int ncclBcast(void* buffer, size_t count, int type, int root, Comm* comm, void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
int ncclAllGather(const void* send, void* receive, size_t count, int type, Comm* comm,
                  void* stream) {
  return Enqueue({.kind = Kind::kAllGather,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .stream = stream});
}
int ncclReduceScatter(const void* send, void* receive, size_t count, int type, int reduction,
                      Comm* comm, void* stream) {
  return Enqueue({.kind = Kind::kReduceScatter,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .reduction = reduction,
                  .stream = stream});
}
int ncclAlltoAll(const void* send, void* receive, size_t count, int type, Comm* comm,
                 void* stream) {
  return Enqueue({.kind = Kind::kAllToAll,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .stream = stream});
}
int ncclGather(const void* send, void* receive, size_t count, int type, int root, Comm* comm,
               void* stream) {
  return Enqueue({.kind = Kind::kGather,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .peer = root,
                  .stream = stream});
}
int ncclScatter(const void* send, void* receive, size_t count, int type, int root, Comm* comm,
                void* stream) {
  return Enqueue({.kind = Kind::kScatter,
                  .comm = comm,
                  .send = send,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .peer = root,
                  .stream = stream});
}
int ncclSend(const void* send, size_t count, int type, int peer, Comm* comm, void* stream) {
  return Enqueue({.kind = Kind::kSend,
                  .comm = comm,
                  .send = send,
                  .count = count,
                  .type = type,
                  .peer = peer,
                  .stream = stream});
}
int ncclRecv(void* receive, size_t count, int type, int peer, Comm* comm, void* stream) {
  return Enqueue({.kind = Kind::kReceive,
                  .comm = comm,
                  .receive = receive,
                  .count = count,
                  .type = type,
                  .peer = peer,
                  .stream = stream});
}

int ncclRedOpCreatePreMulSum(int* operation, void*, int, int, const Comm*) {
  if (!operation) return kInvalidArgument;
  // A program's own operations have numbers after those of NCCL's operations. Their results are not
  // computed.
  constexpr int kFirstOwn = 5;
  *operation = kFirstOwn;
  return kSuccess;
}
int ncclRedOpDestroy(int, const Comm*) { return kSuccess; }

int ncclMemAlloc(void** address, size_t bytes) {
  if (!address) return kInvalidArgument;
  return ThePlatform().memory.Allocate(CurrentDevice(), bytes, address) == Result::kSuccess
             ? kSuccess
             : kUnhandledCudaError;
}
int ncclMemFree(void* address) {
  return ThePlatform().memory.Free(address) == Result::kSuccess ? kSuccess : kUnhandledCudaError;
}
int ncclCommRegister(const Comm* comm, void* buffer, size_t, void** handle) {
  if (!comm || !handle) return kInvalidArgument;
  *handle = buffer;
  return kSuccess;
}
int ncclCommDeregister(const Comm*, void*) { return kSuccess; }
int ncclCommWindowRegister(Comm* comm, void* buffer, size_t, void** window, int) {
  if (!comm || !window) return kInvalidArgument;
  *window = buffer;
  return kSuccess;
}
int ncclCommWindowDeregister(Comm*, void*) { return kSuccess; }

}  // extern "C"
