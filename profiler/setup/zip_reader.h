// Reads zip archives (Python's wheels): stored and deflated entries, zip64. Before any entry is
// used, the whole directory is checked: names are unique and stay within a folder, entries are
// ordinary files (no links), their data lies within the file and is not shared between them, and
// the total size is within the limit.
//
//   ASSIGN_OR_RETURN(auto zip, ZipReader::Open("torch.whl", {.total_bytes = 4 << 30}));
//   for (const ZipReader::Entry& entry : zip->entries())
//     RETURN_IF_ERROR(zip->Extract(entry, [&](std::string_view bytes) { return Write(bytes); }));
//
// Uses zlib directly, because wheels use only a small part of the format, and zip libraries do not
// check for unsafe names, links and zip bombs. Use each reader from one thread.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::setup {

class ZipReader {
 public:
  struct Limits {
    uint64_t total_bytes = uint64_t{8} << 30;  // limit for all entries together, unpacked
    uint64_t entries = 200'000;
  };
  struct Entry {
    std::string name;     // "torch/lib/libc10.so"; never absolute, never contains ".."
    uint64_t bytes = 0;   // unpacked
    uint64_t stored = 0;  // size in the archive
    uint64_t header = 0;  // offset of the entry's local header
    uint32_t crc = 0;
    bool deflated = false;
  };

  // kDataLoss: truncated or damaged; kInvalidArgument: not a zip archive, or an archive that fails
  // a check; kResourceExhausted: above the limits. Other errors come from the system.
  static absl::StatusOr<std::unique_ptr<ZipReader>> Open(const std::string& path,
                                                         const Limits& limits);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  const std::vector<Entry>& entries() const { return entries_; }  // files; folders are left out
  // Passes exactly entry.bytes bytes to `sink`, in pieces. kDataLoss: the data does not match the
  // directory. (The checksum is known only at the end.) Errors of `sink` are returned.
  absl::Status Extract(const Entry& entry,
                       absl::FunctionRef<absl::Status(std::string_view)> sink) const;

 private:
  struct Directory {
    uint64_t offset = 0, bytes = 0, entries = 0;
  };
  ZipReader(int fd, std::string path, uint64_t size)
      : fd_(fd), path_(std::move(path)), size_(size) {}
  absl::Status Read(uint64_t offset, char* out, size_t bytes) const;
  absl::StatusOr<Directory> FindDirectory() const;
  absl::Status ReadDirectory(const Limits& limits);
  // Returns the offset of an entry's data, which follow its local header.
  absl::StatusOr<uint64_t> DataOffset(const Entry& entry) const;
  absl::Status Damaged(std::string_view what) const;
  absl::Status Refused(std::string_view what) const;

  int fd_;
  std::string path_;
  uint64_t size_;
  std::vector<Entry> entries_;
};

// Returns whether a name stays within the folder into which an archive is unpacked. The name must
// be relative, and have no "..", ".", empty parts, backslashes or invalid text.
bool IsSafeName(std::string_view name);

}  // namespace vramscope::setup
