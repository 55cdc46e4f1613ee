// Keeps what a planned program writes, renames and deletes away from the user's files.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Isolation> isolation, Isolation::Make({.output = folder,
//   ...})); Note(isolation->Description()); Launch(platform, {.command = ..., .isolation =
//   isolation.get()});
//
// Three modes, docs/security.md has the threat model:
//  - overlay: the program's processes run in a mount namespace whose root is built of overlayfs
//    mounts (overlay_root.h). It covers shells, C libraries and static programs alike.
//  - copy: libvramscope-isolation.so, loaded into every process, binds libc's file functions to
//    copy-on-write ones. For computers that refuse namespaces; static programs are not covered.
//  - none: the program really writes. Only ever by the user's choice.
// In the first two the changes lie in a scratch folder that goes with this object.
//
// Make blocks and forks: call it before threads are started. Enter is async-signal-safe; the rest
// is thread-compatible.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/program/scratch_folder.h"

namespace vramscope::program {

enum class IsolationMode : uint8_t { kAuto, kOverlay, kCopy, kNone };

// As the command line has them: "auto", "overlay", "copy", "none".
std::string_view NameOf(IsolationMode mode);

struct IsolationOptions {
  IsolationMode mode = IsolationMode::kAuto;  // kAuto: overlay, else copy, else an error
  std::string libraries;                      // folder of libvramscope-isolation.so
  // Paths that stay real, with what is below them: the output folder, --writable.
  std::vector<std::string> writable;
  // The program's arguments. A folder that one of them, or an environment variable, names is likely
  // to be changed (OverlayRootOptions::changed).
  std::vector<std::string> arguments;
  bool network = true;  // false: loopback alone
  int below = -1;       // OverlayRootOptions::below
};

class Isolation {
 public:
  // kFailedPrecondition: no mode that was allowed works here; the message says why and what to do.
  // kInvalidArgument: a writable path does not exist.
  static absl::StatusOr<std::unique_ptr<Isolation>> Make(const IsolationOptions& options);
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  IsolationMode mode() const { return mode_; }
  // What holds for this run, as full sentences for the user.
  std::string Description() const;
  // Variables of the program's environment. LD_PRELOAD and LD_AUDIT are to be prepended to, the
  // rest set.
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // Makes the calling process, just forked and with one thread, a part of the isolated file system,
  // in the folder that is its current one. 0, or errno.
  int Enter() const noexcept;
  // What Enter() enters, in this order, and the folder in it; of the other modes none.
  const std::vector<int>& namespaces() const { return namespaces_; }
  const std::string& folder() const { return folder_; }
  // The folder of changes; "": there is none.
  std::string changes() const { return scratch_ ? scratch_->path() : std::string(); }

 private:
  Isolation() = default;
  absl::Status MakeOverlay(const IsolationOptions& options);
  absl::Status MakeCopy(const IsolationOptions& options);
  void Begin(IsolationMode mode, std::unique_ptr<ScratchFolder> scratch);
  void CloseNamespaces();

  IsolationMode mode_ = IsolationMode::kNone;
  bool network_ = true;
  std::unique_ptr<ScratchFolder> scratch_;
  std::vector<int> namespaces_;      // descriptors to enter, in this order
  std::string folder_;               // the current one
  std::vector<std::string> kept_;    // caches that stay real, to be named
  std::vector<std::string> frozen_;  // file systems that could only be made read-only
  std::map<std::string, std::string> environment_;
};

}  // namespace vramscope::program
