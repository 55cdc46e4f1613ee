#include "profiler/program/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/importers/snapshot.h"
#include "profiler/program/history_stacks.h"
#include "profiler/program/history_tail.h"
#include "profiler/trace/input.h"

namespace vramscope::program {
namespace {

using recording::Recording;
using trace::StackId;
using trace::StringId;

constexpr uint32_t kMaxChunks = 1'000'000;
// The latest valid time in a snapshot. With this limit, differences of times fit into an int64.
constexpr int64_t kLastTimeNs = 9'000'000'000'000'000'000;
constexpr uint32_t kNone = UINT32_MAX;
constexpr std::string_view kAsTold = "PyTorch's allocator, as it told";

// Appends recordings of the same process to one recording, and renumbers their strings, frames,
// stacks and streams.
class Joiner {
 public:
  explicit Joiner(HistoryOptions options) : options_(std::move(options)) {
    strings_.emplace("", 0);
    streams_.emplace(0, 0);
    stacks_.emplace("", 0);
  }

  // `operators`: the operator of each entry, as a string of `part`; empty if unknown.
  void Add(Recording part, const std::vector<StringId>& operators = {}) {
    const std::vector<uint32_t> strings = Strings(part);
    const std::vector<uint32_t> stacks = Stacks(part, strings);
    const std::vector<uint32_t> streams = Streams(part);
    if (part.entries.size() > 0 || first_) Header(part);
    const int64_t shift = part.has_times ? part.start_unix_ns - whole_.start_unix_ns : last_time_;
    recording::EntryTable& to = whole_.entries;
    const recording::EntryTable& from = part.entries;
    for (uint32_t i = 0; i < from.size(); ++i) {
      to.action.push_back(from.action[i]);
      to.address.push_back(from.address[i]);
      to.bytes.push_back(from.bytes[i]);
      last_time_ = std::max(last_time_, from.time_ns[i] + shift);
      to.time_ns.push_back(last_time_);
      to.stack.push_back(StackId{stacks[from.StackOf(i).value]});
      to.stream.push_back(streams[from.stream[i]]);
      to.device.push_back(from.DeviceOf(i));
      operators_.push_back(i < operators.size() ? StringId{strings[operators[i].value]}
                                                : StringId{});
    }
    if (part.has_segments) {
      whole_.segments = std::move(part.segments);
      for (recording::SegmentState& segment : whole_.segments) {
        segment.stream = streams[segment.stream];
        segment.stack = StackId{stacks[segment.stack.value]};
        for (recording::BlockState& block : segment.blocks)
          block.stack = StackId{stacks[block.stack.value]};
      }
    }
    for (std::string& warning : part.warnings)
      if (said_.insert(warning).second) whole_.warnings.push_back(std::move(warning));
    first_ = false;
  }
  void Warn(std::string text) { whole_.warnings.push_back(std::move(text)); }
  const Recording& whole() const { return whole_; }
  const std::vector<StringId>& operators() const { return operators_; }

 private:
  void Header(const Recording& part) {
    if (!part.alloc_conf.empty()) whole_.alloc_conf = part.alloc_conf;
    if (part.source != kAsTold || whole_.source.empty()) whole_.source = part.source;
    whole_.has_segments |= part.has_segments;
    whole_.overflowed |= part.overflowed;
    if (whole_.entries.size() > 0) return;
    whole_.has_times = part.has_times;
    whole_.start_unix_ns = part.start_unix_ns;
  }

  std::vector<uint32_t> Strings(const Recording& part) {
    std::vector<uint32_t> ids;
    for (const std::string& text : part.strings) {
      const auto [it, added] =
          strings_.try_emplace(text, static_cast<uint32_t>(whole_.strings.size()));
      if (added) whole_.strings.push_back(text);
      ids.push_back(it->second);
    }
    return ids;
  }

  bool Own(std::string_view file) const {
    return std::any_of(options_.own_folders.begin(), options_.own_folders.end(),
                       [&](const std::string& folder) {
                         return !folder.empty() && file.size() > folder.size() &&
                                file.starts_with(folder) && file[folder.size()] == '/';
                       });
  }

