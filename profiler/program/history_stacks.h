// Reads the stacks and operators of a watched program's allocations. Rows of the history refer to
// them by number (history_tail.h). The library in the process (cupti/stacks.h) writes them first,
// and only then completes the chunk with these rows.
//
// FOLDER/stacks.jsonl: lines ["f",NUMBER,"FUNCTION","FILE",LINE] and ["s",NUMBER,FRAME,...], the
// innermost frame first. Frames are numbered from 0, stacks from 1, in order. A frame precedes the
// stacks that contain it. ["o",NUMBER,"aten::mm"]: an operator, numbered from 1.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/trace.h"

namespace vramscope::program {

class HistoryStacks {
 public:
  // Reads the lines that were added since the last call. A missing file counts as empty. Nothing
  // after an invalid line is read. kResourceExhausted: the file exceeds the limits.
  absl::Status ReadMore(const std::string& path);

  // Row N is stack N; row 0 is the empty stack.
  const trace::StackTable& stacks() const { return stacks_; }
  const std::vector<std::string>& strings() const { return strings_; }
  // The name of an operator; {} for 0 and for numbers that the file does not define.
  trace::StringId Operator(uint16_t number) const {
    return number < operators_.size() ? operators_[number] : trace::StringId{};
  }
  bool damaged() const { return damaged_; }

 private:
  bool Take(std::string_view line);
  trace::StringId Text(std::string text);

  trace::StackTable stacks_;
  std::vector<std::string> strings_{""};
  std::vector<trace::StringId> operators_{{}};
  base::HashMap<std::string, uint32_t> ids_;
  uint64_t read_ = 0;  // bytes read from the file
  std::string rest_;
  bool damaged_ = false;
};

}  // namespace vramscope::program
