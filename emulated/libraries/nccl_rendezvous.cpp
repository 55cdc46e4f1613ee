#include "emulated/libraries/nccl_rendezvous.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "emulated/core/processes.h"

namespace vramscope::emulated::nccl {
namespace {

constexpr uint64_t kMagic = 0x6c63636e2d736976;  // part of every id that is created here
constexpr int kBoxDepth = 2;
constexpr char kPrefix[] = "vramscope-nccl-";

uint64_t Mix(uint64_t hash, const void* data, size_t bytes) {  // FNV-1a
  const auto* at = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 1099511628211ull;
  return hash;
}

std::string FolderOfRooms() {
  // The program that launches all ranks may provide a folder. This program then also removes the
  // files of ranks that were not able to start.
  const char* given = std::getenv("VRAMSCOPE_EMULATED_ROOMS");
  if (given != nullptr && access(given, W_OK | X_OK) == 0) return given;
  const char* const parents[] = {"/dev/shm", std::getenv("TMPDIR"), "/tmp",
                                 std::getenv("XDG_RUNTIME_DIR")};
  for (const char* parent : parents) {
    if (parent == nullptr || parent[0] != '/') continue;
    if (std::string folder = Rendezvous::PrivateFolder(parent); !folder.empty()) return folder;
  }
  return "/tmp";
}

}  // namespace

struct Rendezvous::Header {
  std::atomic<uint64_t> magic;
  std::atomic<int32_t> ranks;
  std::atomic<int32_t> joined;
  std::atomic<uint32_t> news;  // a futex, incremented with every change
};
struct alignas(64) Rendezvous::Member {
  std::atomic<int32_t> process;
  std::atomic<int32_t> left;
  std::atomic<uint64_t> start;
  std::atomic<uint64_t> published;
  struct {
    uint32_t bytes;
    uint32_t known;
  } parts[2];
};
struct alignas(64) Rendezvous::Box {
  std::atomic<uint64_t> sent, received;
  struct {
    uint32_t bytes;
    uint32_t known;
  } messages[kBoxDepth];
  std::byte data[kBoxDepth][kMostBytes];
};

UniqueId MakeUniqueId() {
  static std::atomic<uint64_t> count{0};
  UniqueId id = {};
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  // The id is random, because it determines the name of the shared file, which must not be
  // predictable.
  uint64_t random[2] = {};
  for (uint64_t& part : random)
    while (getrandom(&part, sizeof part, 0) != static_cast<ssize_t>(sizeof part) &&
           errno == EINTR) {
    }
  const uint64_t parts[] = {kMagic,
                            static_cast<uint64_t>(getpid()),
                            static_cast<uint64_t>(now.tv_sec),
                            static_cast<uint64_t>(now.tv_nsec),
                            ++count,
                            random[0],
                            random[1]};
  std::memcpy(id.bytes, parts, sizeof parts);
  return id;
}

namespace {

// The first rank creates the file and the other ranks open it. Files of other users, links, and
// files that other users may write to are refused.
int OpenRoom(const char* path) {
  int file = -1;
  for (int attempt = 0; file < 0 && attempt < 3; ++attempt) {  // the last rank removes the name
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 && errno == EEXIST) file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno != ENOENT) break;
  }
  struct stat facts = {};
  if (file < 0 || (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                   facts.st_uid == geteuid() && (facts.st_mode & 0077) == 0))
    return file;
  close(file);
  errno = EACCES;
  return -1;
}

}  // namespace

UniqueId DeriveUniqueId(const UniqueId& parent, uint64_t number, int64_t color) {
  UniqueId id = {};
  const uint64_t parts[] = {kMagic, Mix(14695981039346656037ull, parent.bytes, sizeof parent.bytes),
                            number, static_cast<uint64_t>(color)};
  std::memcpy(id.bytes, parts, sizeof parts);
  return id;
}

