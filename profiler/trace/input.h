// Opens an input file as named on a command line: a path, or "-" for standard input. The file may
// be plain, gzip or zstd, which is recognised by its content, not by its name. Used by every reader
// of files in the profiler.
//
//   ASSIGN_OR_RETURN(std::string json, ReadWholeInput("trace.json.gz", size_t{1} << 30));
//
// One InputStream belongs to one thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace vramscope::trace {

class InputStream {
 public:
  // Errors: kNotFound, kPermissionDenied, kInvalidArgument (a folder), kUnavailable (any other
  // system error).
  static absl::StatusOr<std::unique_ptr<InputStream>> Open(const std::string& path);
  virtual ~InputStream() = default;
  // Reads up to `size` decompressed bytes into `out`. Returns 0 at the end. kDataLoss: the
  // compressed data is cut off or damaged (the data before the damage was returned).
  // kResourceExhausted: the file unpacks to more than 256 MiB, and to more than 256 times its size.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;
  // Returns the bytes of the file that were read so far, before decompression.
  virtual uint64_t consumed() const = 0;
  virtual uint64_t total() const = 0;  // 0: unknown (a pipe)
  virtual bool compressed() const = 0;
};

// Returns the whole file, decompressed. kResourceExhausted: it has more than `cap` bytes. Never
// keeps more than `cap` bytes in memory.
absl::StatusOr<std::string> ReadWholeInput(const std::string& path, size_t cap);
// Continues an open input whose first bytes, `head`, were already read. `name` is for messages.
absl::StatusOr<std::string> ReadRest(InputStream& input, std::string head, const std::string& name,
                                     size_t cap);

// Returns the format that a file seems to have, such as "a Python pickle" or "a PNG picture", or
// "". The first few hundred bytes of the file are enough.
std::string LooksLike(std::string_view first_bytes);

// Returns the name to show for a path: the path, or "standard input".
std::string DisplayName(const std::string& path);

}  // namespace vramscope::trace
