#include "tests/profiler/inference/made.h"

#include <algorithm>
#include <cmath>

namespace vramscope::testing {

using recording::Action;
using recording::EntryIndex;
using recording::History;
using recording::kNoEntry;
using recording::Recording;
using trace::Category;

uint32_t Program::Stack(const MadeStack& frames) {
  return rows_.try_emplace(frames, static_cast<uint32_t>(rows_.size() + 1)).first->second;
}

uint32_t Program::Alloc(uint64_t bytes, Category truth, uint32_t stack) {
  bytes_.push_back(bytes);
  const auto block = static_cast<uint32_t>(bytes_.size() - 1);
  stack_ = stack;
  acts_.push_back({Act::Kind::kAlloc, block, stack, truth, phase_, step_});
  return block;
}

void Program::Becomes(uint32_t block, Category truth) {
  acts_.push_back({Act::Kind::kBecomes, block, 0, truth, phase_, step_});
}

void Program::Free(uint32_t block) {
  acts_.push_back({Act::Kind::kFree, block, stack_, Category::kUnknown, phase_, step_});
}

void Program::Free(std::initializer_list<uint32_t> blocks) {
  for (const uint32_t block : blocks) Free(block);
}

void Program::Record() { begin_ = acts_.size(); }

Stripped Program::Take(const Options& options) const {
  constexpr uint64_t kBegin = uint64_t{0x7f} << 40, kUnit = 512;
  Stripped made;
  Recording& r = made.recording;
  History& h = made.history;
  std::vector<const MadeStack*> stacks(rows_.size() + 1);
  for (const auto& [frames, row] : rows_) stacks[row] = &frames;
  std::map<std::string, uint32_t> strings;
  const auto intern = [&](const std::string& text) -> trace::StringId {
    if (text.empty()) return {};
    const auto [it, added] = strings.try_emplace(text, static_cast<uint32_t>(r.strings.size()));
    if (added) r.strings.push_back(text);
    return {it->second};
  };
  for (size_t s = 1; options.stacks && s < stacks.size(); ++s) {
    for (const MadeFrame& f : *stacks[s]) {
      r.stacks.frames.push_back(r.stacks.frame_count());
      r.stacks.function.push_back(intern(f.function));
      r.stacks.file.push_back(intern(f.file));
      r.stacks.line.push_back(f.line);
    }
    r.stacks.first.push_back(static_cast<uint32_t>(r.stacks.frames.size()));
  }
  const auto stack_of = [&](uint32_t row) { return trace::StackId{options.stacks ? row : 0}; };

  std::vector<uint32_t> row(bytes_.size(), UINT32_MAX);  // row of each allocation
  std::vector<uint64_t> address(bytes_.size());
  uint64_t next = kBegin;
  for (size_t b = 0; b < bytes_.size(); ++b) {
    address[b] = next;
    next += (bytes_[b] + kUnit - 1) / kUnit * kUnit;
  }
  std::vector<Category> is(bytes_.size(), Category::kUnknown);
  std::vector<uint32_t> made_by(bytes_.size(), 0);
  const auto add = [&](uint32_t block, EntryIndex entry, trace::StackId stack) {
    auto& a = h.allocations;
    row[block] = a.size();
    a.alloc.push_back(entry);
    a.free_requested.push_back(kNoEntry);
    a.free_completed.push_back(kNoEntry);
    a.address.push_back(address[block]);
    a.requested.push_back(bytes_[block]);
    a.bytes.push_back((bytes_[block] + kUnit - 1) / kUnit * kUnit);
    a.stream.push_back(0);
    a.device.push_back(0);
    a.pool.push_back(bytes_[block] > (uint64_t{1} << 20) ? trace::Pool::kLarge
                                                         : trace::Pool::kSmall);
    a.stack.push_back(stack);
    a.bytes_known.push_back(true);
    made.birth.push_back(is[block]);
  };

  // Whether each block is live. Used to find the blocks that are older than the recording.
  std::vector<bool> live(bytes_.size(), false);
  const auto follow = [&](const Act& act) {
    switch (act.kind) {
      case Act::Kind::kAlloc:
        live[act.block] = true;
        made_by[act.block] = act.stack;
        is[act.block] = act.truth;
        break;
      case Act::Kind::kFree:
        live[act.block] = false;
        break;
      case Act::Kind::kBecomes:
        is[act.block] = act.truth;
        break;
    }
  };
  for (size_t i = 0; i < begin_; ++i) follow(acts_[i]);
  for (uint32_t b = 0; b < bytes_.size(); ++b) {
    if (!live[b]) continue;
    add(b, kNoEntry, options.older_stacks ? stack_of(made_by[b]) : trace::StackId{});
  }
  h.older = h.allocations.size();

  const auto last =
      begin_ +
      static_cast<size_t>(std::llround(options.cut * static_cast<double>(acts_.size() - begin_)));
  const auto entry = [&](Action action, const Act& act) {
    r.entries.action.push_back(action);
    r.entries.address.push_back(address[act.block]);
    r.entries.bytes.push_back(bytes_[act.block]);
    r.entries.time_ns.push_back(1000 * static_cast<int64_t>(r.entries.size()));
    r.entries.stack.push_back(stack_of(act.stack));
    r.entries.stream.push_back(0);
    h.allocation_of_entry.push_back(row[act.block]);
    made.phase.push_back(act.phase);
    made.step.push_back(act.step);
    return r.entries.size() - 1;
  };
  for (size_t i = begin_; i < last; ++i) {
    const Act& act = acts_[i];
    follow(act);
    if (act.kind == Act::Kind::kAlloc) {
      add(act.block, r.entries.size(), stack_of(act.stack));
      entry(Action::kAlloc, act);
    } else if (act.kind == Act::Kind::kFree) {
      const uint32_t a = row[act.block];
      h.allocations.free_requested[a] = entry(Action::kFreeRequested, act);
      h.allocations.free_completed[a] = entry(Action::kFreeCompleted, act);
    } else {
      made.retags.push_back({r.entries.size(), row[act.block], act.truth, 0});
    }
  }
  return made;
}

Interleaved Interleave(const Stripped& first, const Stripped& second) {
  const Stripped* const parts[2] = {&first, &second};
  Interleaved all;
  Recording& r = all.recording;
  History& h = all.history;
  uint32_t string_offset[2], stack_offset[2];
  for (int p = 0; p < 2; ++p) {
    const Recording& from = parts[p]->recording;
    string_offset[p] = static_cast<uint32_t>(r.strings.size()) - 1;
    stack_offset[p] = r.stacks.size() - 1;
    r.strings.insert(r.strings.end(), from.strings.begin() + 1, from.strings.end());
    const uint32_t frames = r.stacks.frame_count();
    const auto text = [&](trace::StringId id) -> trace::StringId {
      return {id.value == 0 ? 0 : id.value + string_offset[p]};
    };
    for (uint32_t f = 0; f < from.stacks.frame_count(); ++f) {
      r.stacks.function.push_back(text(from.stacks.function[f]));
      r.stacks.file.push_back(text(from.stacks.file[f]));
      r.stacks.line.push_back(from.stacks.line[f]);
    }
    for (uint32_t s = 1; s < from.stacks.size(); ++s) {
      for (const uint32_t f : from.stacks.Frames({s})) r.stacks.frames.push_back(frames + f);
      r.stacks.first.push_back(static_cast<uint32_t>(r.stacks.frames.size()));
    }
  }
  const auto stack = [&](int p, trace::StackId id) -> trace::StackId {
    return {id.value == 0 ? 0 : id.value + stack_offset[p]};
  };
  const auto add = [&](int p, uint32_t row) {
    const auto& from = parts[p]->history.allocations;
    auto& a = h.allocations;
    all.allocation[p].push_back(a.size());
    a.alloc.push_back(kNoEntry);
    a.free_requested.push_back(kNoEntry);
    a.free_completed.push_back(kNoEntry);
    a.address.push_back(from.address[row]);
    a.requested.push_back(from.requested[row]);
    a.bytes.push_back(from.bytes[row]);
    a.stream.push_back(from.stream[row]);
    a.device.push_back(static_cast<uint8_t>(p));
    a.pool.push_back(from.pool[row]);
    a.stack.push_back(stack(p, from.stack[row]));
    a.bytes_known.push_back(from.bytes_known[row]);
  };
  for (int p = 0; p < 2; ++p) {
    for (uint32_t row = 0; row < parts[p]->history.older; ++row) add(p, row);
    for (recording::SegmentState s : parts[p]->history.start_segments) {
      s.device = static_cast<uint8_t>(p);
      h.start_segments.push_back(std::move(s));
    }
  }
  h.older = h.allocations.size();
  EntryIndex at[2] = {0, 0};
  int64_t time = 0;
  const auto left = [&](int p) { return parts[p]->recording.entries.size() - at[p]; };
  for (uint32_t turn = 0; left(0) + left(1) > 0; ++turn) {
    int p = static_cast<int>(turn * 7 / 3 % 2);  // one to three consecutive entries of a recording
    if (left(p) == 0) p = 1 - p;
    const EntryIndex i = at[p]++;
    const Recording& from = parts[p]->recording;
    const uint32_t row = parts[p]->history.allocation_of_entry[i];
    const auto& part_allocations = parts[p]->history.allocations;
    const EntryIndex now = r.entries.size();
    all.entry[p].push_back(now);
    r.entries.action.push_back(from.entries.action[i]);
    r.entries.address.push_back(from.entries.address[i]);
    r.entries.bytes.push_back(from.entries.bytes[i]);
    r.entries.time_ns.push_back(time++);
    r.entries.stack.push_back(stack(p, from.entries.StackOf(i)));
    r.entries.stream.push_back(0);
    r.entries.device.push_back(static_cast<uint8_t>(p));
    if (row < part_allocations.size() && part_allocations.alloc[row] == i) add(p, row);
    const uint32_t merged_row = row < part_allocations.size() ? all.allocation[p][row] : UINT32_MAX;
    h.allocation_of_entry.push_back(merged_row);
    if (merged_row == UINT32_MAX) continue;
    if (part_allocations.alloc[row] == i) h.allocations.alloc[merged_row] = now;
    if (part_allocations.free_requested[row] == i) h.allocations.free_requested[merged_row] = now;
    if (part_allocations.free_completed[row] == i) h.allocations.free_completed[merged_row] = now;
  }
  return all;
}

}  // namespace vramscope::testing
