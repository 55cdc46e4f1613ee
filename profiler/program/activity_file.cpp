#include "profiler/program/activity_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/program/activity_tail.h"
#include "profiler/trace/input.h"
#include "profiler/trace/processes.h"

namespace vramscope::program {
namespace {

using trace::Activity;
using trace::ActivityKind;
using trace::StringId;

constexpr size_t kMaxActivityNames = size_t{1} << 20;
constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kMaxStreamNames = size_t{1} << 16;
constexpr uint32_t kMostThreads = 1u << trace::kProcessShift;

bool IsCall(ActivityKind kind) {
  return kind == ActivityKind::kRuntimeCall || kind == ActivityKind::kDriverCall;
}
bool IsOfThread(ActivityKind kind) {
  return IsCall(kind) || kind == ActivityKind::kSynchronization ||
         kind == ActivityKind::kOverhead || kind == ActivityKind::kRange;
}

// Converts thread ids of the system to thread numbers of the trace. Threads with marks have the
// numbers that the marks use. The others get the next numbers, in order of appearance.
class Threads {
 public:
  explicit Threads(const Marks& marks) {
    for (uint32_t number = 0; number < marks.native_threads.size(); ++number)
      if (marks.native_threads[number] != 0) numbers_[marks.native_threads[number]] = number;
    next_ = marks.threads;
  }
  uint32_t operator()(uint64_t native) {
    const auto [it, added] = numbers_.try_emplace(native, next_);
    if (added && next_ + 1 < kMostThreads) ++next_;
    return it->second;
  }

 private:
  base::HashMap<uint64_t, uint32_t> numbers_;
  uint32_t next_ = 0;
};

// Converts CUPTI's stream numbers to the stream numbers of the allocator's events.
class StreamNumbers {
 public:
  StreamNumbers(const ActivityFile& file, const recording::Recording& recording) {
    base::HashMap<uint64_t, uint32_t> of_handle;
    const std::vector<uint32_t> numbers = recording::StreamNumbers(recording);
    for (size_t row = 0; row < numbers.size(); ++row) {
      of_handle.emplace(recording.streams[row], numbers[row]);
      taken_.insert(numbers[row]);
    }
    for (const StreamName& stream : file.streams()) {
      const auto known = of_handle.find(stream.handle);
      if (known == of_handle.end()) continue;
      numbers_[{stream.device, stream.id}] = known->second;
    }
  }
  // Does not change the number of an activity without a stream, or of a wait for all streams.
  uint32_t operator()(const Activity& activity) const {
    if (activity.stream == trace::kAllStreams || !HasStream(activity.kind) || numbers_.empty())
      return activity.stream;
    const auto known = numbers_.find({activity.device, activity.stream});
    if (known != numbers_.end()) return known->second;
    // If one of the allocator's streams has this number, adds kBehind: CUPTI's own numbers are
    // consecutive and smaller.
    constexpr uint32_t kBehind = 1u << 20;
    return taken_.contains(activity.stream) ? activity.stream + kBehind : activity.stream;
  }

