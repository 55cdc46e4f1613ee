#include "profiler/program/activity_chunk.h"

#include <algorithm>
#include <cstring>

#include "profiler/trace/crc32c.h"
#include "profiler/trace/varint.h"

namespace vramscope::program {
namespace {

using trace::Activity;
using trace::PutVarint;
using trace::UnZigZag;
using trace::ZigZag;

constexpr std::string_view kMagic = "VSAC";
constexpr size_t kEnvelope = 16, kCheckedFrom = 4, kChecksumAt = 12;
constexpr uint32_t kRows = 1, kFacts = 2, kStreams = 3;
constexpr size_t kLongestText = 16'384;
constexpr size_t kMostProblems = 64;

void PutFixed(std::string& out, uint32_t v) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(v >> shift & 255));
}
uint32_t FixedAt(std::string_view bytes, size_t at) {
  uint32_t v = 0;
  for (int i = 3; i >= 0; --i) v = v << 8 | static_cast<unsigned char>(bytes[at + i]);
  return v;
}

// `envelope`: the chunk's type and length.
uint32_t ChunkChecksum(std::string_view envelope, std::string_view payload) {
  return trace::Crc32c(payload, trace::Crc32c(envelope));
}

void PutText(std::string& out, std::string_view text) {
  text = text.substr(0, kLongestText);
  PutVarint(out, text.size());
  out.append(text);
}

std::string Chunk(uint32_t type, const std::string& payload) {
  std::string out(kMagic);
  PutFixed(out, type);
  PutFixed(out, static_cast<uint32_t>(payload.size()));
  PutFixed(out, ChunkChecksum(std::string_view(out).substr(kCheckedFrom), payload));
  return out + payload;
}

// Decodes a payload. If a value is missing, it and all later values are 0, and `good` is false.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view bytes)
      : at_(reinterpret_cast<const unsigned char*>(bytes.data())), end_(at_ + bytes.size()) {}

  uint64_t Number(uint64_t most = UINT64_MAX) {
    uint64_t v = 0;
    good_ = good_ && trace::GetVarint(at_, end_, v) && v <= most;
    return good_ ? v : 0;
  }
  uint32_t Small() { return static_cast<uint32_t>(Number(UINT32_MAX)); }
  uint8_t Byte() { return static_cast<uint8_t>(Number(UINT8_MAX)); }
  std::string Text() {
    const uint64_t size = Number(kLongestText);
    good_ = good_ && size <= left();
    if (!good_) return "";
    std::string text(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return text;
  }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool good() const { return good_; }

 private:
  const unsigned char *at_, *end_;
  bool good_ = true;
};

struct Before {
  uint64_t begin = 0, correlation = 0, address = 0;
};

void PutRow(std::string& out, const Activity& a, Before& before) {
  const auto delta = [&](uint64_t now, uint64_t& last) {
    PutVarint(out, ZigZag(static_cast<int64_t>(now - last)));
    last = now;
  };
  PutVarint(out, static_cast<uint64_t>(a.kind));
  PutVarint(out, a.device);
  PutVarint(out, static_cast<uint64_t>(a.from));
  PutVarint(out, static_cast<uint64_t>(a.to));
  PutVarint(out, a.stream);
  PutVarint(out, a.thread);
  PutVarint(out, a.name.value);
  PutVarint(out, a.op.value);
  delta(a.correlation, before.correlation);
  delta(a.address, before.address);
  PutVarint(out, a.bytes);
  delta(static_cast<uint64_t>(a.begin_ns), before.begin);
  PutVarint(out, static_cast<uint64_t>(a.end_ns) - static_cast<uint64_t>(a.begin_ns));
}

Activity TakeRow(PayloadReader& in, Before& before) {
  const auto delta = [&](uint64_t& last) {
    return last += static_cast<uint64_t>(UnZigZag(in.Number()));
  };
  Activity a;
  a.kind = static_cast<trace::ActivityKind>(in.Byte());
  a.device = in.Byte();
  a.from = static_cast<trace::MemorySpace>(in.Byte());
  a.to = static_cast<trace::MemorySpace>(in.Byte());
  a.stream = in.Small();
  a.thread = in.Small();
  a.name.value = in.Small();
  a.op.value = in.Small();
  a.correlation = delta(before.correlation);
  a.address = delta(before.address);
  a.bytes = in.Number();
  a.begin_ns = static_cast<int64_t>(delta(before.begin));
  a.end_ns = static_cast<int64_t>(static_cast<uint64_t>(a.begin_ns) + in.Number());
  return a;
}