  std::vector<uint32_t> Stacks(const Recording& part, const std::vector<uint32_t>& strings) {
    const trace::StackTable& from = part.stacks;
    trace::StackTable& to = whole_.stacks;
    std::vector<uint32_t> frames(from.frame_count(), kNone);
    for (uint32_t f = 0; f < from.frame_count(); ++f) {
      if (Own(part.strings[from.file[f].value])) continue;
      const std::tuple key(strings[from.function[f].value], strings[from.file[f].value],
                           from.line[f]);
      const auto [it, added] = frames_.try_emplace(key, to.frame_count());
      if (added) {
        to.function.push_back(StringId{std::get<0>(key)});
        to.file.push_back(StringId{std::get<1>(key)});
        to.line.push_back(from.line[f]);
      }
      frames[f] = it->second;
    }
    std::vector<uint32_t> ids;
    std::string key;
    for (uint32_t s = 0; s < from.size(); ++s) {
      key.clear();
      for (const uint32_t frame : from.Frames(StackId{s})) {
        const uint32_t number = frames[frame];
        if (number != kNone) key.append(reinterpret_cast<const char*>(&number), sizeof number);
      }
      const auto [it, added] = stacks_.try_emplace(key, to.size());
      if (added) {
        for (const uint32_t frame : from.Frames(StackId{s}))
          if (frames[frame] != kNone) to.frames.push_back(frames[frame]);
        to.first.push_back(static_cast<uint32_t>(to.frames.size()));
      }
      ids.push_back(it->second);
    }
    return ids;
  }

  std::vector<uint32_t> Streams(const Recording& part) {
    std::vector<uint32_t> rows;
    for (const uint64_t stream : part.streams) {
      const auto [it, added] =
          streams_.try_emplace(stream, static_cast<uint32_t>(whole_.streams.size()));
      if (added) whole_.streams.push_back(stream);
      rows.push_back(it->second);
    }
    return rows;
  }

