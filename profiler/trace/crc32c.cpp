#include "profiler/trace/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace vramscope::trace {
namespace {

constexpr uint32_t kReflectedPolynomial = 0x82F63B78;

constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReflectedPolynomial : 0);
    tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i)
    for (int t = 1; t < 8; ++t)
      tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xFF];
  return tables;
}();

uint32_t Portable(const unsigned char* p, size_t n, uint32_t crc) {
  for (; n >= 8; p += 8, n -= 8) {
    crc ^= static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 |
           static_cast<uint32_t>(p[2]) << 16 | static_cast<uint32_t>(p[3]) << 24;
    crc = kTables[7][crc & 0xFF] ^ kTables[6][(crc >> 8) & 0xFF] ^ kTables[5][(crc >> 16) & 0xFF] ^
          kTables[4][crc >> 24] ^ kTables[3][p[4]] ^ kTables[2][p[5]] ^ kTables[1][p[6]] ^
          kTables[0][p[7]];
  }
  for (; n > 0; ++p, --n) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t Hardware(const unsigned char* p, size_t n,
                                                    uint32_t crc) {
  uint64_t wide = crc;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; ++p, --n) crc = __builtin_ia32_crc32qi(crc, *p);
  return crc;
}
#endif

}  // namespace

uint32_t Crc32cPortable(std::string_view bytes, uint32_t crc) {
  return ~Portable(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), ~crc);
}

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool hardware = __builtin_cpu_supports("sse4.2");
  if (hardware)
    return ~Hardware(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), ~crc);
#endif
  return Crc32cPortable(bytes, crc);
}

}  // namespace vramscope::trace
