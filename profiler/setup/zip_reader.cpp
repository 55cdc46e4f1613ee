#include "profiler/setup/zip_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_set>

#include "profiler/base/i18n.h"

namespace vramscope::setup {
namespace {

// The signatures and sizes of records (APPNOTE.TXT of PKWARE, 4.3).
constexpr uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                   kLocator64Signature = 0x07064b50, kEntrySignature = 0x02014b50,
                   kLocalSignature = 0x04034b50;
constexpr size_t kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20, kEntryBytes = 46,
                 kLocalBytes = 30;
constexpr size_t kMostComment = 0xffff;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kEncrypted = 1 << 0;
constexpr uint16_t kExtraZip64 = 1;
constexpr uint32_t kMask32 = 0xffffffff;
constexpr int kUnix = 3;
constexpr size_t kLongestName = 1024;
constexpr size_t kPiece = size_t{256} << 10;
constexpr uint64_t kMostDirectory = uint64_t{256} << 20;
// The greatest compression ratio that deflate can reach. Entries that state more are invalid.
constexpr uint64_t kMostRatio = 1032;

uint64_t Number(const char* at, int bytes) {
  uint64_t out = 0;
  for (int i = 0; i < bytes; ++i) out |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return out;
}
uint16_t U16(const char* at) { return static_cast<uint16_t>(Number(at, 2)); }
uint32_t U32(const char* at) { return static_cast<uint32_t>(Number(at, 4)); }
uint64_t U64(const char* at) { return Number(at, 8); }

// Reads the values that do not fit into 32 bits. An extra field has only those that do not fit, in
// the order of the parameters.
bool TakeZip64(std::string_view extra, uint64_t& bytes, uint64_t& stored, uint64_t& header) {
  const bool wanted = bytes == kMask32 || stored == kMask32 || header == kMask32;
  while (extra.size() >= 4) {
    const uint16_t id = U16(extra.data()), length = U16(extra.data() + 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return false;
    if (id == kExtraZip64) {
      std::string_view field = extra.substr(0, length);
      for (uint64_t* value : {&bytes, &stored, &header}) {
        if (*value != kMask32) continue;
        if (field.size() < 8) return false;
        *value = U64(field.data());
        field.remove_prefix(8);
      }
      return true;
    }
    extra.remove_prefix(length);
  }
  return !wanted;
}

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }  // without zlib's header
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }
  z_stream* operator->() { return &stream_; }
  int Go() { return inflate(&stream_, Z_NO_FLUSH); }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

bool IsSafeName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name.front() == '/') return false;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '\\' || c == '\x7f') return false;
  while (!name.empty()) {
    const size_t end = name.find('/');
    const std::string_view part = name.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == std::string_view::npos) break;
    name.remove_prefix(end + 1);
  }
  return true;
}

absl::Status ZipReader::Damaged(std::string_view what) const {
  return absl::DataLossError(i18n::Format("{}: the zip archive is damaged: {}", path_, what));
}
absl::Status ZipReader::Refused(std::string_view what) const {
  return absl::InvalidArgumentError(
      i18n::Format("{}: the zip archive was not unpacked: {}", path_, what));
}

absl::StatusOr<std::unique_ptr<ZipReader>> ZipReader::Open(const std::string& path,
                                                           const Limits& limits) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about {};
  if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    const int error = errno;
    if (fd < 0) return absl::ErrnoToStatus(error, path);
    close(fd);
    return absl::InvalidArgumentError(i18n::Format("{}: not a file", path));
  }
  std::unique_ptr<ZipReader> zip(new ZipReader(fd, path, static_cast<uint64_t>(about.st_size)));
  if (const absl::Status status = zip->ReadDirectory(limits); !status.ok()) return status;
  return zip;
}

ZipReader::~ZipReader() { close(fd_); }

