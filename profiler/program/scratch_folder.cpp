#include "profiler/program/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/program/folder_entries.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

// Until a new folder is locked, its name is kFresh, so that it is not mistaken for an abandoned
// one.
constexpr std::string_view kName = "vramscope-scratch-", kFresh = "vramscope-fresh-";
constexpr std::string_view kRestorableName = "vramscope-restorable-", kKeptName = "vramscope-kept-";
constexpr std::chrono::hours kRestorable(7 * 24);
constexpr int kTries = 8;

int Open(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Locks the folder of a killed owner. Returns -1 if the path is not a scratch folder of this user,
// or if the folder's owner still runs.
int LockOfKilled(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kName) && !name.starts_with(kRestorableName)) return -1;
  const int folder = Open(path.string());
  struct stat facts {};
  if (folder >= 0 && fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
      flock(folder, LOCK_EX | LOCK_NB) == 0)
    return folder;
  if (folder >= 0) close(folder);
  return -1;
}

// Whether the folder or anything in it has changed since `when`; links are not followed.
bool ChangedSince(const fs::file_time_type& when, const fs::path& folder) {
  std::error_code error, none;
  if (fs::last_write_time(folder, none) >= when && !none) return true;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (!entry->is_symlink(none) && entry->last_write_time(none) >= when && !none) return true;
  // If the folder cannot be searched, it counts as changed.
  return static_cast<bool>(error);
}

void RemoveOfKilled(const fs::path& parent) {
  const fs::file_time_type since = fs::file_time_type::clock::now() - kRestorable;
  ForEachEntry(parent, [&](const fs::directory_entry& entry) {
    const fs::path& path = entry.path();
    // Locks the folder first, because a folder that still has an owner must not be searched.
    const int folder = LockOfKilled(path);
    if (folder < 0) return;
    const bool restorable = path.filename().string().starts_with(kRestorableName);
    if (!restorable || !ChangedSince(since, path)) RemoveTree(path.string());
    close(folder);
  });
}

std::string ParentOr(std::string parent) {
  std::error_code none;
  if (parent.empty()) parent = fs::temp_directory_path(none).string();
  return none || parent.empty() ? "/tmp" : parent;
}

// Grants the owner all rights on every folder below; links are not followed.
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

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Adopt(const std::string& path,
                                                                    std::string parent) {
  const fs::path folder(path);
  // Rejects paths outside of the parent, such as those with "..".
  if (folder.parent_path().lexically_normal() != fs::path(ParentOr(parent)).lexically_normal())
    return absl::NotFoundError(i18n::Format("'{}' is not a scratch folder of vramscope", path));
  const int lock = LockOfKilled(folder);
  if (lock < 0)
    return absl::NotFoundError(i18n::Format("'{}' is not an abandoned scratch folder", path));
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(path, lock));
}

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Make(std::string parent) {
  return MakeNamed(kName, std::move(parent));
}

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::MakeRestorable(std::string parent) {
  return MakeNamed(kRestorableName, std::move(parent));
}

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::MakeNamed(std::string_view name,
                                                                        std::string parent) {
  parent = ParentOr(std::move(parent));
  RemoveOfKilled(parent);
  for (int i = 0; i < kTries; ++i) {
    std::string fresh = fmt::format("{}/{}XXXXXX", parent, kFresh);
    if (mkdtemp(fresh.data()) == nullptr) break;
    const std::string path =
        fmt::format("{}/{}{}", parent, name, std::string_view(fresh).substr(fresh.size() - 6));
    const int lock = Open(fresh);
    // Where locks are not supported, an abandoned folder is never removed.
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
      i18n::Format("cannot create a folder in {}: {}", parent, i18n::ErrnoText(errno)));
}

absl::StatusOr<std::string> ScratchFolder::Keep() {
  const fs::path path(path_);
  const std::string name = path.filename().string();
  const std::string kept =
      (path.parent_path() / fmt::format("{}{}", kKeptName, name.substr(name.rfind('-') + 1)))
          .string();
  if (rename(path_.c_str(), kept.c_str()) == 0) return kept;
  return absl::InternalError(fmt::format("'{}': {}", kept, std::strerror(errno)));
}

ScratchFolder::~ScratchFolder() {
  if (!leave_) RemoveTree(path_);
  close(lock_);
}

}  // namespace vramscope::program
