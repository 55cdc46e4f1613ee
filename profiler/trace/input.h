// Input files as the command line takes them: a path or "-" for standard input, plain, gzip or zstd
// (recognised by content, not by name). Used by every reader of files in the profiler.
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
  // Errors: kNotFound, kPermissionDenied, kInvalidArgument (a folder), kUnavailable (anything else
  // that the system says).
  static absl::StatusOr<std::unique_ptr<InputStream>> Open(const std::string& path);
  virtual ~InputStream() = default;
  // Up to `size` decompressed bytes into `out`; 0: the end. kDataLoss: the compressed data is cut
  // or damaged (what came before it has been delivered). kResourceExhausted: it unpacks to more
  // than 256 MiB and more than 256 times its size.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;
  // Bytes of the file itself, before decompression.
  virtual uint64_t consumed() const = 0;
  virtual uint64_t total() const = 0;  // 0: not known (a pipe)
  virtual bool compressed() const = 0;
};

// Everything, decompressed. kResourceExhausted when it is more than `cap` bytes, found out before
// more than `cap` bytes are held.
absl::StatusOr<std::string> ReadWholeInput(const std::string& path, size_t cap);
// The same of an input that is open, of which `head` was taken. `name` is for messages.
absl::StatusOr<std::string> ReadRest(InputStream& input, std::string head, const std::string& name,
                                     size_t cap);

// What a file seems to be, from its first bytes (a few hundred are plenty): "a Python pickle", "a
// PNG picture". "" when nothing is recognised.
std::string LooksLike(std::string_view first_bytes);

// The name to show for a path: the path, or "standard input".
std::string DisplayName(const std::string& path);

}  // namespace vramscope::trace
