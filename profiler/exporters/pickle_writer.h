// Streams Python values as a pickle of protocol 4. Keeps no objects: a memoized object is referred
// to by its number. Supports only the values that a memory snapshot needs.
//
//   PickleWriter w(out);
//   w.EmptyDict();
//   w.Mark();
//   w.Shared("action");              // written once, then referred to
//   w.Int(-3);
//   w.SetItems();                    // {'action': -3}
//   RETURN_IF_ERROR(w.Finish());
//
// The caller is responsible for a valid order of the calls. Use each object from one thread.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vramscope::exporters {

class PickleWriter {
 public:
  // The most items in a batch, as in Python's own pickler. This limits memory: a reader keeps the
  // items of a batch on its stack until it appends them to a list.
  static constexpr int kBatch = 1000;

  explicit PickleWriter(std::ostream& out);

  void None() { Op('N'); }
  void Bool(bool value) { Op(value ? '\x88' : '\x89'); }
  void Int(int64_t value);
  void Unsigned(uint64_t value);
  void Float(double value);
  void String(std::string_view text);  // UTF-8; invalid bytes become U+FFFD
  void Shared(std::string_view text);
  void EmptyDict() { Op('}'); }
  void EmptyList() { Op(']'); }
  void Mark() { Op('('); }
  void SetItems() { Op('u'); }  // adds to the dict below the mark
  void Appends() { Op('e'); }   // appends to the list below the mark
  void Tuple2() { Op('\x86'); }

  // Memoizes the top of the stack; Get() pushes a memoized object.
  uint32_t Memoize();
  void Get(uint32_t memo);

  uint64_t bytes() const { return written_ + frame_.size(); }
  // Returns kDataLoss if `out` did not accept all bytes.
  absl::Status Finish();

 private:
  void Op(char opcode) {
    if (frame_.size() >= kFrameBytes) Flush();
    frame_.push_back(opcode);
  }
  void Little(uint64_t value, int bytes);
  void Flush();

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  static constexpr size_t kFrameBytes = size_t{1} << 16;
  std::ostream& out_;
  std::string frame_;  // complete opcodes since the last FRAME
  uint64_t written_ = 0;
  uint32_t memos_ = 0;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> shared_;
};

}  // namespace vramscope::exporters
