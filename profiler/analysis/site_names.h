// Names call stacks, and decides which stacks are the same call site. Pure functions of an
// immutable Trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Returns the last part of the path.
std::string_view BaseName(std::string_view path);
// Returns the last two parts of the path, which are the most specific.
std::string_view LastParts(std::string_view path);

// Returns the name of a file in call sites, usually its base name. It is "graph" for the code of a
// compiled graph, which has a line per node. Notebook cells have a number: "In[12]" for
// "<ipython-input-12-0c98ad91dbd6>", "cell 3041" for "/tmp/ipykernel_7/2198263041.py".
std::string FileLabel(std::string_view path);

// Returns the name of a Python frame, such as "optimizer.py:80 step". Line 0 means unknown.
std::string FrameName(std::string_view file, uint32_t line, std::string_view function);

// Returns the function of a C++ frame without its arguments, at most 100 characters.
std::string_view FunctionName(std::string_view function);

// Names the call sites of stacks. Cheap to construct; construct one for each use.
class SiteNames {
 public:
  explicit SiteNames(const trace::Trace& trace) : trace_(trace) {}

  // The kind of a frame.
  enum class Frame : uint8_t {
    kProgram,    // Python code that is not in an installed package
    kLibrary,    // Python code in an installed package
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
  // Returns the text in which searches look for a Python frame: its names in lists of frames and in
  // call sites. Returns "" for other frames.
  std::string SearchText(uint32_t frame) const;

  // Returns the program's Python frames, innermost first, such as "optimizer.py:80 step". If the
  // stack has none, returns the Python frames of packages. If it has no Python frames at all,
  // returns the autograd node or the innermost significant function that called the operator.
  std::vector<std::string> Callers(trace::StackId stack) const;
  // Returns frames of packages that the program's innermost frame called, innermost first:
  // "conv.py:548 _conv_forward", "resnet.py:155 forward". Of consecutive frames in one file,
  // includes only the innermost. Leaves out frames in which a module calls another. Returns nothing
  // if Callers() returns frames of packages.
  std::vector<std::string> Within(trace::StackId stack) const;
  // Returns the name of a call site: the program's innermost frame, `depth` - 1 of its callers, and
  // the operator (`op` if the trace contains it). Up to `within` frames of Within() precede it.
  // Returns "" if the stack has no usable frame. Examples:
  //
  //   "optimizer.py:80 step > aten::add"      "model.py:42 forward < train.py:10 step > aten::mm"
  std::string Name(trace::StackId stack, std::string_view op = {}, size_t depth = 1,
                   size_t within = 0) const;
  // Returns the name for lists that group stacks by their innermost frame. In a script without
  // functions, a few lines allocate everything. So a stack in such a script has the name of the
  // function that the line calls:
  //
  //   "model.py:42 forward > aten::mm"       "adam.py:182 _init_group < train.py:12 <module>"
  std::string GroupName(trace::StackId stack, std::string_view op = {}) const {
    return Name(stack, op, 1, IsTopLevel(stack) ? 1 : 0);
  }
  // Returns the innermost operator that does more than allocate memory ("aten::mm"), or "".
  std::string Operator(trace::StackId stack) const;
  // Returns a key that is equal for stacks with equal Python frames, node and operator. A
  // `portable` key stays equal when a program is changed or moved. It ignores line numbers, all but
  // the last two parts of paths, the name of the script, and comprehensions.
  std::string Key(trace::StackId stack, bool portable) const;
  // Returns a key of the program's innermost frame and the operator, without line numbers. The key
  // does not depend on the callers of that frame. Returns "" without frames of the program.
  // `within_packages`: of the innermost frame that is in the program or in a package, and not one
  // in which a module calls another.
  std::string InnermostKey(trace::StackId stack, bool within_packages = false) const;

 private:
  std::string_view Function(uint32_t frame) const {
    return trace_.String(trace_.stacks.function[frame]);
  }
  // Returns whether the file belongs to an installed package or to Python.
  bool IsInstalled(std::string_view file) const;
  // Returns whether the program's innermost frame is at module level.
  bool IsTopLevel(trace::StackId stack) const;
  // Returns the script, which is the file of the program's outermost frame at module level, or
  // "".
  std::string_view ScriptOf(trace::StackId stack) const;
  std::string_view File(uint32_t frame) const { return trace_.String(trace_.stacks.file[frame]); }

  const trace::Trace& trace_;
};

// Returns the name of a call site, such as "train.py:88 main > aten::_pin_memory", from the names
// of its frames and its operator. One of the two may be "".
std::string SiteName(std::string_view frames, std::string_view op);

// Returns for example "layers.3.mlp > aten::mm". A missing part is "(no module)" or "(no op)". An
// older block without module and op is "(before the recording)".
std::string ModuleOpName(const trace::Trace& trace, trace::StringId module, trace::StringId op,
                         bool older);

// Returns the name, translated if it is a placeholder such as "(before the recording)". Names from
// the program stay unchanged.
std::string ShownName(std::string_view name);

// Returns whether the block already existed when the recording began.
inline bool IsOlder(const trace::Trace& trace, uint32_t allocation) {
  return trace.recording_begin != trace::kNoEvent &&
         trace.allocations.alloc_event[allocation] < trace.recording_begin;
}

}  // namespace vramscope::analysis
