// Converts the dicts and lists of a snapshot to columns while it is read, from pickle or JSON.
// Containers are converted from the inside out. For example, a dict with the keys of an entry
// becomes a row of entries, and a list of frames becomes a StackId. Containers with unknown keys
// are dropped. Internal.
//
//   builder.Push(Value::Of(Value::Kind::kOpenDict));
//   builder.Mark();
//   builder.Push(builder.String("action")); builder.Push(builder.String("alloc")); ...
//   if (!builder.SetItems()) return Error(builder.error());
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/importers/snapshot_parts.h"
#include "profiler/importers/snapshot_strings.h"
#include "profiler/importers/snapshot_values.h"
#include "profiler/trace/memory_budget.h"
#include "profiler/trace/snapshot_limits.h"

namespace vramscope::importers {

class SnapshotBuilder {
 public:
  // The budget must outlive the builder.
  explicit SnapshotBuilder(trace::MemoryBudget& budget);
  // Keeps only entries in the range.
  SnapshotBuilder(trace::MemoryBudget& budget, const SnapshotOptions& range)
      : SnapshotBuilder(budget) {
    parts_.range.emplace(range);
  }

  // --- A stack of values. Marks separate the items of open containers, as in pickle. Each
  // function returns false after an error.
  bool Push(const Value& value) {
    if (stack_.size() >= kMaxWaiting) return TooMany();
    stack_.push_back(value);
    return true;
  }
  bool Mark();
  // Adds everything above the innermost mark to the container below the mark.
  bool SetItems() { return CloseMark(/*dict=*/true); }
  bool Appends() { return CloseMark(/*dict=*/false); }
  // Adds the topmost key and value (or item) to the container below them.
  bool SetItem() { return FillFrom(stack_.size() - std::min<size_t>(stack_.size(), 2), true); }
  bool Append() { return FillFrom(stack_.size() - std::min<size_t>(stack_.size(), 1), false); }
  // Replaces the topmost `count` items, or the items above the mark, by a tuple.
  bool Tuple(size_t count);
  bool MarkedTuple();
  // Like SetItems and Appends, but into a new container (pickle's DICT and LIST).
  bool MarkedNew(Value::Kind open);
  // Replaces the empty list on top by this stack of frames.
  bool AppendFrames(std::span<const uint32_t> frames);

  Value* top() { return stack_.empty() ? nullptr : &stack_.back(); }
  std::span<const Value> stack() const { return stack_; }
  std::span<const uint32_t> marks() const { return marks_; }
  // The memoized container that was changed by the last of the calls above. `memo`: its index in
  // the memo, plus 1; `value`: its new value.
  struct Changed {
    uint32_t memo = 0;
    Value value;
  };
  const Changed& changed() const { return changed_; }

  // --- Values.
  // Check exhausted() afterwards.
  Value String(std::string_view text);
  std::string_view Text(const Value& string) const { return strings_.Text(string.row()); }

  const std::string& error() const { return error_; }
  // Charges memory of the reader itself. Sets an error and returns false if nothing is left.
  bool Charge(uint64_t bytes) { return budget_.Charge(bytes) || Spent(); }
  bool exhausted() const { return budget_.exhausted(); }
  uint32_t entries() const { return rows_; }
  // True after an error if the range cannot be cut out during the reading.
  bool needs_all() const { return needs_all_; }
  const recording::Recording& so_far() const { return parts_.recording; }
  // Call this at the end of a truncated input, before Finish(). Closes open
  // containers with their complete items.
  void CloseAtCut();
  // Call this after the last byte. Returns the result, or an error if the top of the stack is not a
  // snapshot.
  bool Finish(SnapshotParts* parts);

 private:
  using Items = std::span<const Value>;
  static constexpr size_t kMaxWaiting = size_t{1} << 18;
  static constexpr size_t kMaxMarks = 1000;
  // More bytes than any device has. With this limit, sums over all entries stay below 2^64.
  static constexpr uint64_t kMaxBytes = trace::kMostSnapshotBytes;

