#include "profiler/program/folder_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/program/folder_entries.h"
#include "profiler/program/verdict.h"
#include "profiler/trace/varint.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;
using trace::FrameType;

constexpr uint64_t kVersion = 1;
constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kMostBefore = size_t{64} << 10;
constexpr size_t kLongestName = 100;
enum Mode : uint64_t { kGrows = 0, kWhole = 1 };

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Reads at most `most` bytes from `offset`.
std::string ReadAt(int fd, uint64_t offset, size_t most) {
  std::string bytes(most, '\0');
  size_t have = 0;
  while (have < most) {
    const ssize_t got =
        pread(fd, bytes.data() + have, most - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      return absl::InternalError(
          i18n::Format("cannot write the received data: {}", i18n::ErrnoText(errno)));
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return absl::OkStatus();
}

std::string Piece(Mode mode, std::string_view path, uint64_t offset, uint64_t total,
                  std::string_view data) {
  std::string payload;
  trace::PutVarint(payload, mode);
  trace::PutVarint(payload, path.size());
  payload += path;
  trace::PutVarint(payload, offset);
  trace::PutVarint(payload, total);
  payload += data;
  return trace::EncodeFrame(FrameType::kFilePiece, payload, trace::Compression::kFast);
}

bool Grows(std::string_view path) {
  return path.ends_with("/marks.jsonl") || path.ends_with("/stacks.jsonl") ||
         path.ends_with("/activities.bin");
}

bool IsPlain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' &&
         !name.ends_with(".part") && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}
// Whether the path has the form "name" or "folder/name".
bool IsPlainPath(std::string_view path) {
  const size_t slash = path.find('/');
  return slash == std::string_view::npos
             ? IsPlain(path)
             : IsPlain(path.substr(0, slash)) && IsPlain(path.substr(slash + 1));
}

// Returns a file's place in the order in which FolderReader reads. Marks come first, so that the
// history, which is read later, covers all marks.
int Rank(std::string_view path) {
  if (path.ends_with("/marks.jsonl")) return 0;
  if (path.ends_with("/stacks.jsonl")) return 1;
  return path.ends_with(".pickle") || path.ends_with(".rows") ? 2 : 3;
}

}  // namespace

FolderSender::FolderSender(std::string folder, Write write)
    : folder_(std::move(folder)), write_(std::move(write)) {}

absl::Status FolderSender::Begin() {
  std::string payload;
  trace::PutVarint(payload, kVersion);
  return write_(trace::EncodeFrame(FrameType::kFolder, payload));
}

