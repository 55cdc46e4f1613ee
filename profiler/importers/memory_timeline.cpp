#include "profiler/importers/memory_timeline.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/json_tokens.h"
#include "profiler/importers/row_memory.h"
#include "profiler/trace/memory_budget.h"

namespace vramscope::importers {
namespace {

using recording::Action;
using recording::Recording;
using trace::Category;
using Token = JsonTokens::Token;

// torch.profiler._memory_profiler: _ACTION_TO_INDEX and _CATEGORY_TO_INDEX.
enum TimelineAction : int64_t { kPreexisting = 1, kCreate = 2, kIncrement = 3, kDestroy = 4 };
constexpr std::array kCategories = {Category::kParameter,      Category::kOptimizerState,
                                    Category::kInput,          Category::kTemporary,
                                    Category::kActivation,     Category::kGradient,
                                    Category::kAutogradDetail, Category::kUnknown};

constexpr int64_t kMostBytes = int64_t{1} << 48;
constexpr uint64_t kFirstAddress = uint64_t{1} << 32, kAlignment = 512;

class Reader {
 public:
  Reader(JsonTokens& json, trace::MemoryBudget& budget) : json_(json), budget_(budget) {}

  absl::Status Read(Recording& r) {
    if (json_.Next() != JsonTokens::kBeginArray)
      return absl::InvalidArgumentError(
          i18n::Text("not a memory timeline: the JSON is not a list"));
    while (true) {
      const Token token = json_.Next();
      if (token == JsonTokens::kEndArray) return absl::OkStatus();
      if (token != JsonTokens::kBeginArray)
        return Broken(i18n::Text("a row is not a list of four numbers"));
      if (absl::Status s = Row(r); !s.ok()) return s;
      if (budget_.exhausted()) return absl::OkStatus();  // the caller checks the budget
    }
  }
  uint64_t rows() const { return rows_; }
  uint64_t unusable() const { return unusable_; }

 private:
  // One row of the file. Positive bytes are added to the category, negative bytes are removed.
  struct Point {
    int64_t time_ns = 0, action = 0, bytes = 0, category = 0;
  };

  absl::Status Broken(std::string_view what) const {
    if (!json_.status().ok()) return json_.status();
    return absl::DataLossError(i18n::Format("byte {}: {}", json_.offset(), what));
  }

  absl::Status Row(Recording& r) {
    std::array<int64_t, 4> numbers{};
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Token token = json_.Next();
      const std::optional<int64_t> number =
          token == JsonTokens::kNumber ? ParseInteger(json_.text()) : std::nullopt;
      if (!number)
        return i == 0 ? Broken(i18n::Text("a row does not begin with a number")) : NotRaw();
      numbers[i] = *number;
    }
    if (json_.Next() != JsonTokens::kEndArray) return NotRaw();
    ++rows_;
    if (budget_.Charge(kMemoryOfEntry + kMemoryOfAlloc))
      Take(r, {numbers[0], numbers[1], numbers[2], numbers[3]});
    return absl::OkStatus();
  }
  // Returns the error for a row that is not a list of four numbers. If it is the first row, assumes
  // that export_memory_timeline("x.json") wrote the file. Instead of rows, such a file has a list
  // of times and a list of sums by category.
  absl::Status NotRaw() const {
    if (!json_.status().ok()) return json_.status();
    if (rows_ > 0) return Broken(i18n::Text("a row is not a list of four numbers"));
    return absl::InvalidArgumentError(i18n::Text(
        "a memory timeline that contains only sums by category; export allocations with "
        "export_memory_timeline(\"timeline.raw.json.gz\"), or record a memory snapshot"));
  }

  void Take(Recording& r, const Point& p) {
    if (p.bytes == 0 || p.bytes > kMostBytes || p.bytes < -kMostBytes || p.category < 0 ||
        p.category >= static_cast<int64_t>(kCategories.size())) {
      unusable_ += p.bytes != 0;
      return;
    }
    const auto bytes = static_cast<uint64_t>(p.bytes < 0 ? -p.bytes : p.bytes);
    const auto at = std::pair(bytes, p.category);
    switch (p.action) {
      case kPreexisting:
      case kCreate:
        Put(r, p, Action::kAlloc, New(bytes), bytes);
        live_[at].push_back(r.entries.address.back());
        return;
      case kDestroy:
        if (const std::optional<uint64_t> address = TakeLive(at))
          Put(r, p, Action::kFreeCompleted, *address, bytes);
        else
          ++unusable_;
        return;
      case kIncrement:
        Increment(r, p, bytes);
        return;
      default:
        ++unusable_;
    }
  }

  // Handles a change of category: one row removes the bytes, another row adds them.
  void Increment(Recording& r, const Point& p, uint64_t bytes) {
    if (p.bytes < 0) {
      changes_ = TakeLive({bytes, p.category});
      left_ = p.category;
      if (!changes_) ++unusable_;
      return;
    }
    if (!changes_) return;
    const uint64_t address = *std::exchange(changes_, std::nullopt);
    if (p.category != left_ && kCategories[static_cast<size_t>(p.category)] != Category::kUnknown) {
      Put(r, p, Action::kCategory, address, bytes);
    } else if (p.category != left_) {
      // A recording cannot express a change to "unknown", so the block is freed and allocated
      // again.
      Put(r, p, Action::kFreeCompleted, address, bytes);
      Put(r, p, Action::kAlloc, address, bytes);
    }
    live_[{bytes, p.category}].push_back(address);
  }

