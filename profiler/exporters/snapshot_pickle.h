// Writes the values of a snapshot as a pickle: dicts, lists in batches, and each frame and stack
// only once. memory_snapshot.cpp determines the contents. Internal.
//
//   SnapshotPickle out(trace, stream);
//   out.BeginDict();
//   out.Item("size", uint64_t{512});
//   out.Key("frames");
//   out.AllocationFrames(allocation);
//   out.EndDict();
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/exporters/pickle_writer.h"
#include "profiler/trace/trace.h"

namespace vramscope::exporters {

class SnapshotPickle {
 public:
  SnapshotPickle(const trace::Trace& trace, std::ostream& out);

  void BeginDict();
  void EndDict() { pickle_.SetItems(); }
  void Key(std::string_view key) { pickle_.Shared(key); }
  void Item(std::string_view key, uint64_t value);
  void Item(std::string_view key, int64_t value);
  void Item(std::string_view key, double value);
  void FlagItem(std::string_view key, bool value);
  void TextItem(std::string_view key, std::string_view value);
  void PairItem(std::string_view key, uint32_t first, uint32_t second);

  // A list that is being written. Call Next() before every value.
  class List {
   public:
    explicit List(SnapshotPickle& out) : pickle_(out.pickle_) {
      pickle_.EmptyList();
      pickle_.Mark();
    }
    ~List() { pickle_.Appends(); }
    List(const List&) = delete;
    void Next() {
      if (in_batch_++ < PickleWriter::kBatch) return;
      pickle_.Appends();
      pickle_.Mark();
      in_batch_ = 1;
    }

   private:
    PickleWriter& pickle_;
    int in_batch_ = 0;
  };
  void Text(std::string_view text) { pickle_.Shared(text); }

  // Writes a list of frames: the recorded stack of the allocation. In vramscope's own runs, which
  // have no stacks, the frames are the operator and then each enclosing module.
  void AllocationFrames(uint32_t allocation);
  void FramesOf(trace::EventIndex event);  // empty if nothing was recorded
  void NoFrames();
  void FramesItemOf(trace::EventIndex event);  // no item if nothing was recorded

  absl::Status Finish() { return pickle_.Finish(); }

 private:
  trace::StackId StackOf(trace::EventIndex event) const { return trace_.events.StackOf(event); }
  void RecordedStack(trace::StackId stack);
  void OpStack(uint32_t allocation);
  void ModuleFrame(std::string_view name, std::string_view file);
  void Frame(std::string_view name, std::string_view file, uint32_t line);

  const trace::Trace& trace_;
  PickleWriter pickle_;
  std::vector<uint32_t> frame_memos_;  // indexed by frame
  std::vector<uint32_t> stack_memos_;  // indexed by StackId
  uint32_t no_frames_;
  base::HashMap<std::pair<std::string, std::string>, uint32_t> module_frames_;
  base::HashMap<uint64_t, uint32_t> op_stacks_;  // key: op and module
};

}  // namespace vramscope::exporters
