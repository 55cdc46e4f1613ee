#include "tests/fuzz/histogram_entries.h"

#include <algorithm>
#include <string_view>

#include "profiler/run/length_histogram.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {

// Every sample that is drawn must be one of the values that were read.
void Histogram(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto histogram = run::ParseHistogram(text);
  if (!histogram.ok()) {
    Check(!histogram.status().message().empty(), "an error without a message");
    return;
  }
  Check(std::ranges::is_sorted(histogram->samples), "samples that grow fewer");
  Check(histogram->samples.size() == histogram->lengths.size(), "lengths without samples");
  for (uint64_t sample = 0; sample < 20; ++sample) {
    const int length = run::DrawLength(*histogram, size, sample);
    Check(std::ranges::binary_search(histogram->lengths, length), "a length that is not there");
  }
}

}  // namespace vramscope::fuzz
