#include "profiler/program/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "profiler/program/folder_entries.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

// What is not locked yet has another name: nobody takes it for one that was left.
constexpr std::string_view kName = "vramscope-scratch-", kFresh = "vramscope-fresh-";
constexpr int kTries = 8;

int Open(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void RemoveOfKilled(const fs::path& parent) {
  ForEachEntry(parent, [&](const fs::directory_entry& entry) {
    if (!entry.path().filename().string().starts_with(kName)) return;
    const int folder = Open(entry.path().string());
    struct stat facts {};
    if (folder >= 0 && fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
        flock(folder, LOCK_EX | LOCK_NB) == 0)
      RemoveTree(entry.path().string());
    if (folder >= 0) close(folder);
  });
}

// Gives the owner all rights on every folder below, links not followed.
void OpenFolders(const fs::path& path) {
  std::error_code none;
  if (!fs::is_directory(fs::symlink_status(path, none))) return;
  fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, none);
  ForEachEntry(path, [](const fs::directory_entry& entry) { OpenFolders(entry.path()); });
}

}  // namespace

void RemoveTree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return;
  OpenFolders(path);
  fs::remove_all(path, error);
}

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Make(std::string parent) {
  std::error_code none;
  if (parent.empty()) parent = fs::temp_directory_path(none).string();
  if (none || parent.empty()) parent = "/tmp";
  RemoveOfKilled(parent);
  for (int i = 0; i < kTries; ++i) {
    std::string fresh = fmt::format("{}/{}XXXXXX", parent, kFresh);
    if (mkdtemp(fresh.data()) == nullptr) break;
    const std::string path =
        fmt::format("{}/{}{}", parent, kName, std::string_view(fresh).substr(fresh.size() - 6));
    const int lock = Open(fresh);
    // Where folders know no locks nobody takes any away, either.
    if (lock >= 0) (void)flock(lock, LOCK_EX | LOCK_NB);
    if (lock >= 0 && rename(fresh.c_str(), path.c_str()) == 0)
      return std::unique_ptr<ScratchFolder>(new ScratchFolder(path, lock));
    const int error = errno;
    if (lock >= 0) close(lock);
    rmdir(fresh.c_str());
    errno = error;
    if (error != EEXIST && error != ENOTEMPTY) break;
  }
  return absl::InternalError(
      fmt::format("no folder can be made in {}: {}", parent, std::strerror(errno)));
}

ScratchFolder::~ScratchFolder() {
  RemoveTree(path_);
  close(lock_);
}

}  // namespace vramscope::program
