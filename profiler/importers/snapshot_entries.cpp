// Entries, the rows that a snapshot has millions of.
#include <fmt/format.h>

#include "profiler/importers/snapshot_builder.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

constexpr uint64_t kMaxAsked = uint64_t{1} << 62;  // by an allocation that failed

}  // namespace

struct SnapshotBuilder::Entry {
  recording::Action action = recording::Action::kOther;
  uint32_t action_text = 0;
  uint8_t category = SnapshotParts::kNoCategory;
  bool has_time = false;
  uint64_t address = 0, bytes = 0, stream = 0;
  int64_t time_us = 0;
  trace::StackId stack;
  uint32_t compile_context = 0, user_metadata = 0;  // strings
};

bool SnapshotBuilder::FillEntry(Entry& e, Items items) {
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    bool good = true;
    switch (items[i].key) {
      case Key::kAction:
        if (v.kind != Kind::kString) return Fail("'action' is not a string");
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
        e.category = SaidCategory(v);
        break;
      case Key::kCompileContext:
        e.compile_context = v.kind == Kind::kString ? v.row() : 0;
        break;
      case Key::kUserMetadata:
        e.user_metadata = v.kind == Kind::kString ? v.row() : 0;
        break;
      default:
        if (v.kind == Kind::kDict) Drop({&v, 1});
        break;
    }
    if (!good) return false;
  }
  const bool asked = e.action == recording::Action::kOutOfMemory;
  if (e.bytes > (asked ? kMaxAsked : kMaxBytes))
    return Fail(fmt::format("'size' is {} bytes, more than any device has", e.bytes));
  if (!asked && e.address + e.bytes < e.address)
    return Fail(fmt::format("{} bytes at {:#x} go beyond the address space", e.bytes, e.address));
  return true;
}

bool SnapshotBuilder::AddEntry(Items items) {
  recording::EntryTable& t = parts_.recording.entries;
  if (t.size() == recording::kNoEntry - 1) return Fail("more than 4,294,967,294 entries");
  Entry e;
  if (!FillEntry(e, items)) return false;
  if (!e.has_time) {
    ++parts_.entries_without_time;
    e.time_us = last_us_ + 1;
  } else if (!has_time_) {
    has_time_ = true;
    first_us_ = e.time_us - t.size();
  }
  last_us_ = e.time_us;
  t.action.push_back(e.action);
  t.address.push_back(e.address);
  t.bytes.push_back(e.bytes);
  t.time_ns.push_back((e.time_us - first_us_) * 1000);
  t.stack.push_back(e.stack);
  t.stream.push_back(Stream(e.stream));
  if (e.category != SnapshotParts::kNoCategory && parts_.category.empty())
    parts_.category.assign(t.size() - 1, SnapshotParts::kNoCategory);
  if (e.category != SnapshotParts::kNoCategory || !parts_.category.empty())
    parts_.category.push_back(e.category);
  if (e.action == recording::Action::kOther && parts_.other_actions.size() < 8)
    ++parts_.other_actions[std::string(strings_.Text(e.action_text))];
  const auto says = [&](uint32_t text) { return text != 0 && strings_.Text(text) != "N/A"; };
  parts_.with_compile_context += says(e.compile_context);
  // An annotation's category is kept, and its text says the same.
  const bool category =
      e.action == recording::Action::kAnnotate && e.category != SnapshotParts::kNoCategory;
  parts_.with_user_metadata += !category && says(e.user_metadata);
  return true;
}

// Keys that come one by one, as some writers have it.
bool SnapshotBuilder::ChangeEntry(uint32_t row, Items items) {
  recording::EntryTable& t = parts_.recording.entries;
  Entry e;
  e.action = t.action[row];
  e.address = t.address[row];
  e.bytes = t.bytes[row];
  e.stack = t.stack[row];
  e.stream = parts_.recording.streams[t.stream[row]];
  if (!FillEntry(e, items)) return false;
  t.action[row] = e.action;
  t.address[row] = e.address;
  t.bytes[row] = e.bytes;
  t.stack[row] = e.stack;
  t.stream[row] = Stream(e.stream);
  if (e.has_time) {
    if (!has_time_) {
      has_time_ = true;
      first_us_ = e.time_us - row;
    }
    if (parts_.entries_without_time > 0) --parts_.entries_without_time;
    t.time_ns[row] = (e.time_us - first_us_) * 1000;
    last_us_ = e.time_us;
  }
  if (e.category != SnapshotParts::kNoCategory) {
    parts_.category.resize(t.size(), SnapshotParts::kNoCategory);
    parts_.category[row] = e.category;
  }
  return true;
}

}  // namespace vramscope::importers
