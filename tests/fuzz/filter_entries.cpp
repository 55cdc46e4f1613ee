#include "tests/fuzz/filter_entries.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/grouping.h"
#include "profiler/query/filter.h"
#include "profiler/query/search.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {
namespace {

// Returns a trace with a phase, an operator, two blocks in them, an API call, and its kernel.
std::shared_ptr<const trace::Trace> SmallTrace() {
  using trace::EventKind;
  trace::TraceBuilder builder;
  const std::vector<std::string> strings = {"", "aten::mm", "layers.0.attn", "gemm<4, float>",
                                            "cudaLaunchKernel"};
  Check(builder.AddStrings(0, strings).ok(), "no strings");
  std::vector<trace::Event> events;
  const auto add = [&](EventKind kind, int64_t time_ns) -> trace::Event& {
    trace::Event& event = events.emplace_back();
    event.kind = kind;
    event.time_ns = time_ns;
    return event;
  };
  add(EventKind::kPhaseBegin, 10).detail = static_cast<uint8_t>(trace::Phase::kBackward);
  trace::Event& op = add(EventKind::kOpBegin, 20);
  op.name = {1};
  op.module = {2};
  for (uint64_t id = 0; id < 2; ++id) {
    trace::Event& block = add(EventKind::kAlloc, 30 + static_cast<int64_t>(id));
    block.id = id;
    block.bytes = block.bytes_rounded = 512 << (20 * id);
    block.name = {1};
    block.module = {2};
    block.category = id == 0 ? trace::Category::kActivation : trace::Category::kGradient;
  }
  add(EventKind::kFreeRequested, 50);
  add(EventKind::kFreeCompleted, 50);
  add(EventKind::kOpEnd, 60);
  add(EventKind::kPhaseEnd, 70);
  Check(builder.AddEvents(events).ok(), "no events");
  const std::vector<trace::Activity> ran = {{.kind = trace::ActivityKind::kRuntimeCall,
                                             .name = {4},
                                             .correlation = 1,
                                             .begin_ns = 25,
                                             .end_ns = 26},
                                            {.kind = trace::ActivityKind::kKernel,
                                             .name = {3},
                                             .correlation = 1,
                                             .begin_ns = 27,
                                             .end_ns = 40}};
  Check(builder.AddActivities(ran).ok(), "no activities");
  return builder.Finish(true, "");
}

// If the text is a valid expression, groups the blocks by it.
void CheckGroups(const trace::Trace& trace, std::string_view text) {
  const auto by = analysis::ParseGroupExpression(text);
  if (!by.ok()) return Check(!by.status().message().empty(), "an error without a message");
  const auto again = analysis::ParseGroupExpression(by->Text());
  Check(again.ok() && *again == *by, "the text of an expression is another expression");
  const analysis::LiveSet live = analysis::LiveAt(trace, 5);
  uint64_t bytes = 0;
  for (const analysis::Group& group : analysis::GroupLive(trace, live, *by)) bytes += group.bytes;
  Check(bytes == live.allocated, "groups do not add up");
}

}  // namespace

void FilterText(const uint8_t* data, size_t size) {
  static const std::shared_ptr<const trace::Trace> trace = SmallTrace();
  static const query::ActivityIndex index(trace);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const query::SearchIn in{.trace = trace, .index = &index};
  const size_t all = query::Search(in, query::Filter()).things.size();
  for (const auto& filter : {query::ParseFilter(text), query::ParseSearch(text)}) {
    if (!filter.ok()) {
      Check(!filter.status().message().empty(), "an error without a message");
      continue;
    }
    for (size_t i = 0; i < filter->nodes().size(); ++i) {
      const query::FilterNode& node = filter->nodes()[i];
      const bool joins =
          node.is == query::FilterNode::Is::kAnd || node.is == query::FilterNode::Is::kOr;
      if (joins || node.is == query::FilterNode::Is::kNot)
        Check(node.left < i && (!joins || node.right < i), "a node that comes before its parts");
    }
    const size_t found = query::Search(in, *filter).things.size();
    Check(found <= all, "more is found than there is");
    if (filter->empty()) Check(found == all, "nothing is asked and not all is found");
  }
  // The negated filter must match exactly the entries that the filter does not match.
  const std::string inverse = "not (" + std::string(text) + ")";
  const auto plain = query::ParseFilter(text), inverted = query::ParseFilter(inverse);
  if (plain.ok() && inverted.ok() && !plain->empty())
    Check(
        query::Search(in, *plain).things.size() + query::Search(in, *inverted).things.size() == all,
        "a filter and its inverse are not all");
  const auto quoted = query::ParseFilter("name = " + query::Quoted(text));
  if (size + 32 < query::kLongestFilter / 2)
    Check(quoted.ok() && quoted->nodes()[0].text.size() == size, "quotes that lose something");
  CheckGroups(*trace, text);
}

}  // namespace vramscope::fuzz
