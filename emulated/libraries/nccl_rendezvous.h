// Where the ranks of a communicator meet: memory that their processes share, named by the
// communicator's id. Small values really go from rank to rank through it (sizes of objects, a
// barrier, a broadcast of ids); large ones are never sent, since nobody computes them.
//
//   std::string problem;
//   auto room = Rendezvous::Join(id, ranks, rank, timeout, &problem);      // null: see problem
//   room->Publish(number, bytes, known);                                   // this rank's part of
//   collective `number` if (room->Arrived(number)) room->Part(other, number)                   //
//   everybody's is there
//
// One rank is one object, used by one thread at a time. Ranks may be processes, or threads of one
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
// Different for every call in every process of this computer.
UniqueId MakeUniqueId();
// A communicator made from another one, the same for all of its ranks.
UniqueId DeriveUniqueId(const UniqueId& parent, uint64_t number, int64_t color);

class Rendezvous {
 public:
  static constexpr size_t kMostBytes = 64 << 10;  // of one rank's part
  static constexpr int kMostRanks = 4096;
  static constexpr int kMostPeers = 64;  // messages between two ranks need ranks^2 boxes

  static std::unique_ptr<Rendezvous> Join(const UniqueId& id, int ranks, int rank,
                                          std::string* problem);
  // A folder in `parent` that only this user enters: in one that everybody writes to, another user
  // could make a room's file first, and its ranks would not meet. "": the name is somebody else's.
  static std::string PrivateFolder(const std::string& parent);
  // Takes away what ranks that were killed have left in a folder. Join does so, once in a process.
  static void RemoveOfKilled(const std::string& folder);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  bool AllJoined() const;
  // Everybody has joined: the name is not needed any more.
  void Unlink();

  // Collectives: every rank publishes its part of number 1, 2, 3, ... A part may be published when
  // all have arrived at the one before the last, which Arrived of the last one has shown.
  void Publish(uint64_t number, std::span<const std::byte> part, bool known);
  bool Arrived(uint64_t number) const;
  struct PartView {
    std::span<const std::byte> bytes;
    bool known = false;
  };
  PartView Part(int rank, uint64_t number) const;

  // Messages: false when the box is full, or empty. More than kMostPeers ranks have no boxes.
  bool HasBoxes() const;
  bool Send(int to, std::span<const std::byte> message, bool known);
  // *known: how many bytes from the beginning are known.
  bool Receive(int from, std::span<std::byte> message, size_t* known);

  // A rank that is needed and whose process has ended, or -1.
  int EndedRank() const;
  // The first rank that has not published `number` yet, or -1.
  int LateRank(uint64_t number) const;
  // Until something happens in the room, at most so long.
  void WaitForNews(std::chrono::milliseconds most) const;
  // Wakes those who wait; every change does so by itself.
  void Tell();

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
