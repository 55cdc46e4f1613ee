// Groups of live blocks: by one field, or by an expression of several.
//
//   ASSIGN_OR_RETURN(const GroupExpression by, ParseGroupExpression("module:*, category"));
//   for (const Group& g : GroupLive(trace, LiveAt(trace, event), by)) Use(g.name, g.bytes);
//   // "model.layers.*.mlp, Activation" 1073741824
//
//   expression = part { "," part }            at most kMostGroupParts parts
//   part       = field [ ":" (number | "*") ]
//
// "module:2": the first two components of the module's path. "module:*": numbers of the path
// become "*", so that equal layers are one group. "file:2": the last two components of the file's
// path. "stack:3": the call site and its next two callers. Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// kFile: the file of the program's innermost frame. kSize, kAge: classes such as "<= 1 MiB", "< 10
// ms" (in a trace without times, "< 10 entries"). kAnnotation: the innermost annotation that was
// open when the block was allocated, else the program's user metadata of the block.
enum class GroupBy : uint8_t {
  kCategory,
  kModule,
  kOp,
  kStack,
  kPhase,
  kFile,
  kSize,
  kAge,
  kAnnotation,
};
std::vector<std::string> GroupByNames();  // "category", "module", ...: the fields of an expression

struct GroupPart {
  GroupBy by = GroupBy::kCategory;
  uint32_t components = 0;     // of a module, file or stack; 0: all of a path, 1 frame of a stack
  bool merge_numbers = false;  // of a module

  friend bool operator==(const GroupPart&, const GroupPart&) = default;
};
inline constexpr size_t kMostGroupParts = 4;
inline constexpr uint32_t kMostGroupComponents = 64;

// At least one part.
class GroupExpression {
 public:
  GroupExpression(GroupBy by) : parts_{{.by = by}} {}  // NOLINT(google-explicit-constructor)
  const std::vector<GroupPart>& parts() const { return parts_; }
  // Whether it groups by this field alone, and by its whole name.
  bool Is(GroupBy by) const { return parts_.size() == 1 && parts_.front() == GroupPart{.by = by}; }
  std::string Text() const;  // "module:*, category"

  friend bool operator==(const GroupExpression&, const GroupExpression&) = default;

 private:
  friend absl::StatusOr<GroupExpression> ParseGroupExpression(std::string_view text);
  std::vector<GroupPart> parts_;
};
// kInvalidArgument, with the part that is wrong and what is allowed.
absl::StatusOr<GroupExpression> ParseGroupExpression(std::string_view text);

struct Group {
  std::string name;  // the names of the parts, joined by ", "
  uint64_t bytes = 0;
  uint64_t count = 0;
  std::vector<std::string> parts = {};  // row = GroupExpression::parts(); empty: only `name`
};
// The name in the language of the user.
std::string GroupLabel(const GroupExpression& by, const Group& group);

// Most bytes first; the groups add up to live.allocated. kStack: the program's innermost frame,
// "optimizer.py:80 step"; on a thread of autograd the node, "MmBackward0"; in a trace without
// stacks "module > op". In a recording, groups by phase and stack have "(before the recording)" for
// blocks that are older than it.
std::vector<Group> GroupLive(const trace::Trace& trace, const LiveSet& live,
                             const GroupExpression& by);
// The same, with the group of each block.
struct LiveGroups {
  std::vector<Group> groups;
  std::vector<uint32_t> group_of;  // row = LiveSet::allocations
};
LiveGroups GroupBlocks(const trace::Trace& trace, const LiveSet& live, const GroupExpression& by);

}  // namespace vramscope::analysis