  const HistoryOptions options_;
  Recording whole_;
  std::vector<StringId> operators_;  // operator of each entry
  bool first_ = true;
  int64_t last_time_ = 0;
  base::HashMap<std::string, uint32_t> strings_, stacks_;
  base::HashMap<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> frames_;
  base::HashMap<uint64_t, uint32_t> streams_;
  base::HashSet<std::string> said_;
};

absl::StatusOr<Recording> ReadChunk(const std::string& path, const HistoryOptions& options) {
  absl::StatusOr<std::unique_ptr<trace::InputStream>> input = trace::InputStream::Open(path);
  if (!input.ok()) return input.status();
  importers::SnapshotOptions read;
  read.cancel = options.cancel;
  return importers::ReadSnapshot(**input, read);
}

// Appends a file's rows. Returns false if there is no file. Sets `full` if later rows are missing.
absl::StatusOr<bool> ReadTail(const std::string& path, std::vector<HistoryTailRow>& rows,
                              bool& full) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return false;
  const absl::StatusOr<std::string> bytes = trace::ReadWholeInput(path, kMostTailBytes);
  if (!bytes.ok()) return bytes.status();
  std::array<uint64_t, 3> facts{};  // the header after its first eight bytes
  if (bytes->size() < sizeof(HistoryTailHeader) ||
      std::memcmp(bytes->data(), HistoryTailHeader::kMagic.data(), 8) != 0)
    return true;  // killed before it wrote anything
  std::memcpy(facts.data(), bytes->data() + 8, sizeof facts);
  if (facts[0] != sizeof(HistoryTailRow))
    return absl::DataLossError(
        i18n::Text("the history was written by another version of vramscope"));
  const uint64_t room = (bytes->size() - sizeof(HistoryTailHeader)) / sizeof(HistoryTailRow);
  const size_t before = rows.size();
  rows.resize(before + std::min(facts[1], room));
  if (rows.size() > before)  // an empty vector may have no data() to copy to
    std::memcpy(static_cast<void*>(rows.data() + before), bytes->data() + sizeof(HistoryTailHeader),
                (rows.size() - before) * sizeof(HistoryTailRow));
  full |= facts[2] != 0;
  return true;
}

recording::Action ActionOf(uint8_t action) {
  constexpr recording::Action kActions[] = {
      recording::Action::kAlloc,         recording::Action::kFreeRequested,
      recording::Action::kFreeCompleted, recording::Action::kSegmentAlloc,
      recording::Action::kSegmentFree,   recording::Action::kSegmentMap,
      recording::Action::kSegmentUnmap,  recording::Action::kSnapshot,
      recording::Action::kOutOfMemory};
  return action < std::size(kActions) ? kActions[action] : recording::Action::kOther;
}

std::vector<StringId> OperatorsOf(const std::vector<HistoryTailRow>& rows,
                                  const HistoryStacks& stacks) {
  std::vector<StringId> operators;
  operators.reserve(rows.size());
  for (const HistoryTailRow& row : rows)
    operators.push_back(stacks.Operator(row.done == 0 ? 0 : static_cast<uint16_t>(row.done - 1)));
  return operators;
}

// Converts the rows to a recording without segments. A row may refer to a stack that was not
// written.
Recording PartOf(const std::vector<HistoryTailRow>& rows, const HistoryStacks& stacks) {
  Recording part;
  part.source = kAsTold;
  part.strings = stacks.strings();
  part.stacks = stacks.stacks();
  // Negative times are invalid. Clamping keeps differences from overflowing.
  const auto time_of = [](const HistoryTailRow& row) {
    return std::clamp<int64_t>(row.time_ns, 0, kLastTimeNs);
  };
  part.start_unix_ns = time_of(rows.front());
  std::map<uint64_t, uint32_t> streams = {{0, 0}};
  int64_t last = 0;
  for (const HistoryTailRow& row : rows) {
    const auto [at, added] =
        streams.try_emplace(row.stream, static_cast<uint32_t>(part.streams.size()));
    if (added) part.streams.push_back(row.stream);
    last = std::max(last, time_of(row) - part.start_unix_ns);
    part.entries.action.push_back(ActionOf(row.action));
    part.entries.address.push_back(row.address);
    part.entries.bytes.push_back(row.bytes);
    part.entries.time_ns.push_back(last);
    part.entries.stack.push_back(StackId{row.stack < part.stacks.size() ? row.stack : 0});
    part.entries.stream.push_back(at->second);
    part.entries.device.push_back(row.device);
  }
  return part;
}

// Replaces the segments of `r`, which were recorded before the tail's rows, by the segments after
// these rows. Reconstructs the new segments from all entries of `r`, which begin with empty memory.
// Copies only their pools and stacks from the old segments.
absl::Status EndBehindRows(Recording& r) {
  std::map<std::pair<uint8_t, uint64_t>, recording::SegmentState> before;
  for (recording::SegmentState& s : r.segments) {
    s.blocks.clear();
    before.emplace(std::pair(s.device, s.address), std::move(s));
  }
  r.segments.clear();
  r.has_segments = false;
  r.lost = "killed";  // some requested frees may not have completed
  const absl::StatusOr<recording::History> history = recording::Reconstruct(r);
  if (!history.ok()) return history.status();
  r.segments = recording::PartOf(r, *history, 0, r.entries.size(), [&](recording::EntryIndex i) {
                 return r.entries.StackOf(i);
               }).segments;
  for (recording::SegmentState& s : r.segments) {
    const auto known = before.find({s.device, s.address});
    if (known == before.end() || (known->second.bytes != s.bytes && !s.expandable)) continue;
    s.pool = known->second.pool;
    s.mempool = known->second.mempool;
    s.stack = known->second.stack;
  }
  r.has_segments = true;
  r.lost.clear();
  return absl::OkStatus();
}

}  // namespace

struct HistoryReader::Impl {
  explicit Impl(HistoryOptions of) : options(of), joiner(std::move(of)) {}
  const HistoryOptions options;
  Joiner joiner;
  // Reads the next chunk; returns false if it does not exist yet.
  absl::StatusOr<bool> ReadNext(const std::string& folder);

  HistoryStacks stacks;
  uint32_t next = 0;
  bool ended = false;          // reading ended at an unreadable chunk
  bool segments_known = true;  // whether the last chunk had segments
};

