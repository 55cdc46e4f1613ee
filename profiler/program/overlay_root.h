// Makes a root file system, in its own mount namespace, that keeps changes away from the real one.
// Every top-level folder is an overlayfs mount whose upper layer is in a scratch folder.
//
//   ASSIGN_OR_RETURN(OverlayRoot root, MakeOverlayRoot({.scratch = "/var/tmp/vramscope-1",
//                                                       .real = {"/tmp/output"}}));
//   if (fork() == 0) { for (int fd : root.namespaces) setns(fd, 0); chdir(...); exec(...); }
//
// overlayfs has two limits. An upper layer must not be inside the layer that it covers (ELOOP), and
// a folder that contains mounts cannot be overlaid without privileges (EINVAL). In both cases, the
// folder is rebuilt entry by entry: subfolders become overlays, small files are copied, large files
// are read-only.
//
// Without privileges, MakeOverlayRoot also creates a user namespace that maps the user to itself
// (Linux 5.11). With CAP_SYS_ADMIN, only the mount namespace is created, so the program keeps its
// rights on other users' files.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

struct OverlayRootOptions {
  std::string scratch;            // an existing empty folder for "root", "upper" and "work"
  std::vector<std::string> real;  // existing folders or files that are not isolated
  // Folders that the program is likely to change. Unprivileged overlayfs cannot copy a folder of
  // another user or group, nor anything in it (EOVERFLOW). Therefore, if a folder above one of
  // these paths belongs to another user or group, it is created in the upper layer beforehand.
  std::vector<std::string> changed;
  bool network = true;  // false: a network namespace with only loopback
  // A descriptor of the parent of the new user namespace, or -1 for this process's own namespace.
  // Processes in the parent can enter the new namespace. Not used with privileges, because no user
  // namespace is then created.
  int below = -1;
};

struct OverlayRoot {
  std::vector<int> namespaces;      // descriptors for setns, in this order; the caller closes them
  std::vector<std::string> frozen;  // folders that cannot be overlaid and are read-only instead
};

// kUnavailable: the root cannot be made with this scratch folder; the message names the step that
// failed. kFailedPrecondition: this computer does not allow namespaces, so another
// scratch folder does not help. Blocks for some milliseconds; forks a helper that has ended when
// the function returns.
absl::StatusOr<OverlayRoot> MakeOverlayRoot(const OverlayRootOptions& options);

// Returns whether `path` is `folder` or below it. Compares the texts of canonical paths.
bool IsIn(std::string_view path, std::string_view folder);

// Looks in `folder` for a path that the user may change but overlayfs cannot copy, because it
// belongs to another user or group. Returns the first such path, or "" if there is none or the
// overlay is privileged. Checks at most `most_entries` entries. Does not follow links.
std::string NotCopyable(const std::string& folder, size_t most_entries = 2'000);

// If changes in the folder `path` are real in an isolated program, returns the folder that contains
// it and is not isolated, such as "/run" or a file system of the kernel; else "".
std::string NeverIsolated(const std::string& path);

// One line of /proc/self/mountinfo.
struct MountPoint {
  std::string path;
  std::string type;  // type of the file system
  bool operator==(const MountPoint&) const = default;
};
// Invalid lines are left out.
std::vector<MountPoint> ParseMountInfo(std::string_view text);

// Returns a path below `folder` where a file system is mounted. Without privileges, such a folder
// is overlaid entry by entry, so that its entries cannot be renamed or removed. Returns "" if there
// is none, if `folder` is "/", or if this process has the privilege to mount.
std::string MountWithin(const std::string& folder);

}  // namespace vramscope::program