  struct Entry;
  // The keys and values of a dict whose kind is unknown, or not known yet.
  struct Dict {
    std::vector<Value> items;
    uint64_t keys = 0;
  };
  static uint64_t MemoryOfDict(size_t items) { return 48 + items * sizeof(Value); }

  bool Fail(std::string text);
  uint8_t RecordedCategory(const Value& v);
  bool TooMany();
  bool Spent();
  bool CloseMark(bool dict);
  bool FillFrom(size_t first, bool dict);
  void MergeTop();

  bool Fill(Value& dict, Items items);
  bool FillNew(Value& dict, uint64_t keys, Items items);
  bool Keep(Value& dict, Items items);
  bool FillEntry(Entry& entry, Items items);
  bool AddEntry(Items items);
  bool ChangeEntry(uint32_t row, Items items);
  void SetCategory(uint32_t row, uint8_t category);
  void SetOrigin(uint32_t row, const Entry& entry);
  bool Origin(const Value& value, trace::StringId* out);
  void BeginTime(int64_t time_us, uint32_t row);
  bool BeginRow();
  bool Settle();
  bool FinishRange();
  bool NeedsAll();
  bool FillFrame(Value& frame, Items items);
  bool FillBlock(uint32_t row, Items items);
  bool FillSegment(uint32_t row, Items items);
  bool FillAnnotation(uint32_t row, Items items);
  bool FillHistory(uint32_t row, Items items);
  bool FillSettings(Items items);
  bool FillSnapshot(Items items);

  void CloseList(size_t list, size_t end);
  bool Extend(Value& list, Items items);
  bool ExtendNew(Value& list, Items items);
  bool ExtendRows(Value& list, Value::Kind of, Items items);
  bool ExtendTraces(Value& list, Items items);
  bool ExtendStrings(Value& list, Items items);
  bool ExtendStack(Value& stack, Items items);
  // Appends the frames to the stack of `list`. Sets `id` to the resulting stack.
  bool MakeStack(const Value& list, std::span<const uint32_t> frames, uint32_t* id);
  void Drop(Items items);

  // These functions read a value. If it is absent (None), `out` stays unchanged.
  bool Number(const Value& key, const Value& value, uint64_t* out);
  bool Bytes(const Value& key, const Value& value, uint64_t* out);
  bool Time(const Value& value, int64_t* us);
  bool Stack(const Value& value, trace::StackId* out);
  uint32_t Stream(uint64_t stream);
  bool RecordedString(const Value& value, uint32_t* out);
  std::vector<SnapshotParts::Rows> Traces(const Value& value);

  trace::MemoryBudget& budget_;
  SnapshotParts parts_;
  StringTable strings_;
  StackInterner stacks_;
  std::vector<uint32_t> recorded_;  // string -> Recording::strings
  std::vector<Value> stack_;
  std::vector<uint32_t> marks_;
  Changed changed_;
  std::string error_;

  std::vector<uint32_t> frames_;               // temporary
  std::vector<recording::BlockState> blocks_;  // blocks of incomplete segments
  std::vector<recording::SegmentState> segments_;
  std::vector<Dict> dicts_;
  std::vector<uint32_t> free_dicts_;
  struct History {
    trace::StackId stack;
    uint64_t real_size = 0;
  };
  std::vector<History> histories_;
  std::vector<std::vector<SnapshotParts::Rows>> traces_;
  std::vector<std::vector<uint32_t>> string_lists_;
  SnapshotParts::Rows host_segments_;
  std::vector<SnapshotParts::Rows> host_traces_;
  SnapshotParts::Rows kept_segments_;
  base::HashMap<uint64_t, uint32_t> streams_ = {{0, 0}};
  uint64_t last_stream_ = 0;
  uint32_t last_stream_row_ = 0;
  uint32_t rows_ = 0;  // entries so far; values refer to them by row
  // The following members are used only with a range.
  uint32_t last_list_ = 0;  // position on the stack of the list being filled
  bool host_list_ = false;  // whether this list has the host's entries
  bool open_row_ = false;   // the last row of entries may still change
  bool needs_all_ = false;
  bool has_time_ = false;
  int64_t first_us_ = 0, last_us_ = -1;
};

}  // namespace vramscope::importers
