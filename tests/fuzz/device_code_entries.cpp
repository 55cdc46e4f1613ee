#include "tests/fuzz/device_code_entries.h"

#include <optional>
#include <vector>

#include "emulated/core/device_code.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

void DeviceCode(const uint8_t* data, size_t size) {
  const std::vector<unsigned char> exact(data, data + size);  // ASan detects reads past its end
  const emulated::Bytes bytes(exact);
  emulated::KernelsOf(bytes);
  const std::vector<emulated::CodeEntry> entries = emulated::EntriesOf(bytes);
  for (const int capability : {75, 89, 90}) {
    const emulated::CodeEntry* chosen = emulated::ChooseEntry(entries, capability);
    Check(
        chosen == nullptr || (chosen >= entries.data() && chosen < entries.data() + entries.size()),
        "the chosen entry is one of them");
  }
  for (const emulated::CodeEntry& entry : entries) {
    Check(entry.bytes.empty() || (entry.bytes.data() >= exact.data() &&
                                  entry.bytes.data() + entry.bytes.size() <= exact.data() + size),
          "an entry lies within its fat binary");
    const std::optional<std::vector<unsigned char>> unpacked = emulated::Unpack(entry);
    if (!unpacked) continue;
    Check(unpacked->size() <= entry.unpacked_bytes, "no more is unpacked than was stated");
    emulated::KernelsOf(*unpacked);
  }
}

}  // namespace vramscope::fuzz
