// Generates device code for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace vramscope::emulated {

using Buffer = std::vector<unsigned char>;

template <typename T>
inline void Put(Buffer* out, T value) {
  const size_t at = out->size();
  out->resize(at + sizeof value);
  std::memcpy(out->data() + at, &value, sizeof value);
}
template <typename T>
inline void Set(Buffer* out, size_t at, T value) {
  std::memcpy(out->data() + at, &value, sizeof value);
}

// Returns an ELF file with the sections that nvcc writes for one kernel "k". If `large`, the last
// parameter has 20,000 bytes; nvcc describes parameters differently above 4 KiB.
inline Buffer Cubin(int registers, int shared, bool large = false) {
  struct Made {
    std::string name;
    uint32_t type = 1, information = 0, link = 0;
    Buffer content;
    uint64_t bytes = 0;
  };
  Buffer strings{0, 'k', 0}, symbols(24), global, own;
  Put<uint32_t>(&symbols, 1);  // only the name of a symbol is read
  symbols.resize(48);
  const auto attribute = [](Buffer* to, unsigned char number, std::vector<uint32_t> values) {
    to->insert(to->end(), {4, number});
    Put<uint16_t>(to, static_cast<uint16_t>(values.size() * 4));
    for (const uint32_t value : values) {
      Put(to, value);
    }
  };
  attribute(&global, 0x2f, {1, static_cast<uint32_t>(registers)});
  attribute(&global, 0x11, {1, 40});
  if (large) {
    attribute(&own, 0x45, {0, 0, 8});  // the first parameter: 8 bytes
    attribute(&own, 0x45, {0, 1 | 8u << 16, 20'000});
  } else {
    attribute(&own, 0x17, {0, 0, 8u << 18});
    attribute(&own, 0x17, {0, 1 | 8u << 16, 24u << 18});  // the second: 24 bytes at offset 8
  }
  attribute(&own, 0x05, {256, 1, 1});
  own.insert(own.end(), {3, 0x19, 32, 0});
  const std::vector<Made> sections = {{"", 0, 0, 0, {}, 0},
                                      {".shstrtab", 3, 0, 0, {}, 0},
                                      {".strtab", 3, 0, 0, strings, 0},
                                      {".symtab", 2, 0, 2, symbols, 0},
                                      {".nv.info", 0x70000000, 0, 3, global, 0},
                                      {".nv.info.k", 0x70000000, 0, 3, own, 0},
                                      {".text.k", 1, 7u << 24, 3, Buffer(128), 0},
                                      {".nv.shared.k", 8, 0, 0, {}, static_cast<uint64_t>(shared)}};
  Buffer out(64), names;
  std::vector<uint32_t> name_at;
  for (const Made& section : sections) {
    name_at.push_back(static_cast<uint32_t>(names.size()));
    names.insert(names.end(), section.name.begin(), section.name.end());
    names.push_back(0);
  }
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const Made& section : sections) {
    const Buffer& content = section.name == ".shstrtab" ? names : section.content;
    places.emplace_back(out.size(), content.empty() ? section.bytes : content.size());
    out.insert(out.end(), content.begin(), content.end());
  }
  const uint64_t table = out.size();
  for (size_t i = 0; i < sections.size(); ++i) {
    const size_t at = out.size();
    out.resize(at + 64);
    Set(&out, at, name_at[i]);
    Set(&out, at + 4, sections[i].type);
    Set(&out, at + 24, places[i].first);
    Set(&out, at + 32, places[i].second);
    Set(&out, at + 40, sections[i].link);
    Set(&out, at + 44, sections[i].information);
  }
  std::memcpy(out.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  Set<uint64_t>(&out, 0x28, table);
  Set<uint16_t>(&out, 0x3a, 64);
  Set<uint16_t>(&out, 0x3c, static_cast<uint16_t>(sections.size()));
  Set<uint16_t>(&out, 0x3e, 1);
  return out;
}

}  // namespace vramscope::emulated
