// Converts entries. A snapshot can have millions of them.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/importers/row_memory.h"
#include "profiler/importers/snapshot_builder.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

constexpr uint64_t kMaxAsked = trace::kMostSnapshotAsked;

}  // namespace

struct SnapshotBuilder::Entry {
  recording::Action action = recording::Action::kOther;
  uint32_t action_text = 0;
  uint8_t category = SnapshotParts::kNoCategory;
  bool has_time = false;
  uint64_t address = 0, bytes = 0, stream = 0;
  int64_t time_us = 0;
  trace::StackId stack;
  trace::StringId compile_context, user_metadata;
};

bool SnapshotBuilder::FillEntry(Entry& e, Items items) {
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    bool good = true;
    switch (items[i].key) {
      case Key::kAction:
        if (v.kind != Kind::kString) return Fail(i18n::Text("'action' is not a string"));
        e.action = strings_.action(v.row());
        e.action_text = v.row();
        break;
      case Key::kAddr:
      case Key::kDeviceFree:
        good = Number(items[i], v, &e.address);
        break;
      case Key::kSize:
        good = Number(items[i], v, &e.bytes);
        break;
      case Key::kStream:
        good = Number(items[i], v, &e.stream);
        break;
      case Key::kTimeUs:
        good = Time(v, &e.time_us);
        e.has_time = true;
        break;
      case Key::kFrames:
        good = Stack(v, &e.stack);
        break;
      case Key::kCategory:
        e.category = RecordedCategory(v);
        break;
      case Key::kCompileContext:
        good = Origin(v, &e.compile_context);
        break;
      case Key::kUserMetadata:
        good = Origin(v, &e.user_metadata);
        break;
      default:
        if (v.kind == Kind::kDict) Drop({&v, 1});
        break;
    }
    if (!good) return false;
  }
  const bool asked = e.action == recording::Action::kOutOfMemory;
  if (e.bytes > (asked ? kMaxAsked : kMaxBytes))
    return Fail(i18n::Format("'size' is {} bytes, more than any device has", e.bytes));
  if (!asked && e.address + e.bytes < e.address)
    return Fail(i18n::Format("{} bytes at {:#x} go beyond the address space", e.bytes, e.address));
  return true;
}

// The origin of an entry. PyTorch writes "N/A" if there is none.
bool SnapshotBuilder::Origin(const Value& value, trace::StringId* out) {
  if (value.kind != Kind::kString || Text(value) == "N/A") return true;
  return RecordedString(value, &out->value);
}

bool SnapshotBuilder::NeedsAll() {
  needs_all_ = true;
  return Fail(i18n::Text("the range is only known at the end of the file"));
}

// Used with a range. Completes the previous row. Then checks whether the new row begins another
// list (of another device, or of the host).
bool SnapshotBuilder::BeginRow() {
  const uint32_t list = marks_.empty() ? 0 : marks_.back();
  if (open_row_ && !Settle()) return false;
  if (rows_ == 0 || list != last_list_) {
    Key key = Key::kNone;  // the key of the outermost dict that is being read
    size_t i = marks_.empty() ? 0 : marks_.front();
    for (const size_t end = std::min(stack_.size(), i + 64);
         i + 1 < end && stack_[i].kind == Kind::kString; i += 2)
      key = stack_[i].key;
    host_list_ = key == Key::kHostTraces;
    const uint32_t of_device = parts_.range->total();
    if (!host_list_ && of_device > 0 && list > last_list_) return NeedsAll();
    if (!host_list_ && of_device == 0) parts_.range_row = rows_;
    last_list_ = list;
  }
  open_row_ = !host_list_;
  return true;
}

// Called when the last row is complete. Removes the row if it is outside the range.
bool SnapshotBuilder::Settle() {
  recording::EntryTable& t = parts_.recording.entries;
  const bool is_alloc = t.action.back() == recording::Action::kAlloc;
  const bool kept = parts_.range->Settle(t, parts_.category);
  open_row_ = false;
  return !kept || Charge(kMemoryOfEntry + (is_alloc ? kMemoryOfAlloc : 0));
}

