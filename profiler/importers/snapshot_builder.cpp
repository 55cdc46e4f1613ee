#include "profiler/importers/snapshot_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/importers/row_memory.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

// The most rows in each of the minor tables. A snapshot needs only a few; further rows are
// dropped.
constexpr size_t kMaxLists = 64;

bool IsList(Kind kind) {
  switch (kind) {
    case Kind::kOpenList:
    case Kind::kOpaque:
    case Kind::kStack:
    case Kind::kPair:
    case Kind::kStrings:
    case Kind::kTrace:
    case Kind::kBlockList:
    case Kind::kSegmentList:
    case Kind::kAnnotationList:
    case Kind::kTraces:
    case Kind::kHistory:
      return true;
    default:
      return false;
  }
}

Kind ListOf(Kind kind) {
  switch (kind) {
    case Kind::kEntries:
      return Kind::kTrace;
    case Kind::kBlocks:
      return Kind::kBlockList;
    case Kind::kSegments:
      return Kind::kSegmentList;
    default:
      return Kind::kAnnotationList;
  }
}

}  // namespace

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kOpaque:
      return i18n::Text("a value that snapshots do not have");
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return i18n::Text("a number");
    case Kind::kString:
      return i18n::Text("a string");
    case Kind::kOpenDict:
      return i18n::Text("an empty dict");
    case Kind::kOpenList:
      return i18n::Text("an empty list");
    case Kind::kDict:
      return i18n::Text("a dict");
    case Kind::kFrame:
      return i18n::Text("a frame");
    case Kind::kStack:
      return i18n::Text("a list of frames");
    case Kind::kPair:
      return i18n::Text("a pair of numbers");
    case Kind::kStrings:
      return i18n::Text("a list of strings");
    case Kind::kEntries:
      return i18n::Text("a trace entry");
    case Kind::kBlocks:
      return i18n::Text("a block");
    case Kind::kSegments:
      return i18n::Text("a segment");
    case Kind::kAnnotations:
      return i18n::Text("an annotation");
    case Kind::kTrace:
      return i18n::Text("a list of trace entries");
    case Kind::kBlockList:
      return i18n::Text("a list of blocks");
    case Kind::kSegmentList:
      return i18n::Text("a list of segments");
    case Kind::kAnnotationList:
      return i18n::Text("a list of annotations");
    case Kind::kTraces:
      return i18n::Text("a list of traces");
    case Kind::kHistory:
      return i18n::Text("a block's history");
    case Kind::kSettings:
      return i18n::Text("allocator settings");
    case Kind::kMarks:
      return i18n::Text("marks of vramscope");
    case Kind::kSnapshot:
      return i18n::Text("a snapshot");
  }
  return "";
}

SnapshotBuilder::SnapshotBuilder(trace::MemoryBudget& budget)
    : budget_(budget), stacks_(parts_.recording.stacks) {
  parts_.recording.has_times = false;  // until an entry has a time
}

bool SnapshotBuilder::Spent() {
  return Fail(i18n::Text("the file has more values than the memory limit allows"));
}

bool SnapshotBuilder::Fail(std::string text) {
  error_ = std::move(text);
  return false;
}

bool SnapshotBuilder::TooMany() {
  return Fail(i18n::Format("more than {} values are on the stack; a snapshot needs a few dozen",
                           kMaxWaiting));
}

bool SnapshotBuilder::Mark() {
  if (marks_.size() >= kMaxMarks)
    return Fail(i18n::Format(
        "containers are nested deeper than {} levels; a snapshot has about six", kMaxMarks));
  marks_.push_back(static_cast<uint32_t>(stack_.size()));
  return true;
}

bool SnapshotBuilder::CloseMark(bool dict) {
  if (marks_.empty()) return Fail(i18n::Text("the items of a container have no MARK before them"));
  const size_t first = marks_.back();
  marks_.pop_back();
  return FillFrom(first, dict);
}

