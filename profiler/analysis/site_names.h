// What a call stack is called, and which stacks are the same call site. Pure functions of an
// immutable Trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// The path's last part.
std::string_view BaseName(std::string_view path);
// Its last two: the end of a path says more than its beginning.
std::string_view LastParts(std::string_view path);

// A file as call sites name it: its base name; "graph" of the code of a compiled graph, whose lines
// are its nodes; of a notebook's cell, whose files all begin alike, "In[12]" of
// "<ipython-input-12-0c98ad91dbd6>", "cell 3041" of "/tmp/ipykernel_7/2198263041.py".
std::string FileLabel(std::string_view path);

// A C++ frame without its arguments, at most 100 characters.
std::string_view FunctionName(std::string_view function);

// What a stack says about who asked. Cheap to make; one for each use.
class SiteNames {
 public:
  explicit SiteNames(const trace::Trace& trace) : trace_(trace) {}

  // What kind of frame a row of StackTable's frames is.
  enum class Frame : uint8_t {
    kProgram,    // Python, not of an installed package
    kLibrary,    // Python of an installed package
    kNode,       // an autograd node: "torch::autograd::generated::MmBackward0::apply(...)"
    kOperator,   // a dispatched operator: "at::_ops::mm::call(...)"
    kMachinery,  // interpreter, dispatcher, allocator
  };
  Frame KindOf(uint32_t frame) const;
  bool OfPython(uint32_t frame) const {
    const Frame kind = KindOf(frame);
    return kind == Frame::kProgram || kind == Frame::kLibrary;
  }
  std::string FrameName(uint32_t frame) const;  // "optimizer.py:80 step"
  // What a search finds of a frame of Python, as lists of frames show it and as call sites do;
  // "" of others.
  std::string SearchText(uint32_t frame) const;

  // Python frames as "optimizer.py:80 step", innermost first: those of the program, or where there
  // are none those of packages; without any: the autograd node or the innermost function of note
  // that called the operator.
  std::vector<std::string> Callers(trace::StackId stack) const;
  // Frames of packages that the program's innermost frame called, innermost first:
  // "conv.py:548 _conv_forward", "resnet.py:155 forward"; of a file that calls itself the innermost
  // one, and without those by which a torch.nn.Module calls another. None where Callers() are
  // packages' themselves.
  std::vector<std::string> Within(trace::StackId stack) const;
  // What a call site is called everywhere: the program's innermost frame (then `depth` - 1 of its
  // callers), and the operator; `op` in its place where a trace knows it. In front `within` frames
  // of Within(). "" when the stack says nothing.
  //
  //   "optimizer.py:80 step > aten::add"      "model.py:42 forward < train.py:10 step > aten::mm"
  std::string Name(trace::StackId stack, std::string_view op = {}, size_t depth = 1,
                   size_t within = 0) const;
  // Likewise of stacks that are listed together by their innermost frame. A script without
  // functions asks for everything on a few lines: there it is what the line calls that is listed.
  //
  //   "model.py:42 forward > aten::mm"       "adam.py:182 _init_group < train.py:12 <module>"
  std::string GroupName(trace::StackId stack, std::string_view op = {}) const {
    return Name(stack, op, 1, IsTopLevel(stack) ? 1 : 0);
  }
  // "aten::mm" of the innermost operator that does more than hand out memory; "" when none.
  std::string Operator(trace::StackId stack) const;
  // Equal for stacks that are the same call site: Python frames, node and operator alike. With
  // `portable` also across recordings of changed programs: lines, all but the last two parts of
  // paths, what the script is called and comprehensions do not count.
  std::string Key(trace::StackId stack, bool portable) const;
  // Of the program's innermost frame and the operator alone, without lines: what stays the same
  // where a program is called from elsewhere. "" of a stack without the program.
  std::string InnermostKey(trace::StackId stack) const;

 private:
  std::string_view Function(uint32_t frame) const {
    return trace_.String(trace_.stacks.function[frame]);
  }
  // Whether the program's innermost frame is a module's.
  bool IsTopLevel(trace::StackId stack) const;
  // The file that was started: the outermost of the program's modules; "" when the stack has none.
  std::string_view ScriptOf(trace::StackId stack) const;
  std::string_view File(uint32_t frame) const { return trace_.String(trace_.stacks.file[frame]); }

  const trace::Trace& trace_;
};

// "layers.3.mlp > aten::mm", with "(no module)" and the like; "(before the recording)" for a
// block of which nothing else is known.
std::string ModuleOpName(const trace::Trace& trace, trace::StringId module, trace::StringId op,
                         bool older);

// Whether the allocation restates what was there when the recording began.
inline bool IsOlder(const trace::Trace& trace, uint32_t allocation) {
  return trace.recording_begin != trace::kNoEvent &&
         trace.allocations.alloc_event[allocation] < trace.recording_begin;
}

}  // namespace vramscope::analysis