 private:
  static bool HasStream(ActivityKind kind) {
    return kind == ActivityKind::kKernel || kind == ActivityKind::kMemcpy ||
           kind == ActivityKind::kMemset || kind == ActivityKind::kCollective ||
           kind == ActivityKind::kSynchronization || kind == ActivityKind::kOperand;
  }
  base::HashMap<std::pair<uint8_t, uint32_t>, uint32_t> numbers_;
  base::HashSet<uint32_t> taken_;
};

}  // namespace

absl::Status ActivityFile::Take(ActivityChunk chunk) {
  if (chunk.has_facts) {
    facts_ = std::move(chunk.facts);
    return absl::OkStatus();
  }
  for (const StreamName& stream : chunk.streams) {
    if (streams_.size() == kMaxStreamNames)
      return absl::ResourceExhaustedError(i18n::Format("more than {} streams", kMaxStreamNames));
    streams_.push_back(stream);
  }
  if (!chunk.streams.empty()) return absl::OkStatus();
  if (chunk.names.empty() ? chunk.first_name > names_.size() : chunk.first_name != names_.size())
    return absl::DataLossError(i18n::Text("names out of order"));
  for (std::string& name : chunk.names) names_.push_back(std::move(name));
  if (names_.size() > kMaxActivityNames ||
      activities_.size() + chunk.activities.size() > kMaxActivities)
    return absl::ResourceExhaustedError(
        i18n::Format("more than {} activities or {} names", kMaxActivities, kMaxActivityNames));
  rows_ += chunk.activities.size();
  for (const Activity& activity : chunk.activities) {
    if (trace::CheckActivity(activity, names_.size()).ok() && activity.begin_ns >= 0)
      activities_.push_back(activity);
    else
      ++left_out_;
  }
  return absl::OkStatus();
}

absl::Status ActivityFile::ReadMore(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError("");
  if (damaged_) return absl::OkStatus();
  file.seekg(static_cast<std::streamoff>(read_));
  std::string piece(kPiece, '\0');
  while (!damaged_ && (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
                       file.gcount() > 0)) {
    const auto got = static_cast<size_t>(file.gcount());
    read_ += got;
    if (read_ > kMaxActivityFileBytes + kMaxChunkBytes)
      return absl::ResourceExhaustedError(i18n::Text("the activity file is too large"));
    rest_.append(piece, 0, got);
    size_t taken = 0;
    while (!damaged_) {
      size_t used = 0;
      ActivityChunk chunk;
      const Decoded decoded = DecodeChunk(std::string_view(rest_).substr(taken), used, chunk);
      if (decoded == Decoded::kIncomplete) break;
      damaged_ = decoded == Decoded::kDamaged;
      if (damaged_) break;
      taken += used;
      absl::Status status = Take(std::move(chunk));
      if (absl::IsResourceExhausted(status)) return status;
      damaged_ = !status.ok();
    }
    rest_.erase(0, taken);
  }
  return absl::OkStatus();
}

absl::Status ActivityFile::ReadTail(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return absl::NotFoundError("");
  const absl::StatusOr<std::string> bytes = trace::ReadWholeInput(path, 2 * kActivityTailBytes);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() < kActivityTailBytes ||
      std::memcmp(bytes->data(), ActivityTailHeader::kMagic.data(), 8) != 0)
    return absl::NotFoundError("");  // killed before it wrote anything
  std::array<uint64_t, 5> facts{};
  std::memcpy(facts.data(), bytes->data() + 8, sizeof facts);
  const auto [row_bytes, first_row, rows, first_name, names] = facts;
  if (row_bytes != sizeof(Activity) || rows > kTailRows || first_row > rows_ ||
      first_name > names_.size() || names > kTailNameBytes / sizeof(uint32_t))
    return absl::DataLossError(
        i18n::Text("the end of the activity file does not match its chunks"));
  ActivityChunk chunk;
  chunk.first_name = static_cast<uint32_t>(names_.size());
  size_t at = kActivityTailBytes - kTailNameBytes;
  for (uint64_t i = 0; i < names; ++i) {
    uint32_t size = 0;
    if (kActivityTailBytes - at < sizeof size)
      return absl::DataLossError(i18n::Text("a name is cut off"));
    std::memcpy(&size, bytes->data() + at, sizeof size);
    at += sizeof size;
    if (kActivityTailBytes - at < size) return absl::DataLossError(i18n::Text("a name is cut off"));
    if (first_name + i >= names_.size()) chunk.names.emplace_back(bytes->data() + at, size);
    at += size;
  }
  for (uint64_t i = std::min(rows, rows_ - first_row); i < rows; ++i) {
    // The bytes of a row are from a file, so `kind` can be a number outside the enumeration.
    Activity activity;
    std::memcpy(static_cast<void*>(&activity),
                bytes->data() + sizeof(ActivityTailHeader) + i * sizeof(Activity), sizeof activity);
    chunk.activities.push_back(activity);
  }
  return Take(std::move(chunk));
}

