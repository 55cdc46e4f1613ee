#include "profiler/exporters/snapshot_pickle.h"

namespace vramscope::exporters {
namespace {

constexpr uint32_t kNoMemo = UINT32_MAX;

// Returns the last part of a path. If it is a number, adds the part before: "layers.3".
std::string_view LastPart(std::string_view path) {
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return path;
  const bool number = path.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  if (number && dot > 0) dot = path.rfind('.', dot - 1);
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace

SnapshotPickle::SnapshotPickle(const trace::Trace& trace, std::ostream& out)
    : trace_(trace),
      pickle_(out),
      frame_memos_(trace.stacks.frame_count(), kNoMemo),
      stack_memos_(trace.stacks.size(), kNoMemo),
      no_frames_(kNoMemo) {}

void SnapshotPickle::BeginDict() {
  pickle_.EmptyDict();
  pickle_.Mark();
}

void SnapshotPickle::Item(std::string_view key, uint64_t value) {
  Key(key);
  pickle_.Unsigned(value);
}

void SnapshotPickle::Item(std::string_view key, int64_t value) {
  Key(key);
  pickle_.Int(value);
}

void SnapshotPickle::Item(std::string_view key, double value) {
  Key(key);
  pickle_.Float(value);
}

void SnapshotPickle::FlagItem(std::string_view key, bool value) {
  Key(key);
  pickle_.Bool(value);
}

void SnapshotPickle::TextItem(std::string_view key, std::string_view value) {
  Key(key);
  pickle_.Shared(value);
}

void SnapshotPickle::PairItem(std::string_view key, uint32_t first, uint32_t second) {
  Key(key);
  pickle_.Unsigned(first);
  pickle_.Unsigned(second);
  pickle_.Tuple2();
}

void SnapshotPickle::AllocationFrames(uint32_t allocation) {
  const trace::EventIndex event = trace_.allocations.alloc_event[allocation];
  const bool recorded =
      trace_.info.backend == trace::Backend::kImported || StackOf(event).value != 0;
  return recorded ? FramesOf(event) : OpStack(allocation);
}

void SnapshotPickle::FramesOf(trace::EventIndex event) {
  const trace::StackId stack = StackOf(event);
  return stack.value != 0 ? RecordedStack(stack) : NoFrames();
}

void SnapshotPickle::FramesItemOf(trace::EventIndex event) {
  if (StackOf(event).value == 0) return;
  Key("frames");
  RecordedStack(StackOf(event));
}

void SnapshotPickle::RecordedStack(trace::StackId stack) {
  uint32_t& memo = stack_memos_[stack.value];
  if (memo != kNoMemo) return pickle_.Get(memo);
  {
    const trace::StackTable& stacks = trace_.stacks;
    List list(*this);
    for (const uint32_t frame : stacks.Frames(stack)) {
      list.Next();
      if (frame_memos_[frame] != kNoMemo) {
        pickle_.Get(frame_memos_[frame]);
        continue;
      }
      Frame(trace_.String(stacks.function[frame]), trace_.String(stacks.file[frame]),
            stacks.line[frame]);
      frame_memos_[frame] = pickle_.Memoize();
    }
  }
  memo = pickle_.Memoize();
}

void SnapshotPickle::NoFrames() {
  if (no_frames_ != kNoMemo) return pickle_.Get(no_frames_);
  pickle_.EmptyList();
  no_frames_ = pickle_.Memoize();
}

void SnapshotPickle::OpStack(uint32_t allocation) {
  const trace::StringId op = trace_.allocations.op[allocation];
  const trace::StringId module = trace_.allocations.module[allocation];
  const auto [it, added] = op_stacks_.try_emplace(uint64_t{op.value} << 32 | module.value, kNoMemo);
  if (!added) return pickle_.Get(it->second);
  {
    std::string_view path = trace_.String(module);
    List list(*this);
    if (const std::string_view name = trace_.String(op); !name.empty()) {
      list.Next();
      ModuleFrame(name, path);
    }
    while (!path.empty()) {
      const std::string_view part = LastPart(path);
      const std::string_view parent = path.substr(0, path.size() - part.size());
      path = parent.substr(0, parent.empty() ? 0 : parent.size() - 1);
      list.Next();
      ModuleFrame(part, path);
    }
  }
  it->second = pickle_.Memoize();
}

void SnapshotPickle::ModuleFrame(std::string_view name, std::string_view file) {
  const auto [it, added] =
      module_frames_.try_emplace(std::pair(std::string(name), std::string(file)), kNoMemo);
  if (!added) return pickle_.Get(it->second);
  Frame(name, file, 0);
  it->second = pickle_.Memoize();
}

void SnapshotPickle::Frame(std::string_view name, std::string_view file, uint32_t line) {
  BeginDict();
  TextItem("name", name);
  TextItem("filename", file);
  // Generated code has line -1, which importers keep as two's complement.
  Item("line", int64_t{static_cast<int32_t>(line)});
  EndDict();
}

}  // namespace vramscope::exporters
