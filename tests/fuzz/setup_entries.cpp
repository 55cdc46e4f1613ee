#include "tests/fuzz/setup_entries.h"

#include <string>
#include <string_view>

#include "profiler/setup/index_page.h"
#include "profiler/setup/zip_reader.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input_folder.h"

namespace vramscope::fuzz {

// Even if the archive's directory is damaged, entries must have safe names and must not unpack to
// more bytes than the directory states.
void Zip(const uint8_t* data, size_t size) {
  constexpr uint64_t kMost = uint64_t{64} << 20;
  const std::string path =
      TheFolder().Write("archive.zip", {reinterpret_cast<const char*>(data), size});
  const auto zip = setup::ZipReader::Open(path, {.total_bytes = kMost, .entries = 1000});
  if (!zip.ok()) {
    Check(!zip.status().message().empty(), "an error without a message");
    return;
  }
  uint64_t total = 0;
  for (const setup::ZipReader::Entry& entry : (*zip)->entries()) {
    Check(setup::IsSafeName(entry.name), "a name that leads elsewhere");
    total += entry.bytes;
    uint64_t written = 0;
    const absl::Status status = (*zip)->Extract(entry, [&](std::string_view bytes) {
      written += bytes.size();
      Check(written <= entry.bytes, "more than the entry says");
      return absl::OkStatus();
    });
    Check(!status.ok() || written == entry.bytes, "less than the entry says");
    Check(status.ok() || !status.message().empty(), "an error without a message");
  }
  Check(total <= kMost, "more than is allowed");
}

void IndexPage(const uint8_t* data, size_t size) {
  const setup::Wheel wheel{.name = "torch", .sha256 = std::string(64, 'a'), .file = "torch.whl"};
  const auto link = setup::FindWheel({reinterpret_cast<const char*>(data), size}, wheel);
  Check(link.ok() ? !link->empty() : !link.status().message().empty(),
        "neither a link nor a reason");
}

}  // namespace vramscope::fuzz
