// Reads zip archives (Python's wheels): stored and deflated entries, zip64. Everything that a
// directory says is checked before any of it is used: names that stay within a folder, ordinary
// files alone (no links), no two of one name, data within the file that no two entries share, sizes
// that add up to no more than is allowed.
//
//   ASSIGN_OR_RETURN(auto zip, ZipReader::Open("torch.whl", {.total_bytes = 4 << 30}));
//   for (const ZipReader::Entry& entry : zip->entries())
//     RETURN_IF_ERROR(zip->Extract(entry, [&](std::string_view bytes) { return Write(bytes); }));
//
// Own code over zlib, which is linked anyway: what wheels use of the format is little, and the
// libraries leave names, links and bombs to their caller. One reader belongs to one thread.
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
    uint64_t total_bytes = uint64_t{8} << 30;  // of all entries, unpacked
    uint64_t entries = 200'000;
  };
  struct Entry {
    std::string name;     // "torch/lib/libc10.so"; never absolute, never with ".."
    uint64_t bytes = 0;   // unpacked
    uint64_t stored = 0;  // in the archive
    uint64_t header = 0;  // where its local header begins
    uint32_t crc = 0;
    bool deflated = false;
  };

  // kDataLoss: cut or damaged; kInvalidArgument: no zip archive, or one with something in it that
  // is refused; kResourceExhausted: above the limits. Else as the system says.
  static absl::StatusOr<std::unique_ptr<ZipReader>> Open(const std::string& path,
                                                         const Limits& limits);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  const std::vector<Entry>& entries() const { return entries_; }  // files; folders are left out
  // Hands on exactly entry.bytes, in pieces, unless it fails: kDataLoss where they are not what the
  // directory says (the checksum is known at the end alone); an error of `sink` is returned.
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
  // Where the data of an entry begins, behind its local header.
  absl::StatusOr<uint64_t> DataOffset(const Entry& entry) const;
  absl::Status Damaged(std::string_view what) const;
  absl::Status Refused(std::string_view what) const;

  int fd_;
  std::string path_;
  uint64_t size_;
  std::vector<Entry> entries_;
};

// Whether a name of an archive stays within the folder that it is unpacked into: relative, without
// "..", ".", empty parts, backslashes and bytes that are no text.
bool IsSafeName(std::string_view name);

}  // namespace vramscope::setup
