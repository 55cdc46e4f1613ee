// The live set at one time as rows: groups, the largest first, and their blocks. Does not use Qt.
//
//   const auto set = std::make_shared<analysis::LiveSet>(analysis::LiveAt(*trace, event));
//   const LiveRows rows(trace, set, {.by = analysis::GroupBy::kModule});
//   rows.groups()[0].bytes;        // rows.bytes(): of all groups together
//   rows.GroupRow(0).cells;
//
// Immutable; thread-safe. To be built on a pool thread, because the constructor sorts the live set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/query/filter.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

enum class LiveColumn : uint8_t {
  kName,
  kBytes,
  kShare,
  kBlocks,
  kRequested,
  kCategory,
  kPhase,
  kAge,
  kSite,
};

struct LiveQuestion {
  std::optional<analysis::GroupExpression> by = {};  // nullopt: blocks without groups
  query::Filter filter = {};
  LiveColumn column = LiveColumn::kBytes;  // sort key
  bool descending = true;
};

std::vector<Column> LiveColumns(const std::optional<analysis::GroupExpression>& by);

class LiveRows {
 public:
  struct Group {
    std::string name, label;  // `label`: the displayed name, in the language of the user
    uint64_t bytes = 0, requested = 0;
    int64_t oldest_ns = 0;          // age of the oldest block
    uint32_t first = 0, count = 0;  // range in blocks()
    trace::AllocationId largest = {};
    // The category that all blocks of the group have. nullopt if they differ or are unknown.
    std::optional<trace::Category> category = {};
  };

  LiveRows(std::shared_ptr<const trace::Trace> trace, std::shared_ptr<const analysis::LiveSet> set,
           const LiveQuestion& question);

  // Groups and blocks are sorted as `question` states. The blocks of a group are contiguous.
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<analysis::LiveAllocation>& blocks() const { return blocks_; }
  uint64_t bytes() const { return bytes_; }  // sum over the rows that match the filter
  uint64_t requested() const { return requested_; }
  const analysis::LiveSet& set() const { return *set_; }
  const std::shared_ptr<const analysis::LiveSet>& shared_set() const { return set_; }
  const trace::Trace& trace() const { return *trace_; }

  Row GroupRow(uint32_t group) const;
  Row BlockRow(uint32_t block) const;

 private:
  int64_t AgeOf(trace::AllocationId id) const;
  void Sort(const LiveQuestion& question, std::vector<uint32_t> group_of);

  std::shared_ptr<const trace::Trace> trace_;
  std::shared_ptr<const analysis::LiveSet> set_;
  std::optional<analysis::GroupExpression> by_;
  std::vector<Group> groups_;
  std::vector<analysis::LiveAllocation> blocks_;
  uint64_t bytes_ = 0, requested_ = 0;
};

}  // namespace vramscope::ui