std::vector<std::string> ActivityFile::Warnings() const {
  std::vector<std::string> warnings;
  for (const ActivityFacts::Problem& problem : facts_.problems)
    warnings.push_back(fmt::format("{}{}: {}", problem.what.starts_with("NVML: ") ? "" : "CUPTI: ",
                                   problem.what.substr(0, 300), problem.without.substr(0, 300)));
  if (facts_.dropped > 0)
    warnings.push_back(
        facts_.dropped == 1
            ? i18n::English("CUPTI dropped {} record for lack of space: an activity is missing",
                            facts_.dropped)
            : i18n::English(
                  "CUPTI dropped {} records for lack of space: kernels and memcpys are missing",
                  facts_.dropped));
  const uint64_t left_out = facts_.left_out + left_out_;
  if (left_out > 0)
    warnings.push_back(left_out == 1
                           ? i18n::English("{} invalid CUPTI record is left out", left_out)
                           : i18n::English("{} invalid CUPTI records are left out", left_out));
  if (facts_.full)
    warnings.push_back(
        TEXT_MARK("the activity file reached its limit: later activities are missing"));
  if (damaged_)
    warnings.push_back(
        TEXT_MARK("the activity file is damaged: the records that follow the damage are missing"));
  return warnings;
}

void ModuleTimes::See(const trace::Event& event) {
  if (event.kind != trace::EventKind::kModuleBegin && event.kind != trace::EventKind::kModuleEnd)
    return;
  Thread& thread = threads_[event.thread];
  if (event.kind == trace::EventKind::kModuleBegin)
    thread.open.push_back(event.name);
  else if (!thread.open.empty())
    thread.open.pop_back();
  thread.since.emplace_back(event.time_ns, thread.open.empty() ? StringId{} : thread.open.back());
}

StringId ModuleTimes::At(uint32_t thread, int64_t ns) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return {};
  const auto& since = found->second.since;
  const auto after =
      std::upper_bound(since.begin(), since.end(), ns,
                       [](int64_t time, const auto& row) { return time < row.first; });
  return after == since.begin() ? StringId{} : std::prev(after)->second;
}

PlacedActivities PlaceActivities(const ActivityFile& file, const Marks& marks,
                                 const recording::Recording& recording, const ModuleTimes& modules,
                                 const BlockTimes& blocks, int64_t origin_ns,
                                 uint32_t next_string) {
  PlacedActivities placed;
  Threads threads(marks);
  const StreamNumbers stream_number(file, recording);
  std::vector<StringId> names(file.names().size());
  base::HashMap<uint64_t, StringId> module_of;  // keyed by correlation
  size_t operand = 0;
  for (Activity activity : file.activities()) {
    if (activity.kind == ActivityKind::kOperand) {
      const size_t number = operand++;
      if (number >= blocks.size() || !blocks[number]) continue;
      activity.bytes = static_cast<uint64_t>(*blocks[number]);
    }
    activity.begin_ns -= origin_ns;
    activity.end_ns -= origin_ns;
    if (activity.end_ns < 0) continue;
    activity.begin_ns = std::max<int64_t>(activity.begin_ns, 0);
    activity.stream = stream_number(activity);
    for (StringId* name : {&activity.name, &activity.op}) {
      StringId& known = names[name->value];
      if (name->value != 0 && known.value == 0) {
        known.value = next_string + static_cast<uint32_t>(placed.strings.size());
        placed.strings.push_back(file.names()[name->value]);
      }
      *name = known;
    }
    if (IsOfThread(activity.kind)) {
      activity.thread = threads(activity.thread);
      activity.module = modules.At(activity.thread, activity.begin_ns);
      if (IsCall(activity.kind) && activity.module.value != 0)
        module_of[activity.correlation] = activity.module;
    }
    placed.rows.push_back(activity);
  }
  for (Activity& activity : placed.rows)
    if (!IsOfThread(activity.kind) && activity.kind != ActivityKind::kOperand &&
        activity.correlation != 0)
      if (const auto it = module_of.find(activity.correlation); it != module_of.end())
        activity.module = it->second;
  return placed;
}

}  // namespace vramscope::program
