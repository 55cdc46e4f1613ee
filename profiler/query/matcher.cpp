#include "profiler/query/matcher.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/query/kernel_sums.h"

namespace vramscope::query {

using trace::Phase;
using trace::SliceKind;

namespace {

char LowerLetter(char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); }

// Returns = for !=, ~ for !~, and other relations unchanged.
Relation Positive(Relation relation) {
  return relation == Relation::kNotEqual      ? Relation::kEqual
         : relation == Relation::kContainsNot ? Relation::kContains
                                              : relation;
}

bool CompareNumbers(Relation relation, double a, double b) {
  switch (relation) {
    case Relation::kEqual:
      return a == b;
    case Relation::kNotEqual:
      return a != b;
    case Relation::kLess:
      return a < b;
    case Relation::kAtMost:
      return a <= b;
    case Relation::kMore:
      return a > b;
    case Relation::kAtLeast:
      return a >= b;
    case Relation::kContains:
    case Relation::kContainsNot:
      break;
  }
  return false;
}

}  // namespace

bool ContainsText(std::string_view text, std::string_view lower) {
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                     [](char x, char y) { return LowerLetter(x) == y; }) != text.end();
}

Matcher::Matcher(Filter filter, const trace::Trace& trace, const ActivityIndex* index,
                 int64_t at_ns)
    : filter_(std::move(filter)),
      trace_(trace),
      index_(index),
      moment_ns_(at_ns),
      memory_(filter_.nodes().size()) {
  for (size_t i = 0; i < memory_.size(); ++i) {
    const FilterNode& node = filter_.nodes()[i];
    if (node.is != FilterNode::Is::kText) continue;
    memory_[i].strings.resize(trace_.strings.size());
    memory_[i].stacks.resize(trace_.stacks.size());
    // Leaves out Phase::kNone (outside of phases), because its name cannot be searched for.
    memory_[i].categories.resize(trace::kCategoryCount);
    memory_[i].phases.resize(trace::kPhaseCount, kNo);
    for (int c = 0; c < trace::kCategoryCount; ++c)
      memory_[i].categories[static_cast<size_t>(c)] =
          Holds(node, trace::Name(static_cast<trace::Category>(c))) ? kYes : kNo;
    for (int p = 1; p < trace::kPhaseCount; ++p)
      memory_[i].phases[static_cast<size_t>(p)] =
          Holds(node, trace::Name(static_cast<Phase>(p))) ? kYes : kNo;
  }
}

bool Matcher::Matches(const Thing& thing) {
  if (filter_.empty()) return true;
  if (filter_.nodes().size() == 1 && filter_.nodes()[0].is == FilterNode::Is::kText)
    return Text(0, thing);
  return Eval(static_cast<uint32_t>(filter_.nodes().size() - 1), thing);
}

std::vector<bool> Matcher::MatchBlocks() {
  const uint32_t n = trace_.allocations.size();
  std::vector<bool> matches(n);
  const bool text = filter_.nodes().size() == 1 && filter_.nodes()[0].is == FilterNode::Is::kText;
  for (uint32_t i = 0; i < n; ++i) {
    const Thing block{ThingKind::kBlock, i};
    matches[i] = text ? Text(0, block) : Matches(block);
  }
  return matches;
}

bool Matcher::MatchesFrame(uint32_t frame) {
  return !filter_.plain_text().empty() && HoldsFrame(0, frame);
}

bool Matcher::Eval(uint32_t at, const Thing& thing) {
  const FilterNode& node = filter_.nodes()[at];
  switch (node.is) {
    case FilterNode::Is::kText:
      return Text(at, thing);
    case FilterNode::Is::kCompare:
      return Compare(at, thing);
    case FilterNode::Is::kNot:
      return !Eval(node.left, thing);
    case FilterNode::Is::kAnd:
      return Eval(node.left, thing) && Eval(node.right, thing);
    case FilterNode::Is::kOr:
      return Eval(node.left, thing) || Eval(node.right, thing);
  }
  return false;
}

// Compares a text. Tests != and !~ like = and ~; the caller inverts the result.
bool Matcher::Holds(const FilterNode& node, std::string_view text) const {
  if (Positive(node.relation) == Relation::kContains) return ContainsText(text, node.text);
  return text.size() == node.text.size() && ContainsText(text, node.text);
}

bool Matcher::HoldsString(uint32_t at, trace::StringId id) {
  const FilterNode& node = filter_.nodes()[at];
  if (id.value == 0) return node.text.empty();
  std::vector<Answer>& strings = memory_[at].strings;
  if (strings.empty()) strings.resize(trace_.strings.size());
  Answer& answer = strings[id.value];
  if (answer == kNotAsked) answer = Holds(node, trace_.String(id)) ? kYes : kNo;
  return answer == kYes;
}

