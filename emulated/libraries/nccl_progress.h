// One operation of a communicator: its kernel, its size, and the values that ranks exchange for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emulated/libraries/nccl_operations.h"

namespace vramscope::emulated::nccl {

// Bytes that a rank sends and receives in an operation.
struct Sizes {
  uint64_t sent = 0, received = 0;
};

// An operation in progress. Its values are exchanged in rounds.
class Progress {
 public:
  explicit Progress(const Operation& operation);

  // Submits the operation's kernel to its stream. Returns a status.
  int Submit();

  // Operations with the same key run in order: a communicator's collectives, or its messages with
  // one rank.
  std::pair<const Comm*, int> order() const;
  Comm* comm() const { return operation_.comm; }
  const void* to() const { return operation_.receive; }
  uint64_t received_bytes() const { return sizes_.received; }
  // Call if something else was written where the message belongs. The message is then received, but
  // not stored.
  void Discard() { operation_.receive = nullptr; }

  // Returns true when done.
  bool Step();

  // Names the operation that a rank waits for, for error messages.
  std::string Waiting() const;
  // Returns a rank that has not joined the operation yet, or -1 if unknown.
  int LateRank() const;

 private:
  // Returns whether values are exchanged, which all ranks decide alike from the same sizes.
  bool exchanged() const;
  uint64_t most_sent() const;
  // Reads the known values that this rank sends.
  void Own();
  // Returns the size of the largest message whose values are exchanged. Messages of bytes may have
  // several parts, because they may be objects, whose values the receiver needs.
  uint64_t most_in_message() const;
  bool Message(Rendezvous* room);
  // Exchanges the parts of all ranks in rounds. A part shorter than a round is the last part.
  bool Collective(Rendezvous* room);

  Operation operation_;
  Sizes sizes_;
  std::vector<std::byte> own_;                   // the known bytes that this rank sends
  std::vector<std::vector<std::byte>> brought_;  // the known bytes that each rank sends
  std::vector<std::byte> message_;               // the part of the message received so far
  size_t known_ = 0;                             // number of known bytes at message_'s beginning
  uint64_t round_ = 0;
  bool published_ = false;
};

}  // namespace vramscope::emulated::nccl
