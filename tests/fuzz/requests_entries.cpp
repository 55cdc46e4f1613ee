#include "tests/fuzz/requests_entries.h"

#include "profiler/analysis/requests.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

void Requests(const uint8_t* data, size_t size) {
  const auto stream = analysis::ReadRequestsCsv({reinterpret_cast<const char*>(data), size});
  if (!stream.ok()) {
    Check(!stream.status().message().empty(), "an error without a message");
    return;
  }
  const analysis::RequestDiff diff = analysis::DiffRequests(*stream, *stream);
  Check(diff.identical() && diff.first_differences.empty(), "requests that differ from themselves");
  Check(diff.total == stream->requests.size(), "requests that are not counted");
  Check(diff.peak_a == diff.peak_b, "two peaks of one stream");
}

}  // namespace vramscope::fuzz
