// Communicators and what they do: a collective is one work of its stream with a modelled duration,
// and its small values go from rank to rank.
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
  // Null: this process alone stands for all ranks (VRAMSCOPE_EMULATED_ALONE=1), which are taken to
  // hold the same values.
  std::unique_ptr<Rendezvous> room;
  bool met = false;     // all ranks have been seen
  uint64_t number = 0;  // of the last round of a collective
  uint64_t splits = 0;
  uint64_t buffer_bytes = 0;  // taken from the card
  std::atomic<int> error{kSuccess};

  void Fail(int status, const std::string& why);
  std::string last_error() const;

 private:
  mutable std::mutex mutex_;
  std::string why_;
};

// What went wrong last in this thread, where there is no communicator to ask.
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
  uint64_t count = 0;  // elements, as the function counts them
  int type = 0;
  int reduction = 0;
  int peer = 0;  // or root
  void* stream = nullptr;
};

// Runs it, or, between GroupStart and GroupEnd of this thread, remembers it.
int Enqueue(const Operation& operation);
void GroupStart();
int GroupEnd();
// This rank's 16 bytes for everybody (a split's color and key); empty when it failed.
std::vector<std::array<int64_t, 2>> ExchangeNumbers(Comm* comm, std::array<int64_t, 2> numbers);

int MakeComm(Comm** comm, const UniqueId& id, int ranks, int rank);
void DestroyComm(Comm* comm);
bool IsAlone();

}  // namespace vramscope::emulated::nccl
