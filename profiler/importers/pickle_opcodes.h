// Names of pickle's opcodes (Python's Lib/pickletools.py). Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::importers {

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kDict = 'd',
  kList = 'l',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kProto = 0x80,
  kFrame = 0x95,
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kInst = 'i',
};

// Describes a rejected opcode for a message: "opcode REDUCE, which calls a function".
std::string RefusedOpcode(uint8_t opcode);

}  // namespace vramscope::importers
