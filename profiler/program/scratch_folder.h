// A private folder under the temporary directory. Its owner, an object of this class, removes it.
// If the owner was killed, the next process that uses this class removes the folder. (An owner
// locks its folder, and the lock ends with the process.) Folders that a user may want to restore
// are kept for a week.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<ScratchFolder> folder, ScratchFolder::Make());
//   Write(folder->path() + "/run");
//
// Thread-safe for different folders.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

namespace vramscope::program {

// Removes `path` and everything in it. This includes folders that even their owner may not enter
// (overlayfs and programs create such folders). If an entry cannot be removed, it stays; this is no
// error.
void RemoveTree(const std::string& path);

class ScratchFolder {
 public:
  // Creates a folder under `parent`, or in $TMPDIR if `parent` is "". kInternal: that failed.
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Make(std::string parent = {});
  // Like Make(), but the folder of a killed owner stays until it is adopted, or until nothing in it
  // has changed for a week.
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> MakeRestorable(std::string parent = {});
  // Takes over the folder of a killed owner, so that it can be read before it is removed.
  // kNotFound: the folder does not exist, has an owner, or is not a scratch folder of this user
  // under `parent` (see Make()).
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Adopt(const std::string& path,
                                                              std::string parent = {});
  ~ScratchFolder();  // removes the folder, see LeaveForOthers()
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  // If `leave`, the destructor does not remove the folder, but leaves it as a killed owner does:
  // another process can adopt it.
  void LeaveForOthers(bool leave) { leave_ = leave; }
  // Renames the folder, so that neither this object nor another process removes it, and returns its
  // new path. kInternal: it could not be renamed, so it will be removed as usual.
  absl::StatusOr<std::string> Keep();

 private:
  ScratchFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> MakeNamed(std::string_view name,
                                                                  std::string parent);

  const std::string path_;
  const int lock_;
  bool leave_ = false;
};

}  // namespace vramscope::program
