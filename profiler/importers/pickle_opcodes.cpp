#include "profiler/importers/pickle_opcodes.h"

#include "profiler/base/i18n.h"

namespace vramscope::importers {
namespace {

struct Refused {
  uint8_t code;
  const char* name;
  const char* does;
};

constexpr Refused kRefused[] = {
    {'R', "REDUCE", TEXT_MARK("calls a function")},
    {'b', "BUILD", TEXT_MARK("sets the state of an object")},
    {'o', "OBJ", TEXT_MARK("builds an object")},
    {0x81, "NEWOBJ", TEXT_MARK("builds an object")},
    {0x92, "NEWOBJ_EX", TEXT_MARK("builds an object")},
    {0x82, "EXT1", TEXT_MARK("imports a registered object")},
    {0x83, "EXT2", TEXT_MARK("imports a registered object")},
    {0x84, "EXT4", TEXT_MARK("imports a registered object")},
    {'P', "PERSID", TEXT_MARK("refers to an object outside the file")},
    {'Q', "BINPERSID", TEXT_MARK("refers to an object outside the file")},
    {0x97, "NEXT_BUFFER", TEXT_MARK("refers to a buffer outside the file")},
    {0x98, "READONLY_BUFFER", TEXT_MARK("refers to a buffer outside the file")},
    {0x96, "BYTEARRAY8", TEXT_MARK("makes a byte array")},
    {'B', "BINBYTES", TEXT_MARK("makes bytes")},
    {'C', "SHORT_BINBYTES", TEXT_MARK("makes bytes")},
    {0x8e, "BINBYTES8", TEXT_MARK("makes bytes")},
    {'T', "BINSTRING", TEXT_MARK("makes a Python 2 string")},
    {'U', "SHORT_BINSTRING", TEXT_MARK("makes a Python 2 string")},
    {0x8d, "BINUNICODE8", TEXT_MARK("makes a string of 4 GiB and more")},
    {0x8b, "LONG4", TEXT_MARK("makes an integer that is longer than 255 bytes")},
    {0x8f, "EMPTY_SET", TEXT_MARK("makes a set")},
    {0x90, "ADDITEMS", TEXT_MARK("fills a set")},
    {0x91, "FROZENSET", TEXT_MARK("makes a set")},
    {'0', "POP", TEXT_MARK("drops a value")},
    {'1', "POP_MARK", TEXT_MARK("drops values")},
    {'2', "DUP", TEXT_MARK("duplicates a value")},
    {'I', "INT", TEXT_MARK("is of protocol 0")},
    {'L', "LONG", TEXT_MARK("is of protocol 0")},
    {'F', "FLOAT", TEXT_MARK("is of protocol 0")},
    {'S', "STRING", TEXT_MARK("is of protocol 0")},
    {'V', "UNICODE", TEXT_MARK("is of protocol 0")},
    {'g', "GET", TEXT_MARK("is of protocol 0")},
    {'p', "PUT", TEXT_MARK("is of protocol 0")},
};

}  // namespace

std::string RefusedOpcode(uint8_t opcode) {
  for (const Refused& r : kRefused)
    if (r.code == opcode) return i18n::Format("opcode {}, which {}", r.name, i18n::Text(r.does));
  return i18n::Format("{:#04x}, which is not a pickle opcode", opcode);
}

}  // namespace vramscope::importers