absl::Status ZipReader::Read(uint64_t offset, char* out, size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return Damaged(i18n::Text("it ends too early"));
  while (bytes > 0) {
    const ssize_t got = pread(fd_, out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, path_);
    if (got == 0) return Damaged(i18n::Text("the file became shorter while it was read"));
    out += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<ZipReader::Directory> ZipReader::FindDirectory() const {
  if (size_ < kEndBytes) return Refused(i18n::Text("it is not a zip archive"));
  const uint64_t tail = std::min<uint64_t>(size_, kEndBytes + kMostComment);
  std::string bytes(tail, '\0');
  if (absl::Status status = Read(size_ - tail, bytes.data(), tail); !status.ok()) return status;
  // Searches backward for the end record, whose comment must end where the file ends.
  size_t at = tail - kEndBytes;
  while (U32(&bytes[at]) != kEndSignature || at + kEndBytes + U16(&bytes[at + 20]) != tail) {
    if (at == 0) return Refused(i18n::Text("it is not a zip archive, or it is cut off"));
    --at;
  }
  const char* end = &bytes[at];
  if (U16(end + 4) != 0 || U16(end + 6) != 0)
    return Refused(i18n::Text("it is a part of a split archive"));
  Directory out{.offset = U32(end + 16), .bytes = U32(end + 12), .entries = U16(end + 10)};
  const bool large = out.offset == kMask32 || out.bytes == kMask32 || out.entries == 0xffff;
  const uint64_t end_offset = size_ - tail + at;
  if (large && end_offset >= kLocatorBytes) {
    char locator[kLocatorBytes], record[kEnd64Bytes];
    if (absl::Status s = Read(end_offset - kLocatorBytes, locator, sizeof locator); !s.ok())
      return s;
    if (U32(locator) == kLocator64Signature) {
      if (absl::Status s = Read(U64(locator + 8), record, sizeof record); !s.ok()) return s;
      if (U32(record) != kEnd64Signature)
        return Damaged(i18n::Text("its central directory is not at the stated position"));
      out = {.offset = U64(record + 48), .bytes = U64(record + 40), .entries = U64(record + 32)};
    }
  }
  if (out.offset > end_offset || out.bytes > end_offset - out.offset)
    return Damaged(i18n::Text("its central directory lies outside the file"));
  return out;
}

absl::Status ZipReader::ReadDirectory(const Limits& limits) {
  const absl::StatusOr<Directory> directory = FindDirectory();
  if (!directory.ok()) return directory.status();
  if (directory->bytes > kMostDirectory || directory->entries > limits.entries)
    return absl::ResourceExhaustedError(i18n::Format("{}: it has too many files", path_));
  std::string bytes(directory->bytes, '\0');
  if (absl::Status s = Read(directory->offset, bytes.data(), bytes.size()); !s.ok()) return s;
  std::string_view rest = bytes;
  std::unordered_set<std::string_view> names;
  uint64_t total = 0;
  for (uint64_t i = 0; i < directory->entries; ++i) {
    if (rest.size() < kEntryBytes || U32(rest.data()) != kEntrySignature)
      return Damaged(i18n::Text("its central directory has fewer entries than stated"));
    const char* e = rest.data();
    const size_t name = U16(e + 28), extra = U16(e + 30), comment = U16(e + 32);
    if (rest.size() - kEntryBytes < name + extra + comment)
      return Damaged(i18n::Text("an entry is cut off"));
    Entry entry{.name = std::string(rest.substr(kEntryBytes, name)),
                .bytes = U32(e + 24),
                .stored = U32(e + 20),
                .header = U32(e + 42),
                .crc = U32(e + 16)};
    if (!TakeZip64(rest.substr(kEntryBytes + name, extra), entry.bytes, entry.stored, entry.header))
      return Damaged(i18n::Text("an entry has no sizes"));
    const uint16_t flags = U16(e + 8), method = U16(e + 10);
    const uint32_t mode = e[5] == kUnix ? U32(e + 38) >> 16 : 0;
    const std::string_view in_place = rest.substr(kEntryBytes, name);
    rest.remove_prefix(kEntryBytes + name + extra + comment);
    const bool folder = entry.name.ends_with('/');
    if (!IsSafeName(folder ? in_place.substr(0, in_place.size() - 1) : in_place))
      return Refused(i18n::Text("the name of an entry is missing or leads outside the folder"));
    if ((flags & kEncrypted) != 0) return Refused(i18n::Format("{} is encrypted", entry.name));
    if (method != kStored && method != kDeflated)
      return Refused(
          i18n::Format("{} is compressed by an unsupported method ({})", entry.name, method));
    const bool ordinary = (mode & S_IFMT) == 0 || (folder ? S_ISDIR(mode) : S_ISREG(mode));
    if (!ordinary) return Refused(i18n::Format("{} is a link or another special file", entry.name));
    entry.deflated = method == kDeflated;
    if (folder && entry.bytes == 0) continue;
    if (folder) return Refused(i18n::Format("{} is a folder with content", entry.name));
    if (!names.insert(in_place).second) return Refused(i18n::Format("{} occurs twice", entry.name));
    if (entry.deflated ? entry.bytes / kMostRatio > entry.stored : entry.bytes != entry.stored)
      return Damaged(i18n::Format("{} cannot have the stated size", entry.name));
    if (entry.bytes > limits.total_bytes || total > limits.total_bytes - entry.bytes) {
      return absl::ResourceExhaustedError(
          i18n::Format("{} unpacks to more than {} bytes", path_, limits.total_bytes));
    }
    total += entry.bytes;
    if (entry.stored > size_ || entry.header > directory->offset ||
        entry.stored + kLocalBytes > directory->offset - entry.header)
      return Damaged(i18n::Format("{} lies outside the archive", entry.name));
    entries_.push_back(std::move(entry));
  }
  // Refuses entries that share data, because they could unpack to far more than is stored.
  std::ranges::sort(entries_, {}, &Entry::header);
  for (size_t i = 1; i < entries_.size(); ++i) {
    if (entries_[i].header - entries_[i - 1].header < kLocalBytes + entries_[i - 1].stored)
      return Refused(
          i18n::Format("the data of {} and {} overlaps", entries_[i - 1].name, entries_[i].name));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ZipReader::DataOffset(const Entry& entry) const {
  char local[kLocalBytes];
  if (absl::Status s = Read(entry.header, local, sizeof local); !s.ok()) return s;
  if (U32(local) != kLocalSignature || U16(local + 26) != entry.name.size())
    return Damaged(
        i18n::Format("the header of {} is missing or does not match the directory", entry.name));
  const uint64_t at = entry.header + kLocalBytes + U16(local + 26) + U16(local + 28);
  if (at > size_ || entry.stored > size_ - at)
    return Damaged(i18n::Format("{} is cut off", entry.name));
  return at;
}

absl::Status ZipReader::Extract(const Entry& entry,
                                absl::FunctionRef<absl::Status(std::string_view)> sink) const {
  const absl::StatusOr<uint64_t> begin = DataOffset(entry);
  if (!begin.ok()) return begin.status();
  const auto wrong = [&](std::string_view what) {
    return Damaged(fmt::format("{}: {}", entry.name, what));
  };
  std::string in(kPiece, '\0'), out(entry.deflated ? 4 * kPiece : 0, '\0');
  Inflater inflater;
  if (!inflater.ready())
    return absl::ResourceExhaustedError(i18n::Text("not enough host memory to unpack"));
  uint64_t read = 0, written = 0;
  uLong crc = crc32(0, nullptr, 0);
  const auto hand_on = [&](std::string_view bytes) -> absl::Status {
    if (bytes.size() > entry.bytes - written)
      return wrong("it unpacks to more than the stated size");
    written += bytes.size();
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    return bytes.empty() ? absl::OkStatus() : sink(bytes);
  };
  bool ended = false;
  while (read < entry.stored && !ended) {
    const size_t piece = std::min<uint64_t>(kPiece, entry.stored - read);
    if (absl::Status s = Read(*begin + read, in.data(), piece); !s.ok()) return s;
    read += piece;
    if (!entry.deflated) {
      if (absl::Status s = hand_on({in.data(), piece}); !s.ok()) return s;
      continue;
    }
    inflater->next_in = reinterpret_cast<Bytef*>(in.data());
    inflater->avail_in = static_cast<uInt>(piece);
    do {
      inflater->next_out = reinterpret_cast<Bytef*>(out.data());
      inflater->avail_out = static_cast<uInt>(out.size());
      const int result = inflater.Go();
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return wrong("its data cannot be unpacked");
      if (absl::Status s = hand_on({out.data(), out.size() - inflater->avail_out}); !s.ok())
        return s;
      ended = result == Z_STREAM_END;
    } while (!ended && inflater->avail_out == 0);
  }
  if (entry.deflated && !ended) return wrong("its data is truncated");
  if (written != entry.bytes) return wrong("it unpacks to less than the stated size");
  if (crc != entry.crc) return wrong("its checksum is wrong");
  return absl::OkStatus();
}

}  // namespace vramscope::setup
