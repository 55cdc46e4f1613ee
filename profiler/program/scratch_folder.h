// A folder of one's own under the temporary directory, gone with its owner. Of an owner that was
// killed the next one takes it away: a lock on the folder, which dies with its process, says who
// lives. What a user may want to restore stays for a week.
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

// Removes `path` with all that is in it, folders that their owner may not enter among them
// (overlayfs makes such, and programs do). What cannot be removed stays, without an error.
void RemoveTree(const std::string& path);

class ScratchFolder {
 public:
  // Under `parent`; "": where $TMPDIR says. kInternal: none can be made, and why.
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Make(std::string parent = {});
  // As Make(). Of a killed owner it stays until nothing in it has changed for a week, or somebody
  // adopts it.
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> MakeRestorable(std::string parent = {});
  // One that its owner was killed over, to be read before it goes. kNotFound: there is no such
  // folder, it has an owner, or is no scratch folder of this user's under `parent` (as Make()).
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Adopt(const std::string& path,
                                                              std::string parent = {});
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  ScratchFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> MakeNamed(std::string_view name,
                                                                  std::string parent);

  const std::string path_;
  const int lock_;
};

}  // namespace vramscope::program