bool SnapshotBuilder::FillFrom(size_t first, bool dict) {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (first <= floor || first > stack_.size())
    return Fail(
        i18n::Text("items are to be added to a container, but no container is on the stack"));
  Value& target = stack_[first - 1];
  const Items items = Items(stack_).subspan(first);
  changed_.memo = target.memo;
  if (!(dict ? Fill(target, items) : Extend(target, items))) return false;
  changed_.value = target;
  stack_.resize(first);
  if (dict) MergeTop();
  return true;
}

// Merges consecutive rows into one value. Thus an unfinished list of a million entries takes only a
// few bytes on the stack.
void SnapshotBuilder::MergeTop() {
  if (marks_.empty() || stack_.size() < size_t{marks_.back()} + 2) return;
  const Value& top = stack_.back();
  Value& below = stack_[stack_.size() - 2];
  if (!top.is_rows() || below.kind != top.kind || below.row() + below.count() != top.row()) return;
  below = Value::Rows(top.kind, below.row(), below.count() + top.count());
  stack_.pop_back();
}

bool SnapshotBuilder::Tuple(size_t count) {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count) return Fail(i18n::Text("a tuple has too few items"));
  const Items items = Items(stack_).last(count);
  Value tuple = Value::Of(count == 0 ? Kind::kOpaque : Kind::kOpenList);
  if (count > 0 && !Extend(tuple, items)) return false;
  stack_.resize(stack_.size() - count);
  return Push(tuple);
}

bool SnapshotBuilder::MarkedTuple() {
  if (marks_.empty()) return Fail(i18n::Text("the items of a tuple have no MARK before them"));
  const size_t count = stack_.size() - std::min<size_t>(stack_.size(), marks_.back());
  const bool good = Tuple(count);
  marks_.pop_back();
  return good;
}

bool SnapshotBuilder::MarkedNew(Kind open) {
  if (marks_.empty()) return Fail(i18n::Text("the items of a container have no MARK before them"));
  const size_t first = marks_.back();
  marks_.pop_back();
  Value made = Value::Of(open);
  const Items items = Items(stack_).subspan(std::min(first, stack_.size()));
  if (!items.empty() && !(open == Kind::kOpenDict ? Fill(made, items) : Extend(made, items)))
    return false;
  stack_.resize(std::min(first, stack_.size()));
  if (!Push(made)) return false;
  MergeTop();
  return true;
}

bool SnapshotBuilder::AppendFrames(std::span<const uint32_t> frames) {
  uint32_t id = 0;
  if (!MakeStack(Value::Of(Kind::kOpenList), frames, &id)) return false;
  Value& list = stack_.back();
  changed_.memo = list.memo;
  list.kind = id == 0 ? Kind::kOpenList : Kind::kStack;
  list.payload = id;
  changed_.value = list;
  return true;
}

// --- Lists.

bool SnapshotBuilder::Extend(Value& list, Items items) {
  if (items.empty())
    return IsList(list.kind) ||
           Fail(i18n::Format("items are appended to {}, which is not a list", Name(list.kind)));
  switch (list.kind) {
    case Kind::kOpenList:
      return ExtendNew(list, items);
    case Kind::kStack:
      return ExtendStack(list, items);
    case Kind::kTrace:
      return ExtendRows(list, Kind::kEntries, items);
    case Kind::kBlockList:
      return ExtendRows(list, Kind::kBlocks, items);
    case Kind::kSegmentList:
      return ExtendRows(list, Kind::kSegments, items);
    case Kind::kAnnotationList:
      return ExtendRows(list, Kind::kAnnotations, items);
    case Kind::kTraces:
      return ExtendTraces(list, items);
    case Kind::kStrings:
      return ExtendStrings(list, items);
    default:
      if (!IsList(list.kind))
        return Fail(i18n::Format("items are appended to {}, which is not a list", Name(list.kind)));
      // Further items of a block's history (in old files) are ignored. Other lists become opaque.
      if (list.kind != Kind::kHistory) list.kind = Kind::kOpaque;
      Drop(items);
      return true;
  }
}

