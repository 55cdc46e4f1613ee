#include "emulated/libraries/nccl_progress.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "emulated/core/kernels.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/data_type.h"
#include "emulated/libraries/nccl_values.h"

namespace vramscope::emulated::nccl {
namespace {

// The largest collective, or message of bytes, whose values ranks exchange. The values are
// exchanged in rounds of Rendezvous::kMostBytes.
constexpr uint64_t kMostExchanged = uint64_t{4} << 20;

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

// It is assumed that data centre GPUs (by their memory bandwidth) have links of 300 GB/s in each
// direction, that others use PCIe, and that rings reach the bus bandwidth of NCCL's documentation.
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

// Writes the part of this rank's result that can be computed from known values.
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

}  // namespace

Progress::Progress(const Operation& operation)
    : operation_(operation), sizes_(SizesOf(operation)) {}

int Progress::Submit() {
  if (operation_.kind == Kind::kMeet) return kSuccess;
  // Reads the sent values before emulated::Submit() makes the result unknown, because the result
  // may be in the same buffer.
  Own();
  const void* const reads[] = {operation_.send};
  const Written writes[] = {{operation_.receive, sizes_.received}};
  const Result result =
      emulated::Submit({.name = NameOf(operation_.kind),
                        .stream = operation_.stream,
                        .bytes = std::max(sizes_.sent, sizes_.received),
                        .reads = reads,
                        .writes = std::span(writes, operation_.receive && sizes_.received ? 1 : 0),
                        .duration_ns = DurationOf(operation_),
                        .polled = true});
  return result == Result::kSuccess ? kSuccess : kUnhandledCudaError;
}

std::pair<const Comm*, int> Progress::order() const {
  if (operation_.kind == Kind::kSend) return {operation_.comm, 1 + 2 * operation_.peer};
  if (operation_.kind == Kind::kReceive) return {operation_.comm, 2 + 2 * operation_.peer};
  return {operation_.comm, 0};
}

bool Progress::Step() {
  Rendezvous* room = operation_.comm->room.get();
  if (operation_.kind == Kind::kMeet) {
    if (room && !room->AllJoined()) return false;
    if (room && !std::exchange(operation_.comm->met, true)) room->Unlink();
    return true;
  }
  if (!room || operation_.comm->ranks == 1) {
    if (operation_.kind != Kind::kSend && operation_.kind != Kind::kReceive && exchanged())
      Combine(operation_, std::vector<Brought>(static_cast<size_t>(operation_.comm->ranks), own_));
    return true;
  }
  if (operation_.kind == Kind::kSend || operation_.kind == Kind::kReceive) return Message(room);
  if (!exchanged()) return true;
  return Collective(room);
}

std::string Progress::Waiting() const {
  if (operation_.kind == Kind::kSend || operation_.kind == Kind::kReceive)
    return std::string(NameOf(operation_.kind)) + " with rank " + std::to_string(operation_.peer);
  return NameOf(operation_.kind);
}

int Progress::LateRank() const {
  if (!operation_.comm->room) return -1;
  if (operation_.kind == Kind::kSend || operation_.kind == Kind::kReceive) return operation_.peer;
  return operation_.comm->room->LateRank(operation_.comm->number);
}

bool Progress::exchanged() const { return most_sent() <= kMostExchanged; }
uint64_t Progress::most_sent() const {
  const uint64_t part = Product(operation_.count, ElementBytes(operation_.type));
  const bool all = operation_.kind == Kind::kReduceScatter || operation_.kind == Kind::kAllToAll ||
                   operation_.kind == Kind::kScatter;
  return all ? Product(part, Positive(operation_.comm->ranks)) : part;
}

void Progress::Own() {
  const bool message = operation_.kind == Kind::kSend;
  if (sizes_.sent > (message ? most_in_message() : kMostExchanged)) return;
  const bool takes = (operation_.kind == Kind::kBroadcast || operation_.kind == Kind::kScatter) &&
                     operation_.comm->rank != operation_.peer;
  if (!takes) {
    own_ = ReadKnown(operation_.send, sizes_.sent);
  } else if (operation_.kind == Kind::kBroadcast && !operation_.comm->room && exchanged()) {
    // This is the only process, so the root has the same values as this rank.
    own_ = ReadKnown(operation_.receive, most_sent());
  }
}

uint64_t Progress::most_in_message() const {
  return ElementBytes(operation_.type) == 1 ? kMostExchanged : Rendezvous::kMostBytes;
}

bool Progress::Message(Rendezvous* room) {
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
                         rest.first(std::min<size_t>(Rendezvous::kMostBytes, rest.size())), &known))
        return false;
      if (known_ == begin) known_ += known;
    }
    ++round_;
  } while (round_ * Rendezvous::kMostBytes < bytes);
  if (!sends) WriteKnown(operation_.receive, std::span(message_).first(known_));
  return true;
}

bool Progress::Collective(Rendezvous* room) {
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

}  // namespace vramscope::emulated::nccl
