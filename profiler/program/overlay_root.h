// A root file system in a mount namespace of its own in which nothing that is changed reaches the
// real one: every top-level folder is an overlayfs mount whose upper layer lies in a scratch
// folder.
//
//   ASSIGN_OR_RETURN(OverlayRoot root, MakeOverlayRoot({.scratch = "/var/tmp/vramscope-1",
//                                                       .real = {"/tmp/output"}}));
//   if (fork() == 0) { for (int fd : root.namespaces) setns(fd, 0); chdir(...); exec(...); }
//
// An upper layer must not lie below the layer that it covers (overlayfs answers ELOOP), and an
// unprivileged user namespace cannot overlay a folder with mounts in it (EINVAL). Such folders are
// rebuilt entry by entry: their folders are overlays, small files copies, large files read-only.
//
// Unprivileged: a user namespace that maps the user to itself (Linux 5.11). With CAP_SYS_ADMIN the
// mount namespace alone, so that the program keeps its rights over files of other users.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace vramscope::program {

struct OverlayRootOptions {
  std::string scratch;            // an existing, empty folder; gets "root", "upper" and "work"
  std::vector<std::string> real;  // existing folders or files that stay as they are
  // Folders in which the program is likely to change something. Unprivileged, overlayfs copies no
  // folder of another user or group (EOVERFLOW), and nothing in one: those on the way to these are
  // made in the upper layer beforehand.
  std::vector<std::string> changed;
  bool network = true;  // false: a network namespace with loopback alone
  // Of the user namespace that a new one is to lie in, so that a process of that one may enter it;
  // -1: the one of this process. Privileged, no user namespace is made.
  int below = -1;
};

struct OverlayRoot {
  std::vector<int> namespaces;      // descriptors for setns, in this order; the caller closes them
  std::vector<std::string> frozen;  // folders that can't be overlaid and are read-only instead
};

// kUnavailable: this computer (or this scratch folder) does not allow it, and which step failed.
// kFailedPrecondition: this computer allows no namespaces; another scratch folder does not help.
// Blocks for some milliseconds; forks a helper that has ended when it returns.
absl::StatusOr<OverlayRoot> MakeOverlayRoot(const OverlayRootOptions& options);

// The first path in `folder` that the user may change and overlayfs cannot copy for them, because
// it is another user's or group's; "" if none is found, or the overlay is privileged. Looks at so
// many entries at most, and at no link's target.
std::string NotCopyable(const std::string& folder, size_t most_entries = 2'000);

// One line of /proc/self/mountinfo.
struct MountPoint {
  std::string path;
  std::string type;  // of file system
  bool operator==(const MountPoint&) const = default;
};
// Lines that make no sense are left out.
std::vector<MountPoint> ParseMountInfo(std::string_view text);

}  // namespace vramscope::program
