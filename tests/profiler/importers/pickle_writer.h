// Writes values as pickles in the two forms of snapshots: that of Python's pickler and that of
// PyTorch's C++ pickler. Used by tests and for seeds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace vramscope::importers::testing {

using Json = nlohmann::ordered_json;

struct PickleStyle {
  int protocol = 4;
  // Python memoizes a list or dict before its contents, and writes it in batches. PyTorch's C++
  // pickler memoizes it after its contents, writes it in one piece, and uses eight bytes for large
  // numbers.
  bool python = true;
  size_t batch = 1000;
  // Writes keys of dicts and items of lists one by one (SETITEM, APPEND), as some other writers do.
  bool one_by_one = false;
};

// Equal strings and equal lists under "frames" are the same object. Arrays under "segment_pool_id"
// are tuples in Python.
std::string ToPickle(const Json& value, const PickleStyle& style = {});

// A small snapshot that uses most of the format: two segments, a dozen entries, annotations,
// settings.
Json SampleSnapshot();
// `n` entries of a device that allocates and frees, with ten stacks of 12 frames.
Json ManyEntries(size_t n);

}  // namespace vramscope::importers::testing