bool SnapshotBuilder::AddEntry(Items items) {
  recording::EntryTable& t = parts_.recording.entries;
  if (rows_ == recording::kNoEntry - 1)
    return Fail(i18n::Text("the snapshot has more than 4,294,967,294 entries"));
  Entry e;
  if (!FillEntry(e, items) || (parts_.range && !BeginRow())) return false;
  const bool is_alloc = e.action == recording::Action::kAlloc;
  const uint64_t memory = parts_.range ? kMemoryOfBareEntry + (is_alloc ? kMemoryOfBareAlloc : 0)
                                       : kMemoryOfEntry + (is_alloc ? kMemoryOfAlloc : 0);
  if (!Charge(memory)) return false;
  const uint32_t row = rows_++;
  if (!e.has_time) {
    ++parts_.entries_without_time;
    e.time_us = last_us_ + 1;
  } else if (!has_time_) {
    BeginTime(e.time_us, row);
  }
  last_us_ = e.time_us;
  const uint32_t stream = Stream(e.stream);
  parts_.has_category |= e.category != SnapshotParts::kNoCategory;
  if (!host_list_) {
    t.action.push_back(e.action);
    t.address.push_back(e.address);
    t.bytes.push_back(e.bytes);
    t.time_ns.push_back((e.time_us - first_us_) * 1000);
    t.stack.push_back(e.stack);
    t.stream.push_back(stream);
    if (parts_.has_category) SetCategory(t.size() - 1, e.category);
    SetOrigin(t.size() - 1, e);
  }
  if (e.action == recording::Action::kOther && parts_.other_actions.size() < 8)
    ++parts_.other_actions[std::string(strings_.Text(e.action_text))];
  return true;
}

// Called for the first recorded time. Places earlier entries, which have no time, one microsecond
// apart, but not before time 0.
void SnapshotBuilder::BeginTime(int64_t time_us, uint32_t row) {
  has_time_ = parts_.recording.has_times = true;
  first_us_ = time_us >= 0 ? std::max<int64_t>(0, time_us - row) : time_us - row;
}

// Sets columns that most files lack. These columns are no longer than their last value requires.
void SnapshotBuilder::SetOrigin(uint32_t row, const Entry& e) {
  const auto set = [row](std::vector<trace::StringId>& column, trace::StringId value) {
    if (value.value == 0 && column.size() <= row) return;
    if (column.size() <= row) column.resize(row + 1);
    column[row] = value;
  };
  recording::EntryTable& t = parts_.recording.entries;
  set(t.compile_context, e.compile_context);
  // If an annotation has a category, only the category is kept, because the text repeats it.
  const bool category =
      e.action == recording::Action::kAnnotate && e.category != SnapshotParts::kNoCategory;
  set(t.user_metadata, category ? trace::StringId() : e.user_metadata);
}

void SnapshotBuilder::SetCategory(uint32_t row, uint8_t category) {
  parts_.category.resize(parts_.recording.entries.size(), SnapshotParts::kNoCategory);
  parts_.category[row] = category;
}

// Some writers set the keys of an entry one by one, so a row can change later.
bool SnapshotBuilder::ChangeEntry(uint32_t row, Items items) {
  recording::EntryTable& t = parts_.recording.entries;
  if (parts_.range && row != rows_ - 1) return NeedsAll();
  const uint32_t at = parts_.range && !host_list_ ? t.size() - 1 : row;
  Entry e;
  if (!host_list_) {
    e.action = t.action[at];
    e.address = t.address[at];
    e.bytes = t.bytes[at];
    e.stack = t.stack[at];
    e.stream = parts_.recording.streams[t.stream[at]];
    if (at < t.compile_context.size()) e.compile_context = t.compile_context[at];
    if (at < t.user_metadata.size()) e.user_metadata = t.user_metadata[at];
    if (at < parts_.category.size()) e.category = parts_.category[at];
  }
  if (!FillEntry(e, items)) return false;
  const uint32_t stream = Stream(e.stream);
  if (e.has_time) {
    if (!has_time_) BeginTime(e.time_us, row);
    if (parts_.entries_without_time > 0) --parts_.entries_without_time;
    last_us_ = e.time_us;
  }
  const bool has_category = e.category != SnapshotParts::kNoCategory;
  parts_.has_category |= has_category;
  if (host_list_) return true;
  t.action[at] = e.action;
  t.address[at] = e.address;
  t.bytes[at] = e.bytes;
  t.stack[at] = e.stack;
  t.stream[at] = stream;
  if (e.has_time) t.time_ns[at] = (e.time_us - first_us_) * 1000;
  if (has_category) SetCategory(at, e.category);
  SetOrigin(at, e);
  return true;
}

// Checks that the range was cut out of the only device's list.
bool SnapshotBuilder::FinishRange() {
  SnapshotRange& range = *parts_.range;
  if (open_row_ && !Settle()) return false;
  if (parts_.traces.size() > 256 || !range.from_zero()) return NeedsAll();
  uint32_t listed = 0;
  for (size_t d = 0; d < parts_.traces.size(); ++d) {
    SnapshotParts::Rows& rows = parts_.traces[d];
    listed += rows.count;
    if (rows.count == 0) continue;
    if (rows.first != parts_.range_row || rows.count != range.total()) return NeedsAll();
    parts_.range_device = static_cast<uint8_t>(d);
    rows = {0, parts_.recording.entries.size()};
  }
  return listed == range.total() || NeedsAll();
}

}  // namespace vramscope::importers
