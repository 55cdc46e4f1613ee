#include "profiler/analysis/grouping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "profiler/analysis/site_names.h"
#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/base/trimmed.h"
#include "profiler/run/messages.h"

namespace vramscope::analysis {

using trace::EventIndex;
using trace::SliceKind;

namespace {

constexpr std::pair<std::string_view, GroupBy> kGroupings[] = {
    {"category", GroupBy::kCategory},
    {"module", GroupBy::kModule},
    {"op", GroupBy::kOp},
    {"stack", GroupBy::kStack},
    {"phase", GroupBy::kPhase},
    {"file", GroupBy::kFile},
    {"size", GroupBy::kSize},
    {"age", GroupBy::kAge},
    {"annotation", GroupBy::kAnnotation},
};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    out.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  out.push_back(text);
  return out;
}

constexpr size_t kMostInError = 40;  // limit for the bytes of the user's text in a message

absl::StatusOr<GroupPart> ParsePart(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = base::Trimmed(text.substr(0, colon));
  if (name.empty())
    return absl::InvalidArgumentError(i18n::Format(
        "a field is missing; name one of these fields: {}", fmt::join(GroupByNames(), ", ")));
  const auto field =
      std::ranges::find(kGroupings, name, &std::pair<std::string_view, GroupBy>::first);
  if (field == std::end(kGroupings))
    return absl::InvalidArgumentError(i18n::Format("cannot group by \"{}\"; choose from {}",
                                                   run::Printable(name, kMostInError),
                                                   fmt::join(GroupByNames(), ", ")));
  GroupPart part{.by = field->second};
  if (colon == std::string_view::npos) return part;
  const std::string_view argument = base::Trimmed(text.substr(colon + 1));
  if (part.by == GroupBy::kModule && argument == "*") {
    part.merge_numbers = true;
    return part;
  }
  if (part.by != GroupBy::kModule && part.by != GroupBy::kFile && part.by != GroupBy::kStack)
    return absl::InvalidArgumentError(
        i18n::Format("\"{}\" cannot have a \":\"; only module, file and stack can", field->first));
  const auto [end, error] =
      std::from_chars(argument.data(), argument.data() + argument.size(), part.components);
  if (error != std::errc() || end != argument.data() + argument.size() || part.components == 0 ||
      part.components > kMostGroupComponents)
    return absl::InvalidArgumentError(
        part.by == GroupBy::kModule
            ? i18n::Format("\"{}\" after \"{}:\" is neither * nor a number from 1 to {}",
                           run::Printable(argument, kMostInError), field->first,
                           kMostGroupComponents)
            : i18n::Format("\"{}\" after \"{}:\" is not a number from 1 to {}",
                           run::Printable(argument, kMostInError), field->first,
                           kMostGroupComponents));
  return part;
}

}  // namespace

std::vector<std::string> GroupByNames() {
  std::vector<std::string> names;
  for (const auto& [name, by] : kGroupings) names.emplace_back(name);
  return names;
}

absl::StatusOr<GroupExpression> ParseGroupExpression(std::string_view text) {
  GroupExpression out(GroupBy::kCategory);
  out.parts_.clear();
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() > kMostGroupParts)
    return absl::InvalidArgumentError(
        i18n::Format("too many fields to group by; at most {} are allowed", kMostGroupParts));
  for (const std::string_view each : parts) {
    absl::StatusOr<GroupPart> part = ParsePart(each);
    if (!part.ok()) return part.status();
    if (std::ranges::find(out.parts_, *part) == out.parts_.end()) out.parts_.push_back(*part);
  }
  return out;
}

std::string GroupExpression::Text() const {
  std::string out;
  for (const GroupPart& part : parts_) {
    if (!out.empty()) out += ", ";
    out += std::ranges::find(kGroupings, part.by, &std::pair<std::string_view, GroupBy>::second)
               ->first;
    if (part.merge_numbers) out += ":*";
    if (part.components > 0) out += fmt::format(":{}", part.components);
  }
  return out;
}

std::string GroupLabel(const GroupExpression& by, const Group& group) {
  if (by.parts().size() != group.parts.size()) return ShownName(group.name);
  // The names of all other fields come from the program, so they are not translated.
  const auto is_fixed = [](const GroupPart& part) {
    return part.by == GroupBy::kCategory || part.by == GroupBy::kPhase ||
           part.by == GroupBy::kSize || part.by == GroupBy::kAge;
  };
  std::string label;
  for (size_t i = 0; i < group.parts.size(); ++i) {
    const std::string& name = group.parts[i];
    if (i > 0) label += ", ";
    label += is_fixed(by.parts()[i]) ? i18n::Text(name) : ShownName(name);
  }
  return label;
}

