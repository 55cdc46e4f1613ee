// Groups live blocks by one field or by an expression of several fields. Example and syntax:
//
//   ASSIGN_OR_RETURN(const GroupExpression by, ParseGroupExpression("module:*, category"));
//   for (const Group& g : GroupLive(trace, LiveAt(trace, event), by)) Use(g.name, g.bytes);
//   // "model.layers.*.mlp, Activation" 1073741824
//
//   expression = part { "," part }            at most kMostGroupParts parts
//   part       = field [ ":" (number | "*") ]
//
// "module:2" uses the first two components of the module's path. "module:*" replaces numbers in the
// path by "*", so that equal layers are one group. "file:2" uses the last two components of the
// file's path. "stack:3" uses the call site and its next two callers. Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// kFile groups by the file of the program's innermost frame. kSize and kAge group by classes such
// as "<= 1 MiB" and "< 10 ms" (or "< 10 entries" in a trace without times). kAnnotation groups by
// the innermost annotation that was open at the allocation or, if none was open, by the user
// metadata that the program attached to the block.
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
  uint32_t components = 0;     // for module, file and stack; 0: the whole path, or one frame
  bool merge_numbers = false;  // "module:*"

  friend bool operator==(const GroupPart&, const GroupPart&) = default;
};
inline constexpr size_t kMostGroupParts = 4;
inline constexpr uint32_t kMostGroupComponents = 64;

// A list of at least one part.
class GroupExpression {
 public:
  GroupExpression(GroupBy by) : parts_{{.by = by}} {}  // NOLINT(google-explicit-constructor)
  const std::vector<GroupPart>& parts() const { return parts_; }
  // Returns whether the expression is this field alone, without ":number" or ":*".
  bool Is(GroupBy by) const { return parts_.size() == 1 && parts_.front() == GroupPart{.by = by}; }
  std::string Text() const;  // "module:*, category"

  friend bool operator==(const GroupExpression&, const GroupExpression&) = default;

 private:
  friend absl::StatusOr<GroupExpression> ParseGroupExpression(std::string_view text);
  std::vector<GroupPart> parts_;
};
// On error, returns kInvalidArgument. Its message has the invalid part and the allowed parts.
absl::StatusOr<GroupExpression> ParseGroupExpression(std::string_view text);

struct Group {
  std::string name;  // the names of the parts, joined by ", "
  uint64_t bytes = 0;
  uint64_t count = 0;
  std::vector<std::string> parts = {};  // the names of the parts; may be empty
};
// Returns the group's name in the user's language.
std::string GroupLabel(const GroupExpression& by, const Group& group);

// Returns the groups, the largest first. Their sum is live.allocated. A kStack group has the name
// of the program's innermost frame ("optimizer.py:80 step") or, on a thread of autograd, of the
// node ("MmBackward0"). In a trace without stacks, its name is "module > op". If groups are phases
// or stacks, blocks from before the recording are in "(before the recording)".
std::vector<Group> GroupLive(const trace::Trace& trace, const LiveSet& live,
                             const GroupExpression& by);
// The groups of GroupLive(), and the group of each block.
struct LiveGroups {
  std::vector<Group> groups;
  std::vector<uint32_t> group_of;  // indexed as LiveSet::allocations
};
LiveGroups GroupBlocks(const trace::Trace& trace, const LiveSet& live, const GroupExpression& by);

}  // namespace vramscope::analysis