bool Matcher::HoldsName(uint32_t at, const Thing& thing) {
  if (thing.block()) return HoldsString(at, trace_.allocations.op[thing.row]);
  if (thing.activity()) {
    const trace::StringId name = trace_.activities.name[thing.row];
    return name.value != 0 ? HoldsString(at, name)
                           : Holds(filter_.nodes()[at], ActivityName(trace_, thing.row));
  }
  switch (trace_.slices.kind[thing.row]) {
    case SliceKind::kStep:
      return Holds(filter_.nodes()[at], fmt::format("step {}", trace_.slices.number[thing.row]));
    case SliceKind::kMicroBatch:
      return Holds(filter_.nodes()[at],
                   fmt::format("micro-batch {}", trace_.slices.number[thing.row]));
    case SliceKind::kPhase:
      return Holds(filter_.nodes()[at], trace::Name(trace_.slices.phase(thing.row)));
    case SliceKind::kModule:
    case SliceKind::kOp:
    case SliceKind::kAnnotation:
      break;
  }
  return HoldsString(at, trace_.slices.name[thing.row]);
}

bool Matcher::HoldsFrame(uint32_t at, uint32_t frame) {
  const FilterNode& node = filter_.nodes()[at];
  std::vector<Answer>& frames = memory_[at].frames;
  if (frames.empty()) frames.resize(trace_.stacks.frame_count());
  Answer& answer = frames[frame];
  if (answer != kNotAsked) return answer == kYes;
  const analysis::SiteNames names(trace_);
  bool holds = false;
  if (node.is == FilterNode::Is::kCompare && node.field == FilterField::kFile) {
    const std::string_view file = trace_.String(trace_.stacks.file[frame]);
    holds = names.OfPython(frame) && (Holds(node, file) || Holds(node, analysis::BaseName(file)));
  } else if (Positive(node.relation) == Relation::kEqual) {
    holds = names.OfPython(frame) && (Holds(node, trace_.String(trace_.stacks.function[frame])) ||
                                      Holds(node, names.FrameName(frame)));
  } else {
    const std::string text = names.SearchText(frame);
    holds = !text.empty() && Holds(node, text);
  }
  answer = holds ? kYes : kNo;
  return holds;
}

bool Matcher::HoldsStack(uint32_t at, trace::StackId stack) {
  const FilterNode& node = filter_.nodes()[at];
  if (stack.value == 0 || stack.value >= trace_.stacks.size()) return false;
  std::vector<Answer>& stacks = memory_[at].stacks;
  if (stacks.empty()) stacks.resize(trace_.stacks.size());
  Answer& answer = stacks[stack.value];
  if (answer == kNotAsked) {
    const auto frames = trace_.stacks.Frames(stack);
    const bool by_site = node.is == FilterNode::Is::kText || node.field == FilterField::kStack;
    const bool holds =
        std::any_of(frames.begin(), frames.end(), [&](uint32_t f) { return HoldsFrame(at, f); }) ||
        (by_site && Holds(node, analysis::SiteNames(trace_).Name(stack)));
    answer = holds ? kYes : kNo;
  }
  return answer == kYes;
}

// Results are cached by name and stack, because millions of blocks have only a few of these.
bool Matcher::Text(uint32_t at, const Thing& thing) {
  if (!thing.block()) return HoldsName(at, thing);
  const trace::AllocationTable& a = trace_.allocations;
  const trace::EventTable& events = trace_.events;
  const uint32_t i = thing.row;
  const Memory& memory = memory_[at];
  if (memory.categories[static_cast<size_t>(CategoryOf(i))] == kYes ||
      memory.phases[static_cast<size_t>(a.phase[i])] == kYes)
    return true;
  const auto has = [&](trace::StringId id) {
    if (id.value == 0) return false;
    const Answer known = memory.strings[id.value];
    return known == kNotAsked ? HoldsString(at, id) : known == kYes;
  };
  if (has(a.module[i]) || has(a.op[i])) return true;
  if (events.stack.empty() && events.user_metadata.empty() && events.compile_context.empty())
    return false;
  const trace::EventIndex e = a.alloc_event[i];
  if (has(events.UserMetadataOf(e)) || has(events.CompileContextOf(e))) return true;
  const trace::StackId stack = events.StackOf(e);
  if (stack.value == 0 || stack.value >= memory.stacks.size()) return false;
  const Answer known = memory.stacks[stack.value];
  return known == kNotAsked ? HoldsStack(at, stack) : known == kYes;
}

bool Matcher::CompareStack(uint32_t at, const Thing& thing) {
  if (!thing.block()) return filter_.nodes()[at].text.empty();
  const trace::StackId stack = trace_.events.StackOf(trace_.allocations.alloc_event[thing.row]);
  if (filter_.nodes()[at].text.empty()) return stack.value == 0;
  return HoldsStack(at, stack);
}