Rendezvous::Header* Rendezvous::header() const { return reinterpret_cast<Header*>(memory_); }
Rendezvous::Member* Rendezvous::member(int rank) const {
  return reinterpret_cast<Member*>(memory_ + 4096) + rank;
}
namespace {
size_t PageUp(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
}  // namespace
std::byte* Rendezvous::part(int rank, uint64_t number) const {
  const size_t parts = 4096 + PageUp(sizeof(Member) * static_cast<size_t>(ranks_));
  return memory_ + parts + (static_cast<size_t>(rank) * 2 + number % 2) * kMostBytes;
}
Rendezvous::Box* Rendezvous::box(int from, int to) const {
  const size_t boxes = 4096 + PageUp(sizeof(Member) * static_cast<size_t>(ranks_)) +
                       static_cast<size_t>(ranks_) * 2 * kMostBytes;
  return reinterpret_cast<Box*>(memory_ + boxes) + from * ranks_ + to;
}

std::unique_ptr<Rendezvous> Rendezvous::Join(const UniqueId& id, int ranks, int rank,
                                             std::string* problem) {
  if (ranks < 1 || ranks > kMostRanks || rank < 0 || rank >= ranks) {
    *problem = "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " is invalid";
    return nullptr;
  }
  std::unique_ptr<Rendezvous> room(new Rendezvous);
  room->ranks_ = ranks;
  room->rank_ = rank;
  char name[64];
  std::snprintf(
      name, sizeof name, "/%s%016llx%016llx", kPrefix,
      static_cast<unsigned long long>(Mix(14695981039346656037ull, id.bytes, sizeof id.bytes)),
      static_cast<unsigned long long>(Mix(1099511628211ull, id.bytes, sizeof id.bytes)));
  const std::string folder = FolderOfRooms();
  static const bool once = (RemoveOfKilled(folder), true);
  static_cast<void>(once);
  room->path_ = folder + name;

  const size_t count = static_cast<size_t>(ranks);
  room->bytes_ = 4096 + PageUp(sizeof(Member) * count) + count * 2 * kMostBytes +
                 (ranks <= kMostPeers ? sizeof(Box) * count * count : 0);
  const int file = OpenRoom(room->path_.c_str());
  struct stat facts = {};
  const bool ours = file >= 0 && fstat(file, &facts) == 0;
  // The file gets its full size before it is used. Pages that are never used take no memory.
  const bool sized = ours && (facts.st_size >= static_cast<off_t>(room->bytes_) ||
                              ftruncate(file, static_cast<off_t>(room->bytes_)) == 0);
  void* memory =
      sized ? mmap(nullptr, room->bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int error = errno;
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) {
    *problem =
        "cannot share memory with the other ranks in " + room->path_ + ": " + std::strerror(error);
    return nullptr;
  }
  room->memory_ = static_cast<std::byte*>(memory);

  int32_t expected = 0;
  if (!room->header()->ranks.compare_exchange_strong(expected, ranks) && expected != ranks) {
    *problem = "this rank's communicator has " + std::to_string(ranks) +
               " ranks, that of another rank has " + std::to_string(expected);
    return nullptr;
  }
  Member* self = room->member(rank);
  int32_t nobody = 0;
  if (!self->process.compare_exchange_strong(nobody, getpid())) {
    *problem = "rank " + std::to_string(rank) + " has already joined, from process " +
               std::to_string(nobody);
    return nullptr;
  }
  room->joined_ = true;
  self->start = StartOfProcess(getpid());
  room->header()->joined.fetch_add(1);
  room->NotifyAll();
  return room;
}

std::string Rendezvous::PrivateFolder(const std::string& parent) {
  const std::string path = parent + "/vramscope-ranks-" + std::to_string(geteuid());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return "";
  struct stat facts = {};
  const bool ours = lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
                    facts.st_uid == geteuid() && (facts.st_mode & 0077) == 0;
  return ours ? path : "";
}

// Removes rooms whose ranks were all killed, because nothing else removes them. Keeps the rooms of
// running ranks, and new rooms that ranks may still join.
void Rendezvous::RemoveOfKilled(const std::string& folder) {
  constexpr time_t kYoung = 60;
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0) continue;
    const std::string path = folder + "/" + entry->d_name;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat facts = {};
    const bool ours = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                      facts.st_uid == geteuid() && time(nullptr) - facts.st_mtime > kYoung;
    if (ours && !AnyoneLives(file, static_cast<size_t>(facts.st_size))) unlink(path.c_str());
    if (file >= 0) close(file);
  }
  closedir(entries);
}