bool SnapshotBuilder::ExtendNew(Value& list, Items items) {
  const Value& first = items[0];
  switch (first.kind) {
    case Kind::kFrame:
      return ExtendStack(list, items);
    case Kind::kEntries:
    case Kind::kBlocks:
    case Kind::kSegments:
    case Kind::kAnnotations:
      list.kind = ListOf(first.kind);
      list.payload = first.row();  // ExtendRows adds the rows
      return ExtendRows(list, first.kind, items);
    case Kind::kTrace:
    case Kind::kOpenList:
      return ExtendTraces(list, items);
    case Kind::kHistory:
      list.kind = Kind::kHistory;
      list.payload = first.payload;
      return true;
    case Kind::kInt:
      if (items.size() == 2 && items[1].kind == Kind::kInt && first.payload <= UINT32_MAX &&
          items[1].payload <= UINT32_MAX) {
        list.kind = Kind::kPair;
        list.payload = first.payload << 32 | items[1].payload;
        return true;
      }
      break;
    case Kind::kString:
      if (string_lists_.size() == kMaxLists) break;
      list.kind = Kind::kStrings;
      list.payload = string_lists_.size();
      string_lists_.emplace_back();
      return ExtendStrings(list, items);
    default:
      break;
  }
  list.kind = Kind::kOpaque;
  Drop(items);
  return true;
}

bool SnapshotBuilder::ExtendRows(Value& list, Kind of, Items items) {
  for (const Value& item : items) {
    if (item.kind != of)
      return Fail(i18n::Format("{} contains an item of another kind: {}", Name(list.kind),
                               Name(item.kind)));
    if (item.row() != list.row() + list.count())
      return Fail(i18n::Format("the items of {} are not consecutive in the file", Name(list.kind)));
    const uint32_t memo = list.memo;
    list = Value::Rows(list.kind, list.row(), list.count() + item.count());
    list.memo = memo;
  }
  return true;
}

bool SnapshotBuilder::ExtendTraces(Value& list, Items items) {
  const bool empties =
      list.kind == Kind::kOpenList &&
      std::ranges::all_of(items, [](const Value& v) { return v.kind == Kind::kOpenList; });
  if (empties && traces_.size() >= kMaxLists) {
    list.kind = Kind::kOpaque;
    return true;
  }
  if (list.kind == Kind::kOpenList) {
    if (traces_.size() >= 2 * kMaxLists)
      return Fail(i18n::Text("the file has more lists of traces than a snapshot can have"));
    list.kind = Kind::kTraces;
    list.payload = traces_.size();
    traces_.emplace_back();
  }
  if (!Charge(2 * sizeof(SnapshotParts::Rows) * items.size())) return false;
  std::vector<SnapshotParts::Rows>& rows = traces_[list.row()];
  for (const Value& item : items) {
    if (item.kind == Kind::kTrace)
      rows.push_back({item.row(), item.count()});
    else if (item.kind == Kind::kOpenList)
      rows.push_back({});
    else
      return Fail(
          i18n::Format("a list of traces contains an item of another kind: {}", Name(item.kind)));
  }
  return true;
}

bool SnapshotBuilder::ExtendStrings(Value& list, Items items) {
  if (!std::ranges::all_of(items, [](const Value& v) { return v.kind == Kind::kString; })) {
    list.kind = Kind::kOpaque;
    Drop(items);
    return true;
  }
  if (!Charge(8 * items.size())) return false;
  for (const Value& v : items) string_lists_[list.row()].push_back(v.row());
  return true;
}

