#include "profiler/importers/pickle.h"

#include <absl/base/attributes.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/importers/pickle_opcodes.h"
#include "profiler/importers/printable.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

constexpr size_t kLookAhead = 32;  // longer than every item of fixed size
constexpr size_t kMaxString = size_t{16} << 20;

template <class T>
T Little(const uint8_t* p) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{p[i]} << (8 * i));
  return value;
}

double BigEndianDouble(const uint8_t* p) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | p[i];
  return std::bit_cast<double>(bits);
}

// Reads a two's complement number of n bytes, 1 to 8. All 8 bytes at p must be readable.
int64_t Signed(const uint8_t* p, unsigned n) {
  const unsigned spare = 64 - 8 * n;
  return static_cast<int64_t>(Little<uint64_t>(p) << spare) >> spare;
}

// The pickle's memo. It takes only 8 bytes per object, because there can be millions.
class Memo {
 public:
  enum class State { kThere, kUnset, kGone };

  State Get(size_t index, Value* value) const {
    if (index >= slots_.size() || slots_[index] == kUnset) return State::kUnset;
    const uint64_t slot = slots_[index];
    const auto kind = static_cast<uint8_t>(slot >> 56);
    value->kind = static_cast<Kind>(kind & ~kFlag);
    if (kind & kFlag) {
      if (value->kind != Kind::kInt) return State::kGone;
      *value = large_[slot & kPayload];
      return State::kThere;
    }
    value->key = static_cast<Key>(slot >> 48 & 0xff);
    value->negative = false;
    value->memo = 0;
    value->payload = slot & kPayload;
    return State::kThere;
  }
  // Returns the row of a memoized frame, or -1 if the object is not a frame.
  int64_t Frame(size_t index) const {
    if (index >= slots_.size()) return -1;
    const uint64_t slot = slots_[index];
    return slot >> 56 == static_cast<uint64_t>(Kind::kFrame) ? static_cast<int64_t>(slot & kPayload)
                                                             : -1;
  }
  // Returns the bytes by which the memo must grow to hold `index`, or 0 if it need not grow.
  size_t Growth(size_t index) const {
    return index < slots_.capacity() ? 0 : (Room(index) - slots_.capacity()) * sizeof(uint64_t);
  }
  void Put(size_t index, const Value& value) {
    if (index >= slots_.capacity()) slots_.reserve(Room(index));
    if (index >= slots_.size()) slots_.resize(index + 1, kUnset);
    slots_[index] = Slot(value);
  }
  size_t size() const { return slots_.size(); }

 private:
  static constexpr uint64_t kUnset = ~uint64_t{0};
  // In a number's slot, the flag means that the value is in large_. In another slot, it means that
  // the object was not kept.
  static constexpr uint8_t kFlag = 0x80;
  static constexpr uint64_t kPayload = (uint64_t{1} << 48) - 1;

  size_t Room(size_t index) const {
    return std::max<size_t>({1024, index + 1, 2 * slots_.capacity()});
  }
  uint64_t Slot(const Value& value) {
    const uint64_t kind = static_cast<uint64_t>(value.kind) << 56;
    switch (value.kind) {
      case Kind::kBool:
      case Kind::kString:
      case Kind::kOpenDict:
      case Kind::kOpenList:
      case Kind::kFrame:
      case Kind::kStack:
      case Kind::kStrings:
        return kind | static_cast<uint64_t>(value.key) << 48 | (value.payload & kPayload);
      case Kind::kOpaque:  // all of these become opaque
      case Kind::kDict:
        return 0;  // kOpaque
      case Kind::kInt:
      case Kind::kFloat:
      case Kind::kPair:
        large_.push_back(value);
        large_.back().memo = 0;
        return (static_cast<uint64_t>(Kind::kInt) | kFlag) << 56 | (large_.size() - 1);
      default:
        return kind | uint64_t{kFlag} << 56;
    }
  }

  std::vector<uint64_t> slots_;
  std::vector<Value> large_;
};

class PickleReader {
 public:
  PickleReader(SnapshotBytes& bytes, SnapshotBuilder& builder, PickleEnd& end)
      : in_(bytes), out_(builder), end_(end) {}

  absl::Status Read();

