// Writes values as pickles in the two forms that snapshots have, as Python's pickler or PyTorch's
// C++ pickler writes them. Tests and the fuzzers' seeds use it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace vramscope::importers::testing {

using Json = nlohmann::ordered_json;

struct PickleStyle {
  int protocol = 4;
  // Python memoizes a list or dict before its contents, and writes the contents in batches.
  // PyTorch's C++ pickler memoizes it after its contents, which it writes in one piece. It also
  // uses eight bytes for large numbers.
  bool python = true;
  size_t batch = 1000;
  // Appends items to dicts and lists one by one (SETITEM, APPEND), as some other writers do.
  bool one_by_one = false;
};

// Writes equal strings only once, and likewise equal lists under "frames". Writes arrays under
// "segment_pool_id" as Python tuples.
std::string ToPickle(const Json& value, const PickleStyle& style = {});

// A small snapshot with most parts of the format: two segments, a dozen entries, annotations,
// settings.
Json SampleSnapshot();
// Returns `n` allocations and frees on one device, which have ten stacks of 12 frames.
Json ManyEntries(size_t n);

}  // namespace vramscope::importers::testing
