#include "profiler/importers/kineto_stacks.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "profiler/base/hash_map.h"
#include "profiler/importers/row_memory.h"

namespace vramscope::importers {
namespace {

using Span = KinetoTables::Span;
using trace::StackId;
using trace::StringId;

constexpr size_t kDeepest = 512;  // frames; deeper frames are left out
constexpr uint64_t kMemoryOfNode = 64;

class Stacks {
 public:
  Stacks(std::vector<std::string>& strings, trace::StackTable& stacks, trace::MemoryBudget& budget)
      : strings_(strings), table_(stacks), budget_(budget) {}

  void Begin() { open_.clear(); }
  // Closes the spans that end before `time`. An event at the time at which a span ends is still
  // inside it, but a span that begins then is not.
  void EndBefore(int64_t time) {
    while (!open_.empty() && open_.back().end_ns < time) open_.pop_back();
  }
  void Push(const Span& span) {
    while (!open_.empty() && open_.back().end_ns <= span.begin_ns) open_.pop_back();
    if (open_.size() == kDeepest) return;
    const int64_t end = open_.empty() ? span.end_ns : std::min(span.end_ns, open_.back().end_ns);
    open_.push_back({end, &span, kNotYet});
  }
  StringId InnermostOp() const {
    for (size_t i = open_.size(); i-- > 0;)
      if (open_[i].span->kind == Span::kOp) return open_[i].span->name;
    return {};
  }
  StringId InnermostModule() const {
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].span->kind == Span::kModule) return open_[i].span->name;
      if (open_[i].span->module.value != 0) return open_[i].span->module;
    }
    return {};
  }
  StackId Present() {
    uint32_t node = 0;  // no frame
    for (Open& open : open_) {
      if (open.node == kNotYet) open.node = Child(node, Frame(*open.span));
      node = open.node;
    }
    return node == 0 ? StackId{} : Stack(node);
  }

 private:
  static constexpr uint32_t kNotYet = UINT32_MAX;
  struct Open {
    int64_t end_ns;
    const Span* span;
    uint32_t node;
  };
  // A stack: its innermost frame, and the node of the caller's stack.
  struct Node {
    uint32_t parent, frame;
    StackId stack;
  };

  uint32_t Child(uint32_t parent, uint32_t frame) {
    const auto [it, added] =
        children_.try_emplace(uint64_t{parent} << 32 | frame, static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({parent, frame, {}});
    if (added) budget_.Charge(kMemoryOfNode);
    return it->second;
  }

  StackId Stack(uint32_t node) {
    if (nodes_[node].stack.value != 0) return nodes_[node].stack;
    const StackId id{table_.size()};
    for (uint32_t n = node; n != 0; n = nodes_[n].parent) table_.frames.push_back(nodes_[n].frame);
    budget_.Charge(kMemoryOfStack +
                   kMemoryOfStackFrame * (table_.frames.size() - table_.first.back()));
    table_.first.push_back(static_cast<uint32_t>(table_.frames.size()));
    return nodes_[node].stack = id;
  }

  uint32_t Frame(const Span& span) {
    const uint64_t key = uint64_t{span.name.value} << 32 | span.module.value;
    auto& of_kind = frames_[span.kind];
    const auto [it, added] = of_kind.try_emplace(key, table_.frame_count());
    if (!added) return it->second;
    budget_.Charge(kMemoryOfFrame);
    if (span.kind == Span::kPython) {
      const std::string name = strings_[span.name.value];  // a copy: strings_ grows
      const PythonName parts = SplitPythonName(name);
      Add(Intern(parts.function), Intern(parts.file), parts.line);
    } else {
      Add(span.name, span.module, 0);
    }
    return it->second;
  }
  void Add(StringId function, StringId file, uint32_t line) {
    table_.function.push_back(function);
    table_.file.push_back(file);
    table_.line.push_back(line);
  }
  StringId Intern(std::string_view text) {
    if (text.empty()) return {};
    const auto [it, added] =
        interned_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size()));
    if (added) strings_.emplace_back(text);
    if (added) budget_.Charge(kMemoryOfString + kMemoryOfStringByte * text.size());
    return {it->second};
  }

  std::vector<std::string>& strings_;
  trace::StackTable& table_;
  trace::MemoryBudget& budget_;
  std::vector<Open> open_;
  std::vector<Node> nodes_ = {{0, 0, {}}};
  base::HashMap<uint64_t, uint32_t> children_;
  base::HashMap<uint64_t, uint32_t> frames_[3];  // indexed by Span::Kind
  base::HashMap<std::string, uint32_t> interned_;
};

}  // namespace

PythonName SplitPythonName(std::string_view name) {
  const size_t colon = name.find("): ");
  const size_t open = colon == std::string_view::npos ? colon : name.rfind('(', colon);
  PythonName parts{name, {}, 0};
  if (open == std::string_view::npos || open == 0) return parts;
  const char* end = name.data() + colon;
  uint32_t line = 0;
  const auto [last, error] = std::from_chars(name.data() + open + 1, end, line);
  if (error != std::errc() || last != end) return parts;
  return {name.substr(colon + 3), name.substr(0, open), line};
}

void FillStacks(std::vector<Span>& spans, std::span<StackQuery*> queries,
                std::vector<std::string>& strings, trace::StackTable& stacks,
                trace::MemoryBudget& budget) {
  // If spans have the same times, the operator is inside the modules and functions: see Span::Kind.
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::tuple(a.thread, a.begin_ns, -a.end_ns, a.kind) <
           std::tuple(b.thread, b.begin_ns, -b.end_ns, b.kind);
  });
  std::stable_sort(queries.begin(), queries.end(), [](const StackQuery* a, const StackQuery* b) {
    return std::tie(a->thread, a->time_ns) < std::tie(b->thread, b->time_ns);
  });
  Stacks open(strings, stacks, budget);
  size_t next = 0;
  uint32_t thread = UINT32_MAX;
  for (StackQuery* query : queries) {
    if (budget.exhausted()) return;
    if (query->thread != thread) {
      thread = query->thread;
      open.Begin();
      while (next < spans.size() && spans[next].thread < thread) ++next;
    }
    for (; next < spans.size() && spans[next].thread == thread &&
           spans[next].begin_ns <= query->time_ns;
         ++next)
      open.Push(spans[next]);
    open.EndBefore(query->time_ns);
    if (!query->only_op) query->stack = open.Present();
    query->op = open.InnermostOp();
    query->module = open.InnermostModule();
  }
}

}  // namespace vramscope::importers
