// Connects the ranks of a communicator through memory that their processes share under the
// communicator's id. Small values are really exchanged (sizes of objects, a barrier, a broadcast of
// ids). Large values are never sent, because they are not computed.
//
//   std::string problem;
//   auto room = Rendezvous::Join(id, ranks, rank, &problem);     // null: see problem
//   room->Publish(number, bytes, known);                         // this rank's part
//   if (room->Arrived(number)) room->Part(other, number)         // all parts are there
//
// Each rank has one object, used by one thread at a time. Ranks may be processes or threads of one
// process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace vramscope::emulated::nccl {

constexpr size_t kIdBytes = 128;
struct UniqueId {
  char bytes[kIdBytes];
};
// Returns an id that no other call in any process of this computer returns.
UniqueId MakeUniqueId();
// Returns the id of a communicator that was created from another one. All its ranks get this id.
UniqueId DeriveUniqueId(const UniqueId& parent, uint64_t number, int64_t color);

class Rendezvous {
 public:
  static constexpr size_t kMostBytes = 64 << 10;  // limit for a rank
  static constexpr int kMostRanks = 4096;
  static constexpr int kMostPeers = 64;  // messages between two ranks need ranks^2 boxes

  static std::unique_ptr<Rendezvous> Join(const UniqueId& id, int ranks, int rank,
                                          std::string* problem);
  // Returns a folder in `parent` that only this user can write to, or "" if another user owns it.
  // In a shared folder, another user could create the file first, so that ranks would not meet.
  static std::string PrivateFolder(const std::string& parent);
  // Removes what killed ranks have left in a folder. Join calls it once per process.
  static void RemoveOfKilled(const std::string& folder);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  bool AllJoined() const;
  // Removes the file's name, which is not needed after all ranks have joined.
  void Unlink();

  // For collectives. A rank numbers the parts that it publishes 1, 2, 3, ... Part n overwrites its
  // part n - 2, so it may be published only after Arrived(n - 1).
  void Publish(uint64_t number, std::span<const std::byte> part, bool known);
  bool Arrived(uint64_t number) const;
  struct PartView {
    std::span<const std::byte> bytes;
    bool known = false;
  };
  PartView Part(int rank, uint64_t number) const;

  // For messages. Send returns false if the box is full, and Receive if it is empty. If there are
  // more than kMostPeers ranks, there are no boxes.
  bool HasBoxes() const;
  bool Send(int to, std::span<const std::byte> message, bool known);
  // Sets *known to how many bytes are known at the beginning of the message.
  bool Receive(int from, std::span<std::byte> message, size_t* known);

  // Returns a rank that others wait for but whose process has ended, or -1.
  int EndedRank() const;
  // Returns the first rank that has not published part `number` yet, or -1.
  int LateRank(uint64_t number) const;
  // Waits until something changes in the room, but not longer than `most`.
  void WaitForNews(std::chrono::milliseconds most) const;
  // Wakes the waiting ranks. Changes in the room wake them without this.
  void NotifyAll();

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

 private:
  static bool AnyoneLives(int file, size_t bytes);

  struct Header;
  struct Member;
  struct Box;
  Rendezvous() = default;
  Header* header() const;
  Member* member(int rank) const;
  std::byte* part(int rank, uint64_t number) const;
  Box* box(int from, int to) const;

  std::string path_;
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  int ranks_ = 0, rank_ = 0;
  bool joined_ = false;
  mutable uint32_t seen_news_ = 0;
};

}  // namespace vramscope::emulated::nccl