bool Rendezvous::AnyoneLives(int file, size_t bytes) {
  constexpr size_t kMembers = 4096;
  if (bytes < kMembers + sizeof(Member)) return false;
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return true;  // unreadable: kept
  const auto* const at = static_cast<const std::byte*>(memory);
  const int32_t said = reinterpret_cast<const Header*>(at)->ranks.load();
  const auto room =
      static_cast<int32_t>(std::min<size_t>((bytes - kMembers) / sizeof(Member), kMostRanks));
  bool lives = false;
  for (int32_t rank = 0; rank < std::min(said, room) && !lives; ++rank) {
    const Member& who = reinterpret_cast<const Member*>(at + kMembers)[rank];
    const int process = who.process.load();
    const uint64_t start = process > 0 ? StartOfProcess(process) : 0;
    lives = start != 0 && (who.start == 0 || who.start == start);
  }
  munmap(memory, bytes);
  return lives;
}

Rendezvous::~Rendezvous() {
  if (!memory_) return;
  if (joined_) {
    member(rank_)->left = 1;
    unlink(path_.c_str());  // no rank will join any more
    NotifyAll();
  }
  munmap(memory_, bytes_);
}

bool Rendezvous::AllJoined() const {
  return header()->joined.load(std::memory_order_acquire) >= ranks_;
}
void Rendezvous::Unlink() { unlink(path_.c_str()); }

void Rendezvous::Publish(uint64_t number, std::span<const std::byte> bytes, bool known) {
  Member* self = member(rank_);
  const size_t length = std::min(bytes.size(), kMostBytes);
  if (length && known) std::memcpy(part(rank_, number), bytes.data(), length);
  self->parts[number % 2] = {static_cast<uint32_t>(length), known ? 1u : 0u};
  self->published.store(number, std::memory_order_release);
  NotifyAll();
}
bool Rendezvous::Arrived(uint64_t number) const { return LateRank(number) < 0; }
int Rendezvous::LateRank(uint64_t number) const {
  for (int other = 0; other < ranks_; ++other)
    if (member(other)->published.load(std::memory_order_acquire) < number) return other;
  return -1;
}
Rendezvous::PartView Rendezvous::Part(int rank, uint64_t number) const {
  const auto& facts = member(rank)->parts[number % 2];
  return {{part(rank, number), std::min<size_t>(facts.bytes, kMostBytes)}, facts.known != 0};
}

bool Rendezvous::HasBoxes() const { return ranks_ <= kMostPeers; }
bool Rendezvous::Send(int to, std::span<const std::byte> message, bool known) {
  Box* at = box(rank_, to);
  const uint64_t sent = at->sent.load(std::memory_order_relaxed);
  if (sent - at->received.load(std::memory_order_acquire) >= kBoxDepth) return false;
  const size_t length = std::min(message.size(), kMostBytes);
  if (length && known) std::memcpy(at->data[sent % kBoxDepth], message.data(), length);
  at->messages[sent % kBoxDepth] = {static_cast<uint32_t>(length), known ? 1u : 0u};
  at->sent.store(sent + 1, std::memory_order_release);
  NotifyAll();
  return true;
}
bool Rendezvous::Receive(int from, std::span<std::byte> message, size_t* known) {
  Box* at = box(from, rank_);
  const uint64_t received = at->received.load(std::memory_order_relaxed);
  if (received >= at->sent.load(std::memory_order_acquire)) return false;
  const auto facts = at->messages[received % kBoxDepth];
  *known = facts.known ? std::min<size_t>(facts.bytes, message.size()) : 0;
  if (*known) std::memcpy(message.data(), at->data[received % kBoxDepth], *known);
  at->received.store(received + 1, std::memory_order_release);
  NotifyAll();
  return true;
}

int Rendezvous::EndedRank() const {
  for (int other = 0; other < ranks_; ++other) {
    const Member* who = member(other);
    const int process = who->process.load();
    if (process == 0 || process == getpid()) continue;
    if (who->left) return other;
    const uint64_t start = StartOfProcess(process);
    if (start == 0 || (who->start != 0 && start != who->start)) return other;
  }
  return -1;
}
void Rendezvous::WaitForNews(std::chrono::milliseconds most) const {
  const timespec limit = {most.count() / 1000, (most.count() % 1000) * 1'000'000};
  syscall(SYS_futex, &header()->news, FUTEX_WAIT, seen_news_, &limit, nullptr, 0);
  seen_news_ = header()->news.load(std::memory_order_acquire);
}
void Rendezvous::NotifyAll() {
  header()->news.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &header()->news, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace vramscope::emulated::nccl
