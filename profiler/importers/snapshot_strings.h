// Interns strings, frames and stacks while a snapshot is read. Internal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/importers/snapshot_keys.h"
#include "profiler/trace/trace.h"

namespace vramscope::importers {

// Interns texts, and keeps the key or action that each text means. Row 0 is "".
class StringTable {
 public:
  static constexpr uint32_t kFull = UINT32_MAX;

  StringTable();
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  // Returns kFull if the texts would exceed 4 GiB.
  uint32_t Intern(std::string_view text);
  std::string_view Text(uint32_t row) const {
    return std::string_view(chars_).substr(begin_[row], begin_[row + 1] - begin_[row]);
  }
  Key key(uint32_t row) const { return key_[row]; }
  recording::Action action(uint32_t row) const { return action_[row]; }
  trace::Category category(uint32_t row);
  uint32_t size() const { return static_cast<uint32_t>(key_.size()); }

 private:
  struct Hash {
    using is_transparent = void;
    const StringTable* table;
    size_t operator()(uint32_t row) const { return (*this)(table->Text(row)); }
    size_t operator()(std::string_view text) const;
  };
  struct Equal {
    using is_transparent = void;
    const StringTable* table;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, std::string_view b) const { return table->Text(a) == b; }
    bool operator()(std::string_view a, uint32_t b) const { return table->Text(b) == a; }
  };

  std::string chars_;
  std::vector<uint32_t> begin_ = {0};
  std::vector<Key> key_;
  std::vector<recording::Action> action_;
  base::HashMap<uint32_t, trace::Category> category_;  // cache
  base::HashSet<uint32_t, Hash, Equal> rows_;
};

// Fills a StackTable, in which each distinct frame and stack is stored once.
class StackInterner {
 public:
  static constexpr uint32_t kFull = UINT32_MAX;

  explicit StackInterner(trace::StackTable& table);
  StackInterner(const StackInterner&) = delete;
  StackInterner& operator=(const StackInterner&) = delete;
  uint32_t Frame(trace::StringId function, trace::StringId file, uint32_t line);
  // Returns a StackId: 0 if there are no frames, kFull if the table is full.
  uint32_t Stack(std::span<const uint32_t> frames);
  // Returns the stack with these frames appended. If the stack is the newest and only one list uses
  // it, it grows in place; otherwise the result is another stack. Thus a list that is filled frame
  // by frame needs memory only for its final stack.
  uint32_t Extend(uint32_t stack, std::span<const uint32_t> more);

 private:
  struct Hash {
    using is_transparent = void;
    const StackInterner* owner;
    size_t operator()(uint32_t stack) const { return owner->hash_[stack]; }
    size_t operator()(std::span<const uint32_t> frames) const { return HashOf(frames); }
  };
  struct Equal {
    using is_transparent = void;
    const StackInterner* owner;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, std::span<const uint32_t> b) const;
    bool operator()(std::span<const uint32_t> a, uint32_t b) const { return (*this)(b, a); }
  };
  static size_t HashOf(std::span<const uint32_t> frames);
  void Seal();

  trace::StackTable& table_;
  std::vector<size_t> hash_ = {0};  // indexed by stack
  base::HashMap<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> frames_;
  base::HashSet<uint32_t, Hash, Equal> stacks_;
  uint32_t last_ = 0;   // the last new stack, while only one list uses it; else 0
  bool grown_ = false;  // last_ has grown and is not in stacks_ yet
};

}  // namespace vramscope::importers