namespace {

// Returns "model.layers.*.mlp" for "model.layers.3.mlp" and "module:*", or the first two components
// for "module:2".
std::string ModuleName(std::string_view path, const GroupPart& part) {
  if (part.components == 0 && !part.merge_numbers) return std::string(path);
  std::vector<std::string_view> components = Split(path, '.');
  if (part.components > 0 && components.size() > part.components)
    components.resize(part.components);
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (part.merge_numbers) std::ranges::replace_if(components, is_number, "*");
  return fmt::format("{}", fmt::join(components, "."));
}

// Returns the last `count` components of a path, separated by "/", or the whole path if `count` is
// 0. The path may be from Windows.
std::string LastComponents(std::string_view path, uint32_t count) {
  if (count == 0) return std::string(path);
  std::string out;
  size_t end = path.size();
  while (count > 0 && end > 0) {
    const size_t last = path.find_last_not_of("/\\", end - 1);
    if (last == std::string_view::npos) break;
    const size_t before = path.find_last_of("/\\", last);
    end = before == std::string_view::npos ? 0 : before;
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string component(path.substr(begin, last + 1 - begin));
    out = out.empty() ? component : component + "/" + out;
    --count;
  }
  return out;
}

// Returns for example "optimizer.py:80 step", with up to `depth` - 1 callers. Without Python
// frames, as on a thread of autograd, returns the node, the operator, or the innermost frame.
std::string StackName(const trace::Trace& trace, trace::StackId stack, size_t depth) {
  const std::span<const uint32_t> frames = trace.stacks.Frames(stack);
  if (frames.empty()) return "(no stack)";
  const SiteNames names(trace);
  if (const std::vector<std::string> callers = names.Callers(stack); !callers.empty())
    return fmt::format("{}",
                       fmt::join(std::span(callers).first(std::min(depth, callers.size())), " < "));
  if (std::string op = names.Operator(stack); !op.empty()) return op;
  return std::string(FunctionName(trace.String(trace.stacks.function[frames.front()])));
}

// Returns the file of the frame that StackName() names, or "" if there are no Python frames.
std::string_view FileOf(const trace::Trace& trace, trace::StackId stack) {
  const SiteNames names(trace);
  std::string_view library;
  for (const uint32_t frame : trace.stacks.Frames(stack)) {
    const SiteNames::Frame kind = names.KindOf(frame);
    const std::string_view file = trace.String(trace.stacks.file[frame]);
    if (kind == SiteNames::Frame::kProgram) return file;
    if (kind == SiteNames::Frame::kLibrary && library.empty()) library = file;
  }
  return library;
}

// Returns for each live allocation the name of the slice of this kind that was open at the
// allocation. If several were open, takes the one that began last. Operators are looked up only for
// allocations without a recorded operator, such as those of compiled graphs.
base::HashMap<uint32_t, trace::StringId> OpenSlices(const trace::Trace& trace, const LiveSet& live,
                                                    SliceKind kind) {
  const trace::AllocationTable& a = trace.allocations;
  const trace::SliceTable& s = trace.slices;
  std::vector<uint32_t> without;
  for (const LiveAllocation& l : live.allocations)
    if (kind != SliceKind::kOp || a.op[l.id.value].value == 0) without.push_back(l.id.value);
  std::sort(without.begin(), without.end());  // ids increase with their events
  base::HashMap<uint32_t, trace::StringId> names;
  std::vector<uint32_t> open;
  uint32_t next = 0;
  for (const uint32_t id : without) {
    const EventIndex made = a.alloc_event[id];
    for (; next < s.size() && s.begin_event[next] < made; ++next)
      if (s.kind[next] == kind) open.push_back(next);
    while (!open.empty() && s.end_event[open.back()] < made) open.pop_back();
    const auto at = std::find_if(open.rbegin(), open.rend(),
                                 [&](uint32_t row) { return s.end_event[row] > made; });
    if (at != open.rend()) names[id] = s.name[*at];
  }
  return names;
}

// A class of sizes, with its upper limit. PyTorch puts requests of up to 1 MiB into 2 MiB segments.
// Requests of 10 MiB and more get their own segment.
struct SizeClass {
  uint64_t most;
  std::string_view name;
};
constexpr SizeClass kSizes[] = {{512, "<= 512 B"},
                                {uint64_t{64} << 10, "<= 64 KiB"},
                                {uint64_t{1} << 20, "<= 1 MiB"},
                                {uint64_t{10} << 20, "<= 10 MiB"},
                                {uint64_t{100} << 20, "<= 100 MiB"},
                                {uint64_t{1} << 30, "<= 1 GiB"},
                                {UINT64_MAX, "> 1 GiB"}};
struct AgeClass {
  int64_t below;
  std::string_view name;
};
constexpr AgeClass kAges[] = {{1'000'000, "< 1 ms"},      {10'000'000, "< 10 ms"},
                              {100'000'000, "< 100 ms"},  {1'000'000'000, "< 1 s"},
                              {10'000'000'000, "< 10 s"}, {INT64_MAX, ">= 10 s"}};
constexpr AgeClass kAgesInEntries[] = {
    {10, "< 10 entries"},        {100, "< 100 entries"},        {1'000, "< 1000 entries"},
    {10'000, "< 10000 entries"}, {100'000, "< 100000 entries"}, {INT64_MAX, ">= 100000 entries"}};

// Groups one set of live blocks by one part of an expression.
class Grouping {
 public:
  Grouping(const trace::Trace& trace, const LiveSet& live, const GroupPart& part)
      : trace_(trace),
        now_ns_(live.context.time_ns),
        part_(part),
        by_(part.by),
        stacks_(!trace.events.stack.empty()),
        ages_(trace.info.has_times ? std::span<const AgeClass>(kAges)
                                   : std::span<const AgeClass>(kAgesInEntries)) {
    if (by_ == GroupBy::kOp) open_ = OpenSlices(trace, live, SliceKind::kOp);
    if (by_ == GroupBy::kAnnotation) open_ = OpenSlices(trace, live, SliceKind::kAnnotation);
  }

  // Returns a block's key. Blocks with equal keys are in the same group, but a group may have
  // several keys.
  uint64_t KeyOf(const LiveAllocation& l) const;
  std::string NameOf(uint64_t key) const;

 private:
  // The key of blocks that are older than the recording. They are in no phase of the recording, and
  // their call sites are usually unknown.
  static constexpr uint64_t kOlder = ~uint64_t{0};
  std::string_view Text(uint64_t id, std::string_view none) const {
    const std::string_view s = trace_.String({static_cast<uint32_t>(id)});
    return s.empty() ? none : s;
  }

  const trace::Trace& trace_;
  int64_t now_ns_;
  GroupPart part_;
  GroupBy by_;
  bool stacks_;
  std::span<const AgeClass> ages_;
  base::HashMap<uint32_t, trace::StringId> open_;
};

uint64_t Grouping::KeyOf(const LiveAllocation& l) const {
  const trace::AllocationTable& a = trace_.allocations;
  const uint32_t id = l.id.value;
  const bool older = IsOlder(trace_, id);
  switch (by_) {
    case GroupBy::kCategory:
      return static_cast<uint64_t>(l.category);
    case GroupBy::kModule:
      return a.module[id].value;
    case GroupBy::kOp: {
      const auto open = open_.find(id);
      return open != open_.end() ? open->second.value : a.op[id].value;
    }
    case GroupBy::kStack:
    case GroupBy::kFile:
      if (stacks_ || by_ == GroupBy::kFile) {
        const uint32_t stack = trace_.events.StackOf(a.alloc_event[id]).value;
        return stack == 0 && older ? kOlder : stack;
      }
      return uint64_t{a.module[id].value} << 32 | a.op[id].value;
    case GroupBy::kPhase:
      return older ? kOlder : static_cast<uint64_t>(a.phase[id]);
    case GroupBy::kSize:
      return static_cast<uint64_t>(
          std::ranges::find_if(kSizes,
                               [&](const SizeClass& c) { return a.bytes_rounded[id] <= c.most; }) -
          std::begin(kSizes));
    case GroupBy::kAge:
      return older ? kOlder
                   : static_cast<uint64_t>(std::ranges::find_if(ages_.first(ages_.size() - 1),
                                                                [&](const AgeClass& c) {
                                                                  return now_ns_ - a.begin_ns[id] <
                                                                         c.below;
                                                                }) -
                                           ages_.begin());
    case GroupBy::kAnnotation: {
      const auto open = open_.find(id);
      return open != open_.end() ? open->second.value
                                 : trace_.events.UserMetadataOf(a.alloc_event[id]).value;
    }
  }
  return 0;
}

std::string Grouping::NameOf(uint64_t key) const {
  if (key == kOlder) return "(before the recording)";
  switch (by_) {
    case GroupBy::kCategory:
      return std::string(trace::Name(static_cast<trace::Category>(key)));
    case GroupBy::kModule:
      return ModuleName(Text(key, "(no module)"), part_);
    case GroupBy::kOp:
      return std::string(Text(key, "(no op)"));
    case GroupBy::kStack:
      if (stacks_)
        return StackName(trace_, {static_cast<uint32_t>(key)}, std::max(part_.components, 1u));
      return fmt::format("{} > {}", Text(key >> 32, "(no module)"),
                         Text(key & 0xffffffffu, "(no op)"));
    case GroupBy::kPhase:
      return std::string(trace::Name(static_cast<trace::Phase>(key)));
    case GroupBy::kFile: {
      const std::string_view file = FileOf(trace_, {static_cast<uint32_t>(key)});
      return file.empty() ? "(no file)" : LastComponents(file, part_.components);
    }
    case GroupBy::kSize:
      return std::string(kSizes[key].name);
    case GroupBy::kAge:
      return std::string(ages_[key].name);
    case GroupBy::kAnnotation:
      return std::string(Text(key, "(no annotation)"));
  }
  return "";
}

}  // namespace

LiveGroups GroupBlocks(const trace::Trace& trace, const LiveSet& live, const GroupExpression& by) {
  // The names of a part are numbered, and then the combinations of these numbers are numbered.
  struct Part {
    Grouping grouping;
    base::HashMap<uint64_t, uint32_t> number_of_key;
    base::HashMap<std::string, uint32_t> number_of_name;  // several stacks may have the same name
    std::vector<std::string> names;
  };
  std::vector<Part> parts;
  for (const GroupPart& part : by.parts())
    parts.push_back({.grouping = Grouping(trace, live, part)});
  std::vector<base::HashMap<uint64_t, uint32_t>> combined(parts.size());
  std::vector<Group> groups;
  LiveGroups out;
  out.group_of.reserve(live.allocations.size());
  std::vector<uint32_t> numbers(parts.size());
  for (const LiveAllocation& l : live.allocations) {
    uint32_t combination = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      Part& part = parts[i];
      const uint64_t key = part.grouping.KeyOf(l);
      const auto [number, new_key] = part.number_of_key.try_emplace(key, 0);
      if (new_key) {
        const auto [named, new_name] = part.number_of_name.try_emplace(
            part.grouping.NameOf(key), static_cast<uint32_t>(part.names.size()));
        if (new_name) part.names.push_back(named->first);
        number->second = named->second;
      }
      numbers[i] = number->second;
      combination = combined[i]
                        .try_emplace(uint64_t{combination} << 32 | number->second,
                                     static_cast<uint32_t>(combined[i].size()))
                        .first->second;
    }
    if (combination == groups.size()) {
      Group& group = groups.emplace_back();
      for (size_t i = 0; i < parts.size(); ++i) group.parts.push_back(parts[i].names[numbers[i]]);
      group.name = fmt::format("{}", fmt::join(group.parts, ", "));
    }
    groups[combination].bytes += trace.allocations.bytes_rounded[l.id.value];
    ++groups[combination].count;
    out.group_of.push_back(combination);
  }
  std::vector<uint32_t> order(groups.size()), place(groups.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
    const Group &x = groups[i], &y = groups[j];
    return x.bytes != y.bytes ? x.bytes > y.bytes : x.name < y.name;
  });
  out.groups.reserve(groups.size());
  for (const uint32_t from : order) {
    place[from] = static_cast<uint32_t>(out.groups.size());
    out.groups.push_back(std::move(groups[from]));
  }
  for (uint32_t& group : out.group_of) group = place[group];
  return out;
}

std::vector<Group> GroupLive(const trace::Trace& trace, const LiveSet& live,
                             const GroupExpression& by) {
  return GroupBlocks(trace, live, by).groups;
}

}  // namespace vramscope::analysis
