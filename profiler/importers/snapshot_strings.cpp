#include "profiler/importers/snapshot_strings.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <functional>

namespace vramscope::importers {

size_t StringTable::Hash::operator()(std::string_view text) const {
  return std::hash<std::string_view>{}(text);
}

StringTable::StringTable() : rows_(0, Hash{this}, Equal{this}) { Intern(""); }

uint32_t StringTable::Intern(std::string_view text) {
  const auto found = rows_.find(text);
  if (found != rows_.end()) return *found;
  if (chars_.size() + text.size() >= kFull || size() + 1 == kFull) return kFull;
  const uint32_t row = size();
  chars_ += text;
  begin_.push_back(static_cast<uint32_t>(chars_.size()));
  key_.push_back(KeyOf(text));
  action_.push_back(ActionOf(text));
  rows_.insert(row);
  return row;
}

bool StackInterner::Equal::operator()(uint32_t a, std::span<const uint32_t> b) const {
  return std::ranges::equal(owner->table_.Frames({a}), b);
}

trace::Category StringTable::category(uint32_t row) {
  const auto [it, added] = category_.try_emplace(row, trace::Category::kUnknown);
  if (added) it->second = CategoryOf(Text(row));
  return it->second;
}

StackInterner::StackInterner(trace::StackTable& table)
    : table_(table), stacks_(0, Hash{this}, Equal{this}) {}

size_t StackInterner::HashOf(std::span<const uint32_t> frames) {
  // Computes two independent hashes, so that the CPU can multiply for both in parallel.
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t a = frames.size(), b = kFactor;
  size_t i = 0;
  for (; i + 1 < frames.size(); i += 2) {
    a = (a ^ frames[i]) * kFactor;
    b = (b ^ frames[i + 1]) * kFactor;
    a ^= a >> 32;
    b ^= b >> 29;
  }
  if (i < frames.size()) a = (a ^ frames[i]) * kFactor;
  return absl::HashOf(a, b);
}

uint32_t StackInterner::Frame(trace::StringId function, trace::StringId file, uint32_t line) {
  const auto [it, fresh] =
      frames_.try_emplace({function.value, file.value, line}, table_.frame_count());
  if (fresh) {
    table_.function.push_back(function);
    table_.file.push_back(file);
    table_.line.push_back(line);
  }
  return it->second;
}

uint32_t StackInterner::Stack(std::span<const uint32_t> frames) {
  if (frames.empty()) return 0;
  const auto found = stacks_.find(frames);
  if (found != stacks_.end()) {
    if (*found == last_) last_ = 0;
    return *found;
  }
  Seal();
  if (table_.frames.size() + frames.size() >= kFull || table_.size() + 1 == kFull) return kFull;
  const uint32_t id = table_.size();
  hash_.push_back(HashOf(frames));
  table_.frames.insert(table_.frames.end(), frames.begin(), frames.end());
  table_.first.push_back(static_cast<uint32_t>(table_.frames.size()));
  stacks_.insert(id);
  last_ = id;
  return id;
}

uint32_t StackInterner::Extend(uint32_t stack, std::span<const uint32_t> more) {
  if (stack == 0 || stack != last_) {
    const std::span<const uint32_t> own = table_.Frames({stack});
    std::vector<uint32_t> all(own.begin(), own.end());
    all.insert(all.end(), more.begin(), more.end());
    return Stack(all);
  }
  if (table_.frames.size() + more.size() >= kFull) return kFull;
  if (!grown_) stacks_.erase(stack);
  grown_ = true;
  table_.frames.insert(table_.frames.end(), more.begin(), more.end());
  table_.first.back() = static_cast<uint32_t>(table_.frames.size());
  return stack;
}

void StackInterner::Seal() {
  if (grown_) {
    hash_[last_] = HashOf(table_.Frames({last_}));
    stacks_.insert(last_);
  }
  grown_ = false;
  last_ = 0;
}

}  // namespace vramscope::importers