 private:
  // The value of Value::memo for a container that is from the memo and must not be changed.
  static constexpr uint32_t kShared = UINT32_MAX;

  absl::Status Error(std::string_view what) const {
    return absl::DataLossError(i18n::Format("byte {}: {}", in_.Offset(at_), what));
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool Step(uint8_t opcode);  // false: see failed_
  ABSL_ATTRIBUTE_NOINLINE bool Fail(std::string_view what) {
    failed_ = Error(what);
    return false;
  }
  ABSL_ATTRIBUTE_NOINLINE bool Refuse(std::string_view what) {
    failed_ = Error(what);
    failed_.SetPayload(kRefusedPayload, absl::Cord());
    return false;
  }
  // Called with failed_ set to the input's error. Records whether the input was truncated.
  bool Ended() {
    end_.cut = absl::IsDataLoss(failed_);
    return false;
  }
  absl::Status EndsHere() {
    end_.cut = true;
    return Error(i18n::Text("the file ends in the middle of the snapshot"));
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Push(const Value& value) {
    return out_.Push(value) || Fail(out_.error());
  }
  bool Text(size_t header, size_t size);
  // Most opcodes fetch a memoized object, so rare cases and errors are in GetRare().
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Get(size_t index) {
    Value value;
    if (memo_.Get(index, &value) == Memo::State::kThere && value.kind != Kind::kOpenList &&
        value.kind != Kind::kOpenDict)
      return Push(value);
    return GetRare(index);
  }
  bool GetRare(size_t index);
  bool Put(size_t index);
  bool Changed(bool good);
  bool Items();
  bool Global(uint8_t opcode);
  bool Recursive(size_t index) const;

  SnapshotBytes& in_;
  SnapshotBuilder& out_;
  PickleEnd& end_;
  Memo memo_;
  const uint8_t* at_ = nullptr;  // the current opcode
  absl::Status failed_;
};

bool PickleReader::Text(size_t header, size_t size) {
  if (size > kMaxString)
    return Fail(
        i18n::Format("a string has {} bytes; the limit for a snapshot is {}", size, kMaxString));
  in_.p = at_;
  failed_ = in_.Want(header + size);
  if (!failed_.ok()) return Ended();
  at_ = in_.p;
  if (static_cast<size_t>(in_.end - at_) < header + size) {
    end_.cut = true;
    return Fail(i18n::Format("the file ends within a string of {} bytes", size));
  }
  in_.p += header + size;
  const Value text = out_.String({reinterpret_cast<const char*>(at_) + header, size});
  return !out_.exhausted() ? Push(text) : Fail(out_.error());
}

// Returns whether the object is still open. If it is, a reference to it means that the object
// contains itself: `x = []; x.append(x)`.
bool PickleReader::Recursive(size_t index) const {
  const auto stack = out_.stack();
  return std::ranges::any_of(
      out_.marks(), [&](uint32_t mark) { return mark > 0 && stack[mark - 1].memo == index + 1; });
}

bool PickleReader::GetRare(size_t index) {
  Value value;
  switch (memo_.Get(index, &value)) {
    case Memo::State::kUnset:
      return Fail(i18n::Format("the pickle refers to object {}, which was not memoized", index));
    case Memo::State::kGone:
      return Fail(
          i18n::Format("the pickle refers to {} (object {}) a second time; a snapshot refers to "
                       "such an object only once",
                       Name(value.kind), index));
    case Memo::State::kThere:
      break;
  }
  if (value.kind == Kind::kOpenList || value.kind == Kind::kOpenDict) {
    if (Recursive(index))
      return Fail(
          i18n::Format("object {} contains itself, which does not occur in a snapshot", index));
    value.memo = kShared;
  }
  return Push(value);
}

bool PickleReader::Put(size_t index) {
  Value* top = out_.top();
  if (top == nullptr) return Fail(i18n::Text("memoizes nothing"));
  // Writers number memoized objects from 0. The limit prevents a huge memo for a small file.
  if (index > in_.Offset(at_) / 2 + 65536)
    return Fail(i18n::Format(
        "the pickle memoizes object {}, but the file is too short for so many objects", index));
  const bool number =
      top->kind == Kind::kInt || top->kind == Kind::kFloat || top->kind == Kind::kPair;
  const size_t growth = memo_.Growth(index) + (number ? 2 * sizeof(Value) : 0);
  if (growth > 0 && !out_.Charge(growth)) return Fail(out_.error());
  if (top->kind == Kind::kOpenList || top->kind == Kind::kOpenDict) {
    if (top->memo != 0) return Fail(i18n::Text("the pickle memoizes an object twice"));
    top->memo = static_cast<uint32_t>(index) + 1;
  }
  memo_.Put(index, *top);
  return true;
}

// Updates the memo after a container was changed.
bool PickleReader::Changed(bool good) {
  if (!good) return Fail(out_.error());
  const SnapshotBuilder::Changed& c = out_.changed();
  if (c.memo == 0) return true;
  if (c.memo == kShared)
    return Fail(i18n::Text("the pickle changes an object that is also used elsewhere"));
  memo_.Put(c.memo - 1, c.value);
  return true;
}

// Called after a mark. If the items are frames that are all memoized, adds them to the list
// directly, without pushing them onto the stack.
bool PickleReader::Items() {
  const Value* list = out_.top();
  if (list == nullptr || list->kind != Kind::kOpenList) return out_.Mark() || Fail(out_.error());
  failed_ = in_.Want(1024);
  if (!failed_.ok()) return Ended();
  std::array<uint32_t, 256> frames;
  size_t count = 0;
  const uint8_t* p = in_.p;
  while (p < in_.end && count < frames.size()) {
    int64_t frame;
    size_t size;
    if (*p == kBinGet) {
      frame = memo_.Frame(p[1]);
      size = 2;
    } else if (*p == kLongBinGet) {
      frame = memo_.Frame(Little<uint32_t>(p + 1));
      size = 5;
    } else {
      break;
    }
    if (frame < 0 || static_cast<size_t>(in_.end - p) < size) break;
    frames[count++] = static_cast<uint32_t>(frame);
    p += size;
  }
  at_ = in_.p = p;
  if (count > 0 && p < in_.end && *p == kAppends) {
    ++in_.p;
    return Changed(out_.AppendFrames(std::span(frames).first(count)));
  }
  if (!out_.Mark()) return Fail(out_.error());
  for (size_t i = 0; i < count; ++i)
    if (!Push(Value::Of(Kind::kFrame, frames[i]))) return false;
  return true;
}

bool PickleReader::Global(uint8_t opcode) {
  std::string name;
  if (opcode == kStackGlobal) {
    const auto stack = out_.stack();
    if (stack.size() >= 2 && stack.end()[-1].kind == Kind::kString &&
        stack.end()[-2].kind == Kind::kString)
      name = fmt::format("{}.{}", Printable(out_.Text(stack.end()[-2])),
                         Printable(out_.Text(stack.end()[-1])));
  } else {
    const std::string_view rest(reinterpret_cast<const char*>(at_) + 1,
                                static_cast<size_t>(in_.end - at_) - 1);
    const size_t first = rest.find('\n');
    const size_t second = first == rest.npos ? rest.npos : rest.find('\n', first + 1);
    if (second != rest.npos)
      name = fmt::format("{}.{}", Printable(rest.substr(0, first)),
                         Printable(rest.substr(first + 1, second - first - 1)));
  }
  return Refuse(
      i18n::Format("refused opcode {}, which would import '{}'. A snapshot never needs this",
                   opcode == kGlobal ? "GLOBAL"
                   : opcode == kInst ? "INST"
                                     : "STACK_GLOBAL",
                   name));
}

bool PickleReader::Step(uint8_t opcode) {
  const uint8_t* const arg = in_.p;
  switch (opcode) {
    case kBinGet:
      in_.p += 1;
      return Get(arg[0]);
    case kLongBinGet:
      in_.p += 4;
      return Get(Little<uint32_t>(arg));
    case kBinInt1:
      in_.p += 1;
      return Push(Value::Unsigned(arg[0]));
    case kBinInt2:
      in_.p += 2;
      return Push(Value::Unsigned(Little<uint16_t>(arg)));
    case kBinInt:
      in_.p += 4;
      return Push(Value::Int(static_cast<int32_t>(Little<uint32_t>(arg))));
    case kLong1: {
      const unsigned n = arg[0];
      if (n > 9)
        return Fail(i18n::Format("a number has {} bytes and does not fit into 64 bits", n));
      in_.p += 1 + n;
      if (n == 0) return Push(Value::Unsigned(0));
      if (n <= 8) return Push(Value::Int(Signed(arg + 1, n)));
      if (arg[9] == 0) return Push(Value::Unsigned(Little<uint64_t>(arg + 1)));
      return Fail(i18n::Text("a number does not fit into 64 bits"));
    }
    case kMemoize:
      return Put(memo_.size());
    case kBinPut:
      in_.p += 1;
      return Put(arg[0]);
    case kLongBinPut:
      in_.p += 4;
      return Put(Little<uint32_t>(arg));
    case kMark:
      return Items();
    case kSetItems:
      return Changed(out_.SetItems());
    case kAppends:
      return Changed(out_.Appends());
    case kSetItem:
      return Changed(out_.SetItem());
    case kAppend:
      return Changed(out_.Append());
    case kEmptyDict:
      return Push(Value::Of(Kind::kOpenDict));
    case kEmptyList:
      return Push(Value::Of(Kind::kOpenList));
    case kShortBinUnicode:
      return Text(2, arg[0]);
    case kBinUnicode:
      return Text(5, Little<uint32_t>(arg));
    case kNone:
      return Push(Value());
    case kNewTrue:
      return Push(Value::Of(Kind::kBool, 1));
    case kNewFalse:
      return Push(Value::Of(Kind::kBool, 0));
    case kBinFloat:
      in_.p += 8;
      return Push(Value::Float(BigEndianDouble(arg)));
    case kEmptyTuple:
      return out_.Tuple(0) || Fail(out_.error());
    case kTuple1:
      return out_.Tuple(1) || Fail(out_.error());
    case kTuple2:
      return out_.Tuple(2) || Fail(out_.error());
    case kTuple3:
      return out_.Tuple(3) || Fail(out_.error());
    case kTuple:
      return out_.MarkedTuple() || Fail(out_.error());
    case kDict:
      return out_.MarkedNew(Kind::kOpenDict) || Fail(out_.error());
    case kList:
      return out_.MarkedNew(Kind::kOpenList) || Fail(out_.error());
    case kFrame:
      in_.p += 8;
      if (arg[7] >= 0x40)
        return Fail(
            i18n::Format("a frame has {} bytes, which is too large", Little<uint64_t>(arg)));
      return true;
    case kGlobal:
    case kInst:
    case kStackGlobal:
      return Global(opcode);
    default:
      return Refuse(
          i18n::Format("refused {}. A snapshot never needs this opcode", RefusedOpcode(opcode)));
  }
}

absl::Status PickleReader::Read() {
  at_ = in_.p;
  absl::Status more = in_.Want(2);
  if (!more.ok()) return more;
  if (in_.end - in_.p < 2 || in_.p[0] != kProto)
    return absl::InvalidArgumentError(i18n::Text("not a pickle of protocol 2 or later"));
  const int protocol = in_.p[1];
  if (protocol < 2 || protocol > 5)
    return absl::InvalidArgumentError(
        i18n::Format("a pickle of protocol {}; only protocols 2 to 5 are supported", protocol));
  end_.protocol = protocol;
  in_.p += 2;
  while (true) {
    if (in_.end - in_.p < static_cast<ptrdiff_t>(kLookAhead)) {
      more = in_.Want(kLookAhead);
      if (!more.ok()) {
        end_.cut = absl::IsDataLoss(more);
        return more;
      }
      if (in_.p >= in_.end) {
        at_ = in_.p;
        return EndsHere();
      }
    }
    at_ = in_.p++;
    if (*at_ == kStop) return absl::OkStatus();
    const bool good = Step(*at_);
    if (in_.p > in_.end) {  // the opcode was read from the padding
      at_ = in_.end;
      return EndsHere();
    }
    if (!good) return failed_;
  }
}

}  // namespace

absl::Status ReadPickle(SnapshotBytes& bytes, SnapshotBuilder& builder, PickleEnd* end) {
  return PickleReader(bytes, builder, *end).Read();
}

}  // namespace vramscope::importers