bool TakeRows(PayloadReader& in, ActivityChunk& chunk) {
  chunk.first_name = in.Small();
  const uint64_t names = in.Number();
  if (names > in.left()) return false;
  for (uint64_t i = 0; i < names && in.good(); ++i) chunk.names.push_back(in.Text());
  const uint64_t rows = in.Number(kMostRowsOfChunk);
  constexpr size_t kLeastRow = 13;  // every field takes at least one byte
  if (!in.good() || rows > in.left() / kLeastRow) return false;
  chunk.activities.reserve(rows);
  Before before;
  for (uint64_t i = 0; i < rows && in.good(); ++i) chunk.activities.push_back(TakeRow(in, before));
  return in.good() && in.left() == 0;
}

bool TakeFacts(PayloadReader& in, ActivityFacts& facts) {
  facts.running = in.Number(1) == 1;
  facts.virtual_clock = in.Number(1) == 1;
  facts.library = in.Text();
  facts.version = in.Small();
  facts.dropped = in.Number();
  facts.left_out = in.Number();
  facts.full = in.Number(1) == 1;
  const uint64_t problems = in.Number(kMostProblems);
  for (uint64_t i = 0; i < problems && in.good(); ++i) {
    ActivityFacts::Problem problem;
    problem.what = in.Text();
    problem.without = in.Text();
    facts.problems.push_back(std::move(problem));
  }
  return in.good() && in.left() == 0;
}

bool TakeStreams(PayloadReader& in, std::vector<StreamName>& streams) {
  while (in.good() && in.left() > 0) {
    StreamName stream;
    stream.device = in.Byte();
    stream.handle = in.Number();
    stream.id = in.Small();
    streams.push_back(stream);
  }
  return in.good();
}

}  // namespace

std::string EncodeActivities(uint32_t first_name, std::span<const std::string> names,
                             std::span<const Activity> activities) {
  std::string payload;
  PutVarint(payload, first_name);
  PutVarint(payload, names.size());
  for (const std::string& name : names) PutText(payload, name);
  PutVarint(payload, activities.size());
  Before before;
  for (const Activity& activity : activities) PutRow(payload, activity, before);
  return Chunk(kRows, payload);
}

std::string EncodeFacts(const ActivityFacts& facts) {
  std::string payload;
  PutVarint(payload, facts.running);
  PutVarint(payload, facts.virtual_clock);
  PutText(payload, facts.library);
  PutVarint(payload, facts.version);
  PutVarint(payload, facts.dropped);
  PutVarint(payload, facts.left_out);
  PutVarint(payload, facts.full);
  const size_t problems = std::min(facts.problems.size(), kMostProblems);
  PutVarint(payload, problems);
  for (size_t i = 0; i < problems; ++i) {
    PutText(payload, facts.problems[i].what);
    PutText(payload, facts.problems[i].without);
  }
  return Chunk(kFacts, payload);
}

std::string EncodeStreams(std::span<const StreamName> streams) {
  std::string payload;
  for (const StreamName& stream : streams) {
    PutVarint(payload, stream.device);
    PutVarint(payload, stream.handle);
    PutVarint(payload, stream.id);
  }
  return Chunk(kStreams, payload);
}

Decoded DecodeChunk(std::string_view bytes, size_t& used, ActivityChunk& chunk) {
  chunk = {};
  if (bytes.size() < kEnvelope)
    return bytes.substr(0, kMagic.size()) == kMagic.substr(0, bytes.size()) ? Decoded::kIncomplete
                                                                            : Decoded::kDamaged;
  const uint32_t type = FixedAt(bytes, kCheckedFrom), size = FixedAt(bytes, 8),
                 checksum = FixedAt(bytes, kChecksumAt);
  if (!bytes.starts_with(kMagic) || size > kMaxChunkBytes) return Decoded::kDamaged;
  if (bytes.size() - kEnvelope < size) return Decoded::kIncomplete;
  const std::string_view payload = bytes.substr(kEnvelope, size);
  // In older versions, the checksum covered only the payload.
  if (ChunkChecksum(bytes.substr(kCheckedFrom, kChecksumAt - kCheckedFrom), payload) != checksum &&
      trace::Crc32c(payload) != checksum)
    return Decoded::kDamaged;
  used = kEnvelope + size;
  PayloadReader in(payload);
  if (type == kFacts) {
    chunk.has_facts = true;
    return TakeFacts(in, chunk.facts) ? Decoded::kChunk : Decoded::kDamaged;
  }
  if (type == kStreams) return TakeStreams(in, chunk.streams) ? Decoded::kChunk : Decoded::kDamaged;
  if (type != kRows) return Decoded::kChunk;  // a type of a later version
  return TakeRows(in, chunk) ? Decoded::kChunk : Decoded::kDamaged;
}

}  // namespace vramscope::program