bool SnapshotBuilder::ExtendStack(Value& stack, Items items) {
  frames_.clear();
  for (const Value& item : items) {
    if (item.kind != Kind::kFrame)
      return Fail(
          i18n::Format("a list of frames contains an item of another kind: {}", Name(item.kind)));
    frames_.push_back(item.row());
  }
  uint32_t id = 0;
  if (!MakeStack(stack, frames_, &id)) return false;
  stack.kind = Kind::kStack;
  stack.payload = id;
  return true;
}

bool SnapshotBuilder::MakeStack(const Value& list, std::span<const uint32_t> frames, uint32_t* id) {
  const trace::StackTable& table = parts_.recording.stacks;
  const size_t stacks = table.size(), frames_before = table.frames.size();
  *id = list.kind == Kind::kStack ? stacks_.Extend(list.row(), frames) : stacks_.Stack(frames);
  if (*id == StackInterner::kFull)
    return Fail(i18n::Text("the file has more call stacks than can be stored"));
  if (table.frames.size() == frames_before) return true;
  return Charge((table.size() - stacks) * kMemoryOfStack +
                (table.frames.size() - frames_before) * kMemoryOfStackFrame);
}

// Releases items that are not kept.
void SnapshotBuilder::Drop(Items items) {
  for (const Value& item : items)
    if (item.kind == Kind::kDict) {
      budget_.Refund(MemoryOfDict(dicts_[item.row()].items.size()));
      dicts_[item.row()] = {};
      free_dicts_.push_back(item.row());
    }
}

// --- Values.

Value SnapshotBuilder::String(std::string_view text) {
  const uint32_t strings = strings_.size();
  const uint32_t row = strings_.Intern(text);
  if (row == StringTable::kFull) return Value::Of(Kind::kOpaque);
  if (row == strings) Charge(kMemoryOfString + kMemoryOfStringByte * text.size());
  Value v = Value::Of(Kind::kString, row);
  v.key = strings_.key(row);
  return v;
}

bool SnapshotBuilder::Finish(SnapshotParts* parts) {
  const Kind kind = stack_.empty() ? Kind::kOpaque : stack_.back().kind;
  if (kind == Kind::kSegmentList) {  // torch.cuda.memory_snapshot()
    parts_.bare_list = parts_.recording.has_segments = true;
    kept_segments_ = {stack_.back().row(), stack_.back().count()};
  } else if (kind != Kind::kSnapshot) {
    return Fail(
        i18n::Format("this is {}, not a CUDA memory snapshot (a dict with 'segments' and "
                     "'device_traces', or a list of segments)",
                     stack_.empty() ? i18n::Text("nothing") : Name(kind)));
  }
  if (parts_.range && !FinishRange()) return false;
  if (parts_.has_category)
    parts_.category.resize(parts_.recording.entries.size(), SnapshotParts::kNoCategory);
  const auto range = [](auto& from, SnapshotParts::Rows rows) {
    return std::span(from).subspan(rows.first, rows.count);
  };
  for (const auto& s : range(segments_, host_segments_)) {
    ++parts_.host_segments;
    parts_.host_bytes += s.bytes;
    for (const recording::BlockState& b : s.blocks) {
      if (b.use == recording::BlockUse::kInactive) continue;
      ++parts_.host_blocks;
      parts_.host_used += b.bytes;
    }
  }
  for (const auto& rows : host_traces_) parts_.host_entries += rows.count;
  for (auto& s : range(segments_, kept_segments_))
    parts_.recording.segments.push_back(std::move(s));
  parts_.recording.start_unix_ns = has_time_ ? first_us_ * 1000 : 0;
  parts_.start_us = first_us_;
  parts_.has_times = has_time_;
  // These columns may end before the last row.
  recording::EntryTable& entries = parts_.recording.entries;
  for (auto* column : {&entries.user_metadata, &entries.compile_context})
    if (!column->empty()) column->resize(entries.size());
  *parts = std::move(parts_);
  return true;
}

}  // namespace vramscope::importers
