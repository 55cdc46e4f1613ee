#include "profiler/importers/pickle_opcodes.h"

#include <fmt/format.h>

namespace vramscope::importers {
namespace {

struct Refused {
  uint8_t code;
  const char* name;
  const char* does;
};

constexpr Refused kRefused[] = {
    {'R', "REDUCE", "calls a function"},
    {'b', "BUILD", "sets the state of an object"},
    {'o', "OBJ", "builds an object"},
    {0x81, "NEWOBJ", "builds an object"},
    {0x92, "NEWOBJ_EX", "builds an object"},
    {0x82, "EXT1", "imports a registered object"},
    {0x83, "EXT2", "imports a registered object"},
    {0x84, "EXT4", "imports a registered object"},
    {'P', "PERSID", "asks the program for an object"},
    {'Q', "BINPERSID", "asks the program for an object"},
    {0x97, "NEXT_BUFFER", "asks the program for a buffer"},
    {0x98, "READONLY_BUFFER", "asks the program for a buffer"},
    {0x96, "BYTEARRAY8", "makes a byte array"},
    {'B', "BINBYTES", "makes bytes"},
    {'C', "SHORT_BINBYTES", "makes bytes"},
    {0x8e, "BINBYTES8", "makes bytes"},
    {'T', "BINSTRING", "makes a string of Python 2"},
    {'U', "SHORT_BINSTRING", "makes a string of Python 2"},
    {0x8d, "BINUNICODE8", "makes a string of 4 GiB and more"},
    {0x8b, "LONG4", "makes a number of more than 255 bytes"},
    {0x8f, "EMPTY_SET", "makes a set"},
    {0x90, "ADDITEMS", "fills a set"},
    {0x91, "FROZENSET", "makes a set"},
    {'0', "POP", "drops a value"},
    {'1', "POP_MARK", "drops values"},
    {'2', "DUP", "duplicates a value"},
    {'I', "INT", "is of protocol 0"},
    {'L', "LONG", "is of protocol 0"},
    {'F', "FLOAT", "is of protocol 0"},
    {'S', "STRING", "is of protocol 0"},
    {'V', "UNICODE", "is of protocol 0"},
    {'g', "GET", "is of protocol 0"},
    {'p', "PUT", "is of protocol 0"},
};

}  // namespace

std::string RefusedOpcode(uint8_t opcode) {
  for (const Refused& r : kRefused)
    if (r.code == opcode) return fmt::format("opcode {}, which {}", r.name, r.does);
  return fmt::format("{:#04x}, which is no opcode of pickle", opcode);
}

}  // namespace vramscope::importers
