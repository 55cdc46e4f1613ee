#include "tests/profiler/exporters/unpickle.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace vramscope::exporters {
namespace {

using nlohmann::json;
// Values are shared, because the memo returns the same object again, as in Python.
using Value = std::shared_ptr<json>;

class Machine {
 public:
  explicit Machine(std::string_view bytes) : bytes_(bytes) {}

  json Run() {
    while (true) {
      const auto opcode = static_cast<uint8_t>(Take(1)[0]);
      if (opcode != 0x95 && at_ - 1 < frame_end_ && at_ > frame_end_) Fail("opcode over a frame");
      switch (opcode) {
        case 0x80:
          if (Number(1) != 4) Fail("protocol");
          break;
        case 0x95: {
          if (at_ - 1 < frame_end_) Fail("frame in a frame");
          const uint64_t size = Number(8);
          frame_end_ = at_ + size;
          if (frame_end_ > bytes_.size()) Fail("frame beyond the end");
          break;
        }
        case 0x94:
          memo_.push_back(stack_.back());
          break;
        case 'h':
          stack_.push_back(memo_.at(Number(1)));
          break;
        case 'j':
          stack_.push_back(memo_.at(Number(4)));
          break;
        case '}':
          Push(json::object());
          break;
        case ']':
          Push(json::array());
          break;
        case '(':
          marks_.push_back(stack_.size());
          break;
        case 'u': {
          const std::vector<Value> items = SinceMark();
          if (items.size() % 2 != 0) Fail("odd number of items");
          for (size_t i = 0; i < items.size(); i += 2) {
            const std::string key = items[i]->get<std::string>();
            if (stack_.back()->contains(key)) Fail("key twice: " + key);
            (*stack_.back())[key] = *items[i + 1];
          }
          break;
        }
        case 'e': {
          const std::vector<Value> items = SinceMark();
          if (items.size() > 1000) Fail("large batch");
          for (const Value& item : items) stack_.back()->push_back(*item);
          break;
        }
        case 0x86: {
          const json second = Pop(), first = Pop();
          Push(json::array({first, second}));
          break;
        }
        case 'K':
          Push(Number(1));
          break;
        case 'M':
          Push(Number(2));
          break;
        case 'J':
          Push(static_cast<int32_t>(Number(4)));
          break;
        case 0x8a: {
          const uint64_t n = Number(1);
          const std::string_view digits = Take(n);
          uint64_t value = 0;
          for (size_t i = 0; i < n && i < 8; ++i)
            value |= uint64_t{static_cast<uint8_t>(digits[i])} << (8 * i);
          const bool negative = n > 0 && (digits[n - 1] & 0x80) != 0;
          if (n > 9 || (n == 9 && digits[8] != 0)) Fail("long integer");
          if (negative && n < 8) value |= ~uint64_t{0} << (8 * n);
          if (negative) {
            Push(static_cast<int64_t>(value));
          } else {
            Push(value);
          }
          break;
        }
        case 'G': {
          uint64_t value = 0;
          for (const char c : Take(8)) value = value << 8 | static_cast<uint8_t>(c);
          Push(std::bit_cast<double>(value));
          break;
        }
        case 'N':
          Push(nullptr);
          break;
        case 0x88:
          Push(true);
          break;
        case 0x89:
          Push(false);
          break;
        case 0x8c:
          Push(std::string(Take(Number(1))));
          break;
        case 'X':
          Push(std::string(Take(Number(4))));
          break;
        case '.':
          if (stack_.size() != 1 || !marks_.empty() || at_ != bytes_.size()) Fail("bad end");
          return Pop();
        default:
          Fail("opcode " + std::to_string(opcode));
      }
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error("byte " + std::to_string(at_) + ": " + what);
  }
  std::string_view Take(uint64_t n) {
    if (n > bytes_.size() - at_) Fail("cut");
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  uint64_t Number(int bytes) {
    uint64_t value = 0;
    const std::string_view digits = Take(static_cast<uint64_t>(bytes));
    for (int i = 0; i < bytes; ++i)
      value |= uint64_t{static_cast<uint8_t>(digits[static_cast<size_t>(i)])} << (8 * i);
    return value;
  }
  void Push(json value) { stack_.push_back(std::make_shared<json>(std::move(value))); }
  json Pop() {
    if (stack_.empty()) Fail("empty stack");
    json value = *stack_.back();
    stack_.pop_back();
    return value;
  }
  std::vector<Value> SinceMark() {
    if (marks_.empty()) Fail("no mark");
    const auto from = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<Value> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }

  std::string_view bytes_;
  uint64_t at_ = 0, frame_end_ = 0;
  std::vector<Value> stack_, memo_;
  std::vector<size_t> marks_;
};

}  // namespace

json Unpickle(std::string_view bytes) { return Machine(bytes).Run(); }

}  // namespace vramscope::exporters
