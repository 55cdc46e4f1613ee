// The stacks of a watched program's requests and the operators that made them, beside the rows that
// have their numbers (history_tail.h). Written by the library in the process (cupti/stacks.h)
// before the chunk that needs them is one.
//
// FOLDER/stacks.jsonl: lines ["f",NUMBER,"FUNCTION","FILE",LINE] and ["s",NUMBER,FRAME,...], the
// innermost frame first; frames are numbered from 0 and stacks from 1, in their order, and a frame
// stands before the stacks that have it. ["o",NUMBER,"aten::mm"]: an operator, numbered from 1.
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
  // The lines that have come since; no such file: none. What is no such line ends the reading, with
  // what is whole before it. kResourceExhausted: more than the limits.
  absl::Status ReadMore(const std::string& path);

  // Row N: stack N. Of 0, the empty one.
  const trace::StackTable& stacks() const { return stacks_; }
  const std::vector<std::string>& strings() const { return strings_; }
  trace::StringId Operator(uint16_t number) const {  // 0, and one that was not written: {}
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
  uint64_t read_ = 0;  // bytes
  std::string rest_;
  bool damaged_ = false;
};

}  // namespace vramscope::program