// Returns the innermost phase that is open on any thread when the slice begins.
Phase Matcher::PhaseOfSlice(uint32_t slice) {
  const trace::SliceTable& s = trace_.slices;
  if (s.kind[slice] == SliceKind::kPhase) return s.phase(slice);
  if (phase_of_slice_.empty()) {
    phase_of_slice_.resize(s.size(), Phase::kNone);
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < s.size(); ++i) {
      while (!open.empty() && s.end_ns[open.back()] <= s.begin_ns[i]) open.pop_back();
      if (!open.empty()) phase_of_slice_[i] = s.phase(open.back());
      if (s.kind[i] == SliceKind::kPhase) open.push_back(i);
    }
  }
  return phase_of_slice_[slice];
}

bool Matcher::Compare(uint32_t at, const Thing& thing) {
  const FilterNode& node = filter_.nodes()[at];
  const trace::AllocationTable& blocks = trace_.allocations;
  const trace::ActivityTable& ran = trace_.activities;
  const uint32_t i = thing.row;
  std::optional<double> number;
  bool holds = false;
  switch (node.field) {
    case FilterField::kSize:
      if (thing.block()) number = static_cast<double>(blocks.bytes_rounded[i]);
      if (thing.activity() && thing.kind != ThingKind::kKernel)
        number = static_cast<double>(ran.bytes[i]);
      return number && CompareNumbers(node.relation, *number, node.number);
    case FilterField::kStream:
      if (thing.block()) number = blocks.stream[i];
      if (thing.activity() && IsDeviceWork(ran.kind[i])) number = ran.stream[i];
      return number && CompareNumbers(node.relation, *number, node.number);
    case FilterField::kStep:
      if (thing.block() && blocks.step[i] >= 0) number = blocks.step[i];
      if (thing.activity() && index_ != nullptr)
        if (const int64_t step = StepOf(*index_, i); step >= 0) number = static_cast<double>(step);
      if (thing.slice()) {
        if (trace_.slices.kind[i] == SliceKind::kStep)
          number = trace_.slices.number[i];
        else if (trace_.slices.step[i] >= 0)
          number = trace_.slices.step[i];
      }
      return number && CompareNumbers(node.relation, *number, node.number);
    case FilterField::kAge:
    case FilterField::kDuration: {
      const int64_t begin = BeginOf(trace_, thing);
      int64_t end = EndOf(trace_, thing);
      if (node.field == FilterField::kAge && moment_ns_ >= begin) end = std::min(end, moment_ns_);
      return CompareNumbers(node.relation, static_cast<double>(end) - static_cast<double>(begin),
                            node.number);
    }
    case FilterField::kModule:
      holds = thing.block() ? HoldsString(at, blocks.module[i])
              : thing.activity()
                  ? HoldsString(at, index_ != nullptr ? index_->ModuleOf(i) : ran.module[i])
              : thing.kind == ThingKind::kModule ? HoldsString(at, trace_.slices.name[i])
                                                 : HoldsString(at, trace_.slices.module[i]);
      break;
    case FilterField::kOp:
      if (thing.block()) {
        holds = HoldsString(at, blocks.op[i]);
      } else if (thing.activity()) {
        const uint32_t op = index_ != nullptr ? index_->SliceOf(i, SliceKind::kOp) : kNoRow;
        holds = HoldsString(at, op == kNoRow ? ran.op[i] : trace_.slices.name[op]);
      } else {
        holds = thing.kind == ThingKind::kOp ? HoldsString(at, trace_.slices.name[i])
                                             : node.text.empty();
      }
      break;
    case FilterField::kStack:
    case FilterField::kFile:
      holds = CompareStack(at, thing);
      break;
    case FilterField::kPhase: {
      const std::string_view phase =
          thing.block()   ? (blocks.phase[i] == Phase::kNone ? "" : trace::Name(blocks.phase[i]))
          : thing.slice() ? (PhaseOfSlice(i) == Phase::kNone ? "" : trace::Name(PhaseOfSlice(i)))
          : index_ != nullptr ? PhaseOf(*index_, i)
                              : std::string_view();
      holds = Holds(node, phase);
      break;
    }
    case FilterField::kCategory:
      holds = thing.block() ? Holds(node, trace::Name(CategoryOf(i))) : node.text.empty();
      break;
    case FilterField::kName:
      holds = HoldsName(at, thing);
      break;
    case FilterField::kKind:
      holds = Holds(node, Name(thing.kind));
      break;
  }
  return holds == (node.relation == Positive(node.relation));
}

}  // namespace vramscope::query