absl::Status FolderSender::SendFile(const std::string& path) {
  const File file(folder_ + "/" + path, O_RDONLY | O_NOFOLLOW);
  struct stat facts {};
  if (file.fd() < 0 || fstat(file.fd(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return absl::OkStatus();  // the file was replaced or removed in the meantime
  const auto size = static_cast<uint64_t>(facts.st_size);
  Sent& sent = sent_[path];
  if (Grows(path)) {
    while (sent.bytes < size) {
      std::string data =
          ReadAt(file.fd(), sent.bytes, std::min<uint64_t>(size - sent.bytes, kPiece));
      // A file of marks is preallocated: only zeros follow the text that was written so far.
      if (Rank(path) == 0) data.resize(std::min(data.find('\0'), data.size()));
      if (data.empty()) break;
      if (absl::Status s = write_(Piece(kGrows, path, sent.bytes, 0, data)); !s.ok()) return s;
      sent.bytes += data.size();
    }
    return absl::OkStatus();
  }
  const int64_t changed = int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (sent.changed_ns == changed && sent.bytes == size) return absl::OkStatus();
  for (uint64_t at = 0; at < size || at == 0;) {
    const std::string data = ReadAt(file.fd(), at, std::min<uint64_t>(size - at, kPiece));
    // The file was truncated.
    if (data.size() < std::min<uint64_t>(size - at, kPiece)) return absl::OkStatus();
    if (absl::Status s = write_(Piece(kWhole, path, at, size, data)); !s.ok()) return s;
    at += data.size();
    if (size == 0) break;
  }
  sent = {.bytes = size, .changed_ns = changed};
  return absl::OkStatus();
}

absl::Status FolderSender::SendNew() { return Send(false); }

absl::Status FolderSender::Send(bool tails) {
  std::vector<std::string> paths;
  ForEachEntry(folder_, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    std::error_code none;
    if (entry.is_symlink(none)) return;
    if (!entry.is_directory(none)) {
      paths.push_back(name);
    } else if (name.starts_with("process-")) {
      ForEachEntry(entry.path(), [&](const fs::directory_entry& inner) {
        paths.push_back(name + "/" + inner.path().filename().string());
      });
    }
  });
  std::erase_if(paths, [&](const std::string& path) {
    return !IsPlainPath(path) || path.ends_with(".tail") != tails;
  });
  std::sort(paths.begin(), paths.end(), [](const std::string& x, const std::string& y) {
    return std::pair(Rank(x), std::string_view(x)) < std::pair(Rank(y), std::string_view(y));
  });
  for (const std::string& path : paths)
    if (absl::Status s = SendFile(path); !s.ok()) return s;
  return absl::OkStatus();
}

absl::Status FolderSender::End(const Outcome& outcome) {
  if (absl::Status s = SendNew(); !s.ok()) return s;
  if (absl::Status s = Send(true); !s.ok()) return s;
  return write_(trace::EncodeFrame(FrameType::kOutcome, OutcomeJson(outcome)));
}

FolderReceiver::FolderReceiver(std::string folder, uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

absl::Status FolderReceiver::Take(std::string_view bytes) {
  if (!broken_.ok()) return broken_;
  std::string joined;
  if (!begun_) {  // skips what the startup files of a shell have printed
    joined = std::exchange(before_, "").append(bytes);
    const size_t at = joined.find(trace::kFrameMagic);
    if (at == std::string::npos) {
      if (joined.size() > kMostBefore)
        return broken_ = absl::FailedPreconditionError(
                   i18n::Text("the received data is not a recording"));
      before_ = std::move(joined);
      return absl::OkStatus();
    }
    bytes = std::string_view(joined).substr(at);
    begun_ = true;
  }
  decoder_.Append(bytes);
  while (true) {
    absl::StatusOr<std::optional<trace::Frame>> frame = decoder_.Next();
    if (!frame.ok()) return broken_ = frame.status();
    if (!frame->has_value()) return absl::OkStatus();
    if (absl::Status s = TakeFrame(**frame); !s.ok()) return broken_ = s;
  }
}

absl::Status FolderReceiver::TakeFrame(const trace::Frame& frame) {
  if (outcome_)
    return absl::DataLossError(i18n::Text("there is data after the end of the recording"));
  if (frame.type == FrameType::kFolder) {
    const auto* at = reinterpret_cast<const unsigned char*>(frame.payload.data());
    uint64_t version = 0;
    if (!trace::GetVarint(at, at + frame.payload.size(), version) || version != kVersion)
      return absl::FailedPreconditionError(i18n::Format(
          "vramscope on the other computer has a different version: it sends stream version {}, "
          "but this vramscope reads version {}. Install the same version of vramscope there",
          version, kVersion));
    greeted_ = true;
    return absl::OkStatus();
  }
  if (!greeted_)
    return absl::DataLossError(i18n::Text("the beginning of the recording is missing"));
  if (frame.type == FrameType::kFilePiece) return TakePiece(frame.payload);
  if (frame.type != FrameType::kOutcome || frame.payload.size() > kMostBefore)
    return absl::DataLossError(i18n::Text("the recording has a part of an unknown type"));
  absl::StatusOr<Outcome> outcome = ParseOutcome(frame.payload);
  if (!outcome.ok()) return outcome.status();
  outcome_ = *std::move(outcome);
  return absl::OkStatus();
}

absl::Status FolderReceiver::TakePiece(std::string_view payload) {
  const auto* at = reinterpret_cast<const unsigned char*>(payload.data());
  const unsigned char* const end = at + payload.size();
  uint64_t mode = 0, length = 0, offset = 0, total = 0;
  if (!trace::GetVarint(at, end, mode) || !trace::GetVarint(at, end, length) ||
      length > static_cast<uint64_t>(end - at))
    return absl::DataLossError(i18n::Text("a received part of a file is incomplete"));
  const std::string path(reinterpret_cast<const char*>(at), length);
  at += length;
  if (!trace::GetVarint(at, end, offset) || !trace::GetVarint(at, end, total))
    return absl::DataLossError(i18n::Text("a received part of a file is incomplete"));
  const std::string_view data(reinterpret_cast<const char*>(at), static_cast<size_t>(end - at));
  if (mode > kWhole || !IsPlainPath(path))
    return absl::DataLossError(i18n::Text("the recording has a file with an unknown name"));
  const auto [file, added] = files_.try_emplace(path, 0);
  if (mode == kWhole && offset == 0) file->second = 0;
  if (file->second != offset ||
      (mode == kWhole && (total < offset || data.size() > total - offset)))
    return absl::DataLossError(
        i18n::Format("'{}': the received parts of this file do not match", path));
  bytes_ += data.size();
  if (bytes_ > most_bytes_ || files_.size() > kMostFiles)
    return absl::ResourceExhaustedError(
        i18n::Text("more data was received than a recording can have"));
  if (const size_t slash = path.find('/'); slash != std::string::npos)
    mkdir((folder_ + "/" + path.substr(0, slash)).c_str(), 0777);
  const std::string whole = folder_ + "/" + path;
  const std::string to = mode == kWhole ? whole + ".part" : whole;
  {
    const File out(to, O_WRONLY | O_CREAT | O_NOFOLLOW | (offset == 0 ? O_TRUNC : O_APPEND));
    if (out.fd() < 0)
      return absl::InternalError(
          i18n::Format("'{}' cannot be written: {}", to, i18n::ErrnoText(errno)));
    if (absl::Status s = WriteAll(out.fd(), data); !s.ok()) return s;
  }
  file->second += data.size();
  if (mode == kWhole && file->second == total && rename(to.c_str(), whole.c_str()) != 0)
    return absl::InternalError(
        i18n::Format("'{}' cannot be written: {}", whole, i18n::ErrnoText(errno)));
  return absl::OkStatus();
}

}  // namespace vramscope::program