absl::StatusOr<bool> HistoryReader::Impl::ReadNext(const std::string& folder) {
  const std::string name = fmt::format("{}/history-{:06}", folder, next);
  std::error_code none;
  if (std::filesystem::exists(name + ".rows", none)) {
    std::vector<HistoryTailRow> rows;
    bool full = false;
    const absl::StatusOr<bool> read = ReadTail(name + ".rows", rows, full);
    if (!read.ok()) return read.status();
    if (absl::Status s = stacks.ReadMore(folder + "/stacks.jsonl"); !s.ok()) return s;
    if (rows.empty()) return absl::DataLossError(i18n::Text("the history has no entries"));
    segments_known = false;
    joiner.Add(PartOf(rows, stacks), OperatorsOf(rows, stacks));
    if (full) joiner.Warn(TEXT_MARK("entries are missing: the history file was full"));
    return true;
  }
  if (!std::filesystem::exists(name + ".pickle", none)) return false;
  absl::StatusOr<Recording> part = ReadChunk(name + ".pickle", options);
  if (!part.ok()) return part.status();
  segments_known = true;
  joiner.Add(*std::move(part));
  return true;
}

HistoryReader::HistoryReader(HistoryOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
HistoryReader::~HistoryReader() = default;
HistoryReader::HistoryReader(HistoryReader&&) noexcept = default;
HistoryReader& HistoryReader::operator=(HistoryReader&&) noexcept = default;

const Recording& HistoryReader::recording() const { return impl_->joiner.whole(); }
uint32_t HistoryReader::chunks() const { return impl_->next; }

absl::Status HistoryReader::ReadMore(const std::string& folder) {
  Impl& impl = *impl_;
  for (; impl.next < kMaxChunks && !impl.ended; ++impl.next) {
    const absl::StatusOr<bool> read = impl.ReadNext(folder);
    if (read.ok() && !*read) break;
    if (!read.ok()) {
      if (impl.next == 0 || absl::IsCancelled(read.status())) return read.status();
      impl.joiner.Warn(i18n::English("the history ends early, at chunk {}: {}", impl.next,
                                     std::string(read.status().message())));
      impl.ended = true;
      break;
    }
  }
  if (impl.next == 0)
    return absl::NotFoundError(i18n::Text("the program recorded no memory history"));
  return absl::OkStatus();
}

absl::StatusOr<Recording> HistoryReader::WithTail(const std::string& folder,
                                                  std::vector<StringId>* operators) const {
  std::vector<HistoryTailRow> rows;
  bool full = false;
  // The next chunk (number impl_->next) may have a tail. If the next chunk was to be written but
  // never was, the chunk after it may have a tail, too.
  for (uint32_t number = impl_->next; number < kMaxChunks && !impl_->ended && !full; ++number) {
    const absl::StatusOr<bool> read =
        ReadTail(fmt::format("{}/history-{:06}.tail", folder, number), rows, full);
    if (!read.ok()) return read.status();
    if (!*read) break;
  }
  if (impl_->next == 0 && rows.empty())
    return absl::NotFoundError(i18n::Text("the program recorded no memory history"));
  if (rows.empty() && impl_->segments_known) {
    if (operators != nullptr) *operators = impl_->joiner.operators();
    return impl_->joiner.whole();
  }
  if (absl::Status s = impl_->stacks.ReadMore(folder + "/stacks.jsonl"); !s.ok()) return s;
  Joiner joiner = impl_->joiner;
  if (!rows.empty()) joiner.Add(PartOf(rows, impl_->stacks), OperatorsOf(rows, impl_->stacks));
  if (operators != nullptr) *operators = joiner.operators();
  Recording whole = joiner.whole();
  if (const absl::Status status = EndBehindRows(whole); !status.ok()) return status;
  if (full)
    whole.warnings.emplace_back(TEXT_MARK("the history ends early: the history file was full"));
  return whole;
}

absl::StatusOr<Recording> ReadHistory(const std::string& folder, const HistoryOptions& options) {
  HistoryReader reader(options);
  if (absl::Status status = reader.ReadMore(folder); !status.ok()) return status;
  return reader.recording();
}

}  // namespace vramscope::program