  std::optional<uint64_t> TakeLive(std::pair<uint64_t, int64_t> of) {
    const auto it = live_.find(of);
    if (it == live_.end() || it->second.empty()) return std::nullopt;
    const uint64_t address = it->second.back();
    it->second.pop_back();
    return address;
  }

  // The file contains no addresses, so each block gets a unique one.
  uint64_t New(uint64_t bytes) {
    const uint64_t address = next_;
    next_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (next_ > (uint64_t{1} << 59)) next_ = kFirstAddress;  // only malicious files get here
    return address;
  }

  void Put(Recording& r, const Point& p, Action action, uint64_t address, uint64_t bytes) {
    recording::EntryTable& e = r.entries;
    e.action.push_back(action);
    e.address.push_back(address);
    e.bytes.push_back(bytes);
    e.time_ns.push_back(std::max<int64_t>(p.time_ns, -1));
    e.stack.push_back({});
    e.stream.push_back(0);
    e.recorded_category.push_back(kCategories[static_cast<size_t>(p.category)]);
  }

  JsonTokens& json_;
  trace::MemoryBudget& budget_;
  base::HashMap<std::pair<uint64_t, int64_t>, std::vector<uint64_t>> live_;
  std::optional<uint64_t> changes_;  // address of the block whose category is being changed
  int64_t left_ = 0;                 // the category from which its bytes were removed
  uint64_t next_ = kFirstAddress, rows_ = 0, unusable_ = 0;
};

// Makes times count from the first event. Older blocks (time -1) get the time of that event.
void SetTimes(Recording& r) {
  std::vector<int64_t>& times = r.entries.time_ns;
  const auto first = std::ranges::find_if(times, [](int64_t t) { return t >= 0; });
  r.start_unix_ns = first == times.end() ? 0 : *first;
  int64_t last = 0;
  for (int64_t& time : times) last = time = std::max(last, time - r.start_unix_ns);
}

}  // namespace

absl::StatusOr<Recording> ReadMemoryTimeline(trace::InputStream& input,
                                             const MemoryTimelineOptions& options) {
  trace::MemoryBudget budget(input, options.memory_limit);
  JsonTokens json(input, options.head, [&] {
    if (options.progress && input.total() > 0)
      options.progress(std::min(
          1.0, static_cast<double>(input.consumed()) / static_cast<double>(input.total())));
    return options.cancel == nullptr || !options.cancel->load();
  });
  Recording r;
  r.source = TEXT_MARK("memory timeline (PyTorch profiler, raw)");
  r.bytes_are_blocks = true;
  Reader reader(json, budget);
  const absl::Status status = reader.Read(r);
  if (budget.exhausted())
    return budget.Exceeded(i18n::Format("the first {} rows of the memory timeline", reader.rows()),
                           i18n::Text("record fewer steps"));
  if (!status.ok() && (absl::IsCancelled(status) || absl::IsInvalidArgument(status) ||
                       absl::IsResourceExhausted(status) || r.entries.size() == 0))
    return status;
  if (r.entries.size() == 0)
    return absl::InvalidArgumentError(i18n::Text("the memory timeline has no allocation"));
  if (!status.ok())
    r.lost = i18n::English("the file is truncated or damaged: {}", std::string(status.message()));
  SetTimes(r);
  r.warnings.push_back(
      TEXT_MARK("the file has no addresses, so each free is assigned to the latest block with the "
                "same size and category. This does not change sums and categories"));
  if (reader.unusable() > 0)
    r.warnings.push_back(
        reader.unusable() == 1
            ? i18n::English("{} row matches no block and is left out", reader.unusable())
            : i18n::English("{} rows match no block and are left out", reader.unusable()));
  return r;
}

namespace {

// Whether the text begins with a list of lists of numbers: "[[-1, ...".
bool IsListOfNumbers(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  for (int depth = 0; depth < 2; ++depth) {
    const size_t at = text.find_first_not_of(kSpace);
    if (at == std::string_view::npos || text[at] != '[') return false;
    text.remove_prefix(at + 1);
  }
  const size_t at = text.find_first_not_of(kSpace);
  return at != std::string_view::npos && (text[at] == '-' || (text[at] >= '0' && text[at] <= '9'));
}

bool BeginsAsTimeline(std::string_view head) {
  const size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return at != std::string_view::npos && IsListOfNumbers(head.substr(at));
}

absl::StatusOr<std::shared_ptr<const trace::Trace>> OpenMemoryTimeline(ImportRequest& request) {
  if (IsPart(request.options))
    return absl::OutOfRangeError(
        i18n::Text("a memory timeline cannot be opened in part; open the whole file"));
  absl::StatusOr<Recording> recording =
      ReadMemoryTimeline(*request.input, {.head = request.head,
                                          .progress = ReadingProgress(request.options),
                                          .cancel = request.options.cancel,
                                          .memory_limit = request.options.memory_limit});
  request.input.reset();
  if (!recording.ok()) return recording.status();
  // Uses the file's own categories, because the file has nothing from which to infer better ones.
  OpenOptions labelled = request.options;
  labelled.infer = false;
  return FromRecording(*std::move(recording), request.title, labelled);
}

}  // namespace

ImporterEntry DeclareImporter_memory_timeline() {
  return {.place = 60,
          .name = "memory-timeline",
          .begins = BeginsAsTimeline,
          .read = OpenMemoryTimeline};
}

}  // namespace vramscope::importers
