// Keeps a planned program from changing the user's files.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<Isolation> isolation,
//                    Isolation::Make({.writable = {folder}, .arguments = command}));
//   Note(isolation->Description());
//   Launch(platform, {.command = command, .isolation = isolation.get()});
//
// There are three modes (docs/security.md contains the threat model):
//  - overlay: the program's processes run in a mount namespace whose root consists of overlayfs
//    mounts (overlay_root.h). This isolates every program, including static ones.
//  - copy: libvramscope-isolation.so, loaded into every process, replaces libc's file functions
//    by copy-on-write ones. Used on computers without namespaces. Does not isolate static
//    programs.
//  - none: the program changes real files. Used only if the user chooses it.
//
// The first two modes keep the changes in a scratch folder that is removed with this object.
//
// Make blocks and forks: call it before threads are started. Enter is async-signal-safe; the other
// functions are thread-compatible.
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

// Names as on the command line: "auto", "overlay", "copy", "none".
std::string_view NameOf(IsolationMode mode);

struct IsolationOptions {
  IsolationMode mode = IsolationMode::kAuto;  // kAuto: overlay, else copy, else an error
  std::string libraries;                      // folder that contains libvramscope-isolation.so
  // These paths and everything below them are not isolated: the output folder, --writable.
  std::vector<std::string> writable;
  // The program's arguments. The program is likely to change folders named in its arguments or in
  // environment variables (OverlayRootOptions::changed).
  std::vector<std::string> arguments;
  bool network = true;  // false: only the loopback interface
  int below = -1;       // OverlayRootOptions::below
};

class Isolation {
 public:
  // kFailedPrecondition: none of the allowed modes works on this computer; the message states the
  // reason and what to do. kInvalidArgument: a writable path does not exist.
  static absl::StatusOr<std::unique_ptr<Isolation>> Make(const IsolationOptions& options);
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  IsolationMode mode() const { return mode_; }
  // Describes the isolation of this run to the user, in full sentences.
  std::string Description() const;
  // Variables for the program's environment. Prepend LD_PRELOAD and LD_AUDIT to existing values.
  // Set all others.
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // Moves the calling process into the isolated file system, to the folder that was current in
  // Make(). The process must be newly forked and have one thread. Returns 0 or errno.
  int Enter() const noexcept;
  // For overlay mode: the namespaces that Enter() enters, in order, and the folder that it sets.
  const std::vector<int>& namespaces() const { return namespaces_; }
  const std::string& folder() const { return folder_; }
  // The folder that contains the changes, or "" if there is none.
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
  std::string folder_;               // the current folder in Make()
  std::vector<std::string> kept_;    // caches that are not isolated, for Description()
  std::vector<std::string> frozen_;  // folders that are read-only for the program
  std::map<std::string, std::string> environment_;
};

}  // namespace vramscope::program
