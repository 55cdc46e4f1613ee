// Communicators and their operations. A collective is one kernel on its stream with a modelled
// duration, and its small values are exchanged between ranks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulated/libraries/nccl_rendezvous.h"

namespace vramscope::emulated::nccl {

enum Status : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
};

struct Comm {
  UniqueId id = {};
  int ranks = 1, rank = 0, device = 0;
  // Null if this process alone represents all ranks (VRAMSCOPE_EMULATED_ALONE=1). Then all ranks
  // are assumed to have the same values.
  std::unique_ptr<Rendezvous> room;
  bool met = false;     // all ranks have been seen
  uint64_t number = 0;  // number of the last round of a collective
  uint64_t splits = 0;
  uint64_t buffer_bytes = 0;  // allocated on the GPU
  std::atomic<int> error{kSuccess};

  void Fail(int status, const std::string& why);
  std::string last_error() const;

 private:
  mutable std::mutex mutex_;
  std::string why_;
};

// Returns the last error of this thread, for calls without a communicator.
std::string LastErrorOfThread();

enum class Kind {
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kReceive,
  kMeet
};

struct Operation {
  Kind kind = Kind::kMeet;  // kMeet: wait until all ranks have joined
  Comm* comm = nullptr;
  const void* send = nullptr;
  void* receive = nullptr;
  uint64_t count = 0;  // elements, as in the function's argument
  int type = 0;
  int reduction = 0;
  int peer = 0;  // the peer or the root
  void* stream = nullptr;
};

// Runs the operation. Between this thread's GroupStart and GroupEnd, only stores it. Does not wait
// for receives into device memory.
int Enqueue(const Operation& operation);
void GroupStart();
int GroupEnd();
// Waits for the receives for which Enqueue did not wait.
int CompleteReceives(Comm* comm);
// Exchanges 16 bytes of each rank (a split's color and key). Returns nothing on failure.
std::vector<std::array<int64_t, 2>> ExchangeNumbers(Comm* comm, std::array<int64_t, 2> numbers);

int MakeComm(Comm** comm, const UniqueId& id, int ranks, int rank);
void DestroyComm(Comm* comm);
bool IsAlone();

}  // namespace vramscope::emulated::nccl
