#include "profiler/program/overlay_root.h"

#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "profiler/base/i18n.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kLargestCopy = 1 << 20;  // larger files are bind-mounted read-only
constexpr size_t kMostEntries = 20'000;      // limit for folders that are rebuilt entry by entry

// Folders that are not overlaid: those with kernel interfaces, and those with sockets, because
// programs cannot connect to a socket in a lower layer. A training program keeps no files in these
// folders.
constexpr std::string_view kReal[] = {"/proc", "/sys",           "/dev",
                                      "/run",  "/tmp/.X11-unix", "/tmp/.ICE-unix"};
constexpr std::string_view kKernelTypes[] = {
    "proc",    "sysfs",    "devtmpfs", "devpts",     "mqueue",      "hugetlbfs", "debugfs",
    "tracefs", "cgroup",   "cgroup2",  "bpf",        "securityfs",  "configfs",  "fusectl",
    "pstore",  "efivarfs", "autofs",   "rpc_pipefs", "binfmt_misc", "nsfs"};

// Removable disks are mounted here, for example at /run/media/USER/DISK. They are overlaid.
constexpr std::string_view kDisks = "/run/media";

bool IsBelow(std::string_view path, std::string_view folder) {
  return folder == "/" ? path.size() > 1
                       : path.size() > folder.size() && path.starts_with(folder) &&
                             path[folder.size()] == '/';
}

// Returns the folder of kReal that contains the path, or "".
std::string_view RealFolderOf(std::string_view path) {
  if (IsIn(path, kDisks)) return "";
  for (const std::string_view real : kReal)
    if (IsIn(path, real)) return real;
  return "";
}

// Separates the parts of an error's text: step, subject, reason.
constexpr char kPartsOfFailure = '\x1f';
// Reports a failed step; `subject` replaces "{}" in it. The text is translated later, by InWords in
// the parent: the helper process must not take the translator's lock, because another thread may
// have held it during the fork.
absl::Status Failed(std::string_view step, std::string_view subject = "",
                    const std::string& reason = std::strerror(errno)) {
  return absl::UnavailableError(
      fmt::format("{}{}{}{}{}", step, kPartsOfFailure, subject, kPartsOfFailure, reason));
}

absl::Status InWords(const absl::Status& status) {
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(status.message()), kPartsOfFailure);
  if (parts.size() != 3) return status;
  std::string step = i18n::Text(parts[0]);
  if (const size_t at = step.find("{}"); at != std::string::npos) step.replace(at, 2, parts[1]);
  return absl::Status(status.code(), fmt::format("{}: {}", step, i18n::Text(parts[2])));
}

// Escapes the separators of overlayfs: ':' between lower layers, ',' between options.
std::string Escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == ':' || c == ',' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

bool HasSysAdmin() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data{};
  return syscall(SYS_capget, &header, data.data()) == 0 &&
         (data[CAP_SYS_ADMIN / 32].effective >> (CAP_SYS_ADMIN % 32) & 1) != 0;
}

bool WriteAll(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

// Whether an unprivileged overlay cannot copy the file. (Its user namespace maps only one user and
// one group.)
bool IsForeign(const struct stat& facts) {
  return facts.st_uid != geteuid() || facts.st_gid != getegid();
}

// Returns the mounts of this process. A mount comes after those that contain it. Of several mounts
// at one place, the last one is visible.
std::vector<MountPoint> Mounts() {
  std::ifstream file("/proc/self/mountinfo");
  std::vector<MountPoint> mounts =
      ParseMountInfo(std::string{std::istreambuf_iterator<char>(file), {}});
  std::ranges::stable_sort(mounts, {}, &MountPoint::path);
  return mounts;
}

bool OfKernel(const MountPoint& mount) {
  return std::ranges::find(kKernelTypes, mount.type) != std::end(kKernelTypes);
}

class Builder {
 public:
  Builder(const OverlayRootOptions& options, bool privileged, const std::set<std::string>& foreign)
      : options_(options),
        privileged_(privileged),
        foreign_(foreign),
        root_(options.scratch + "/root"),
        mounts_(Mounts()) {}

  absl::Status Build() {
    for (const char* part : {"/root", "/upper", "/work"})
      if (mkdir((options_.scratch + part).c_str(), 0755) != 0)
        return Failed(TEXT_MARK("scratch folder"));
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return Failed(TEXT_MARK("mount namespace"));
    if (const absl::Status probed = Probe(); !probed.ok()) return probed;
    if (mount(root_.c_str(), root_.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return Failed(TEXT_MARK("root of the file system"));
    if (const absl::Status split = Split("/"); !split.ok()) return split;
    for (const std::string& path : options_.real)
      if ((RealFolderOf(path).empty() || IsBelow(kDisks, path)) &&
          mount(path.c_str(), (root_ + path).c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
        return Failed("{}", path);
    // After pivot_root, the old root is stacked on the new one, and can be unmounted: see
    // pivot_root(2).
    if (chdir(root_.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
      return Failed("pivot_root");
    return absl::OkStatus();
  }
  const std::vector<std::string>& frozen() const { return frozen_; }

 private:
  // Tests whether overlays work here. Also tests whether a removed folder can be created again:
  // this requires extended attributes in the upper layer. If either fails, no other step is tried.
  absl::Status Probe() {
    const std::string probe = options_.scratch + "/probe", lower = probe + "/lower",
                      merged = probe + "/merged";
    std::error_code error;
    fs::create_directories(lower + "/folder/below", error);
    fs::create_directory(merged, error);
    if (error) return Failed(TEXT_MARK("scratch folder"), "", error.message());
    if (const absl::Status mounted = Mount(lower, merged); !mounted.ok()) return mounted;
    const std::string folder = merged + "/folder";
    fs::remove_all(folder, error);
    if (!error) fs::create_directory(folder, error);
    const bool whole = !error && fs::is_empty(folder, error) && !error;
    // Does not unmount the probe, because that would wait for other processors. It is unmounted
    // when the old root is detached.
    if (!whole)
      return Failed(
          TEXT_MARK("overlayfs on {}"), options_.scratch,
          error ? error.message() : TEXT_MARK("this file system stores no extended attributes"));
    return absl::OkStatus();
  }

  const MountPoint* MountAt(std::string_view path) const {
    const auto at = std::find_if(mounts_.rbegin(), mounts_.rend(),
                                 [&](const MountPoint& mount) { return mount.path == path; });
    return at == mounts_.rend() ? nullptr : &*at;
  }
  bool OfKernel(std::string_view path) const {
    const MountPoint* at = MountAt(path);
    return at != nullptr && vramscope::program::OfKernel(*at);
  }
  bool HasMounts(std::string_view path) const {
    return std::ranges::any_of(mounts_,
                               [&](const MountPoint& mount) { return IsBelow(mount.path, path); });
  }

  // A merged folder gets its owner and mode from the upper layer. In an unprivileged overlay, the
  // owner is the user, so the mode grants what the user may do in the real folder.
  mode_t MergedMode(const std::string& real, const struct stat& facts) const {
    mode_t mode = facts.st_mode & 07777;
    if (privileged_ || (facts.st_uid == geteuid() && !foreign_.contains(real))) return mode;
    mode &= ~mode_t{06700};
    for (const auto& [right, bit] : {std::pair{R_OK, 0400}, {W_OK, 0200}, {X_OK, 0100}})
      if (access(real.c_str(), right) == 0) mode |= bit;
    return mode;
  }

  // Creates foreign folders in the upper layer: those on the path from `lower` to any folder that
  // is likely to change. overlayfs merges them with the real folders, so it need not copy the real
  // folders.
  absl::Status MakeForeignFolders(const std::string& lower, const std::string& upper) const {
    for (const std::string& changed : options_.changed) {
      if (!IsBelow(changed, lower)) continue;
      std::vector<std::pair<std::string, struct stat>> way;  // path to the last foreign folder
      size_t foreign = 0;
      for (size_t end = lower.size(); end < changed.size();) {
        end = std::min(changed.find('/', end + 1), changed.size());
        struct stat facts {};
        std::string part = changed.substr(lower.size(), end - lower.size());
        if (lstat((lower + part).c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) break;
        way.emplace_back(std::move(part), facts);
        if (foreign_.contains(lower + way.back().first)) foreign = way.size();
      }
      way.resize(foreign);
      for (const auto& [part, facts] : way)
        if (mkdir((upper + part).c_str(), 0700) != 0 && errno != EEXIST)
          return Failed("{}", upper + part);
      // Goes from the innermost folder outward, because the mode of an outer folder may forbid new
      // entries, and because a new entry changes a folder's time.
      for (auto at = way.rbegin(); at != way.rend(); ++at) {
        const auto& [part, facts] = *at;
        const timespec times[] = {facts.st_atim, facts.st_mtim};
        if (utimensat(AT_FDCWD, (upper + part).c_str(), times, 0) != 0 ||
            chmod((upper + part).c_str(), MergedMode(lower + part, facts)) != 0)
          return Failed("{}", upper + part);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Mount(const std::string& lower, const std::string& target) {
    const std::string upper = fmt::format("{}/upper/{}", options_.scratch, layers_),
                      work = fmt::format("{}/work/{}", options_.scratch, layers_);
    ++layers_;
    struct stat facts {};
    if (stat(lower.c_str(), &facts) != 0) return Failed("{}", lower);
    if (mkdir(upper.c_str(), 0700) != 0 || mkdir(work.c_str(), 0700) != 0)
      return Failed("{}", upper);
    if (privileged_ && chown(upper.c_str(), facts.st_uid, facts.st_gid) != 0)
      return Failed("{}", upper);
    if (chmod(upper.c_str(), MergedMode(lower, facts)) != 0) return Failed("{}", upper);
    if (!privileged_)
      if (const absl::Status made = MakeForeignFolders(lower, upper); !made.ok()) return made;
    // With trusted attributes (only with privileges), folders of the lower layer can be renamed.
    // Without these attributes, rename fails with EXDEV, which libvramscope-isolation.so handles.
    const std::string data =
        fmt::format("lowerdir={},upperdir={},workdir={},{}", Escaped(lower), Escaped(upper),
                    Escaped(work), privileged_ ? "redirect_dir=on,metacopy=off" : "userxattr");
    if (mount("overlay", target.c_str(), "overlay", 0, data.c_str()) != 0)
      return Failed(TEXT_MARK("overlayfs over {}"), lower);
    return absl::OkStatus();
  }

  // Bind-mounts the real path on the existing path `target`.
  absl::Status Bind(const std::string& real, const std::string& target, bool read_only) {
    if (mount(real.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return Failed("{}", real);
    struct statvfs facts {};
    if (!read_only) return absl::OkStatus();
    if (statvfs(target.c_str(), &facts) != 0) return Failed("{}", real);
    // A remount in this namespace fails unless it repeats the flags that the mount already has.
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
    if ((facts.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
    if ((facts.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
    if ((facts.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
    if ((facts.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
    if ((facts.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
    if ((facts.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
    if (mount(nullptr, target.c_str(), nullptr, flags, nullptr) != 0)
      return Failed(TEXT_MARK("{} read-only"), real);
    return absl::OkStatus();
  }

  bool HasToBeSplit(const std::string& real) const {
    return IsBelow(options_.scratch, real) || (!privileged_ && HasMounts(real));
  }

  // Mounts a folder of the real tree at its place in the new tree, `target`, which exists.
  absl::Status Folder(const std::string& real, const std::string& target) {
    if (!RealFolderOf(real).empty()) {
      const absl::Status bound = Bind(real, target, false);
      std::error_code none;
      return bound.ok() && IsBelow(kDisks, real) && fs::is_directory(kDisks, none)
                 ? Cover(std::string(kDisks))
                 : bound;
    }
    if (!OfKernel(real) && HasToBeSplit(real)) return Split(real);
    if (OfKernel(real)) {
      if (const absl::Status bound = Bind(real, target, false); !bound.ok()) return bound;
    } else if (!Mount(real, target).ok()) {
      frozen_.push_back(real);
      if (const absl::Status bound = Bind(real, target, true); !bound.ok()) return bound;
    }
    // An overlay hides the file systems that are mounted inside the folder, so they are mounted
    // again. A bind mount shows the real ones: autofs on /home, for example, contains a file system
    // with the home folder of each user. (Without privileges, a folder that contains mounts is not
    // overlaid.)
    return CoverMountsIn(real);
  }

  absl::Status CoverMountsIn(const std::string& real) {
    std::vector<std::string_view> covered;
    for (const MountPoint& inside : mounts_) {
      if (!IsBelow(inside.path, real) || MountAt(inside.path) != &inside) continue;
      // Cover() also covers the mounts inside a mount.
      const auto contains = [&](std::string_view path) { return IsBelow(inside.path, path); };
      if (std::ranges::any_of(covered, contains)) continue;
      struct stat facts {};
      if (stat(inside.path.c_str(), &facts) != 0) continue;
      const bool folder = S_ISDIR(facts.st_mode);
      if (const absl::Status done =
              folder ? Cover(inside.path) : Bind(inside.path, root_ + inside.path, true);
          !done.ok())
        return done;
      covered.push_back(inside.path);
    }
    return absl::OkStatus();
  }

  // Like Folder(), for a folder whose place in the new tree may show the real folder.
  absl::Status Cover(const std::string& real) {
    const std::string place = root_ + real;
    if (!OfKernel(real) && HasToBeSplit(real)) {
      // The entries must not be created in the real folder.
      const std::string empty = fmt::format("{}/upper/{}", options_.scratch, layers_++);
      if (mkdir(empty.c_str(), 0755) != 0 ||
          mount(empty.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0)
        return Failed("{}", real);
    }
    return Folder(real, place);
  }

  // Rebuilds a folder entry by entry, because it cannot be overlaid as a whole.
  absl::Status Split(const std::string& real) {
    const std::string target = real == "/" ? root_ : root_ + real;
    std::error_code error;
    fs::directory_iterator entries(real, error);
    if (error) return Failed("{}", real, error.message());
    for (; entries != fs::directory_iterator(); entries.increment(error)) {
      const std::string path = entries->path().string();
      if (path == options_.scratch) continue;
      if (++entries_ > kMostEntries) return Failed("{}", real, TEXT_MARK("too many entries"));
      if (const absl::Status made = Entry(path, root_ + path); !made.ok()) return made;
    }
    if (error) return Failed("{}", real, error.message());
    // This comes last, because the mode may forbid creating entries.
    CopyOwnerAndMode(real, target);
    return absl::OkStatus();
  }

  absl::Status Entry(const std::string& path, const std::string& target) {
    struct stat facts {};
    if (lstat(path.c_str(), &facts) != 0)
      return errno == ENOENT || errno == EACCES ? absl::OkStatus() : Failed("{}", path);
    std::error_code error;
    if (S_ISLNK(facts.st_mode)) {
      const fs::path to = fs::read_symlink(path, error);
      if (!error) fs::create_symlink(to, target, error);
      return error ? Failed("{}", path, error.message()) : absl::OkStatus();
    }
    if (S_ISDIR(facts.st_mode)) {
      if (mkdir(target.c_str(), 0755) != 0) return Failed("{}", path);
      return Folder(path, target);
    }
    if (S_ISREG(facts.st_mode) && static_cast<uintmax_t>(facts.st_size) <= kLargestCopy &&
        MountAt(path) == nullptr && fs::copy_file(path, target, error) && !error) {
      CopyOwnerAndMode(path, target);
      const timespec times[] = {facts.st_atim, facts.st_mtim};
      utimensat(AT_FDCWD, target.c_str(), times, 0);
      return absl::OkStatus();
    }
    const int made = open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (made < 0) return Failed("{}", path);
    close(made);
    // Files that the user may not read are bound, too, and remain unreadable.
    return Bind(path, target, S_ISREG(facts.st_mode));
  }

  void CopyOwnerAndMode(const std::string& from, const std::string& to) const {
    struct stat facts {};
    if (stat(from.c_str(), &facts) != 0) return;
    if (privileged_) (void)!chown(to.c_str(), facts.st_uid, facts.st_gid);
    (void)!chmod(to.c_str(), facts.st_mode & 07777);
  }

  const OverlayRootOptions& options_;
  const bool privileged_;
  const std::set<std::string>& foreign_;
  const std::string root_;
  const std::vector<MountPoint> mounts_;
  std::vector<std::string> frozen_;
  size_t layers_ = 0, entries_ = 0;
};

bool RaiseLoopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return up;
}

absl::Status EnterNewNamespaces(bool privileged, bool network, int below) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (!privileged && below >= 0 && setns(below, CLONE_NEWUSER) != 0)
    return Failed(TEXT_MARK("user namespace of the process that keeps the imported modules"));
  if (unshare(CLONE_NEWNS | (privileged ? 0 : CLONE_NEWUSER) | (network ? 0 : CLONE_NEWNET)) != 0)
    // This status code tells the caller that another scratch folder would not help.
    return absl::FailedPreconditionError(Failed("unshare").message());
  if (!privileged && (!WriteAll("/proc/self/setgroups", "deny") ||
                      !WriteAll("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) ||
                      !WriteAll("/proc/self/gid_map", fmt::format("{0} {0} 1", group))))
    return Failed(TEXT_MARK("user namespace"));
  if (!network && !RaiseLoopback()) return Failed(TEXT_MARK("loopback of the network namespace"));
  prctl(PR_SET_DUMPABLE, 1);  // so that the parent may open this process's namespaces
  return absl::OkStatus();
}

// Runs in the helper process. Builds the root, writes a report, and waits until the parent has
// opened the namespaces. The report consists of the status code (one byte), the error text (or ""),
// a NUL, and the read-only folders, each followed by a NUL.
[[noreturn]] void Help(const OverlayRootOptions& options, bool privileged,
                       const std::set<std::string>& foreign, int report, int release) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  absl::Status status = EnterNewNamespaces(privileged, options.network, options.below);
  Builder builder(options, privileged, foreign);
  if (status.ok()) status = builder.Build();
  std::string text(1, static_cast<char>(status.code()));
  text += std::string(status.message());
  text += '\0';
  for (const std::string& folder : builder.frozen()) text += folder + '\0';
  (void)!write(report, text.data(), text.size());
  close(report);
  char byte = 0;
  (void)!read(release, &byte, 1);
  _exit(0);
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0;;) {
    got = read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

// Of the folders on the paths, returns those that an unprivileged overlay cannot copy. Call it
// outside of the user namespace. Inside, all other users have one id, which may be this user's id.
std::set<std::string> ForeignFolders(const std::vector<std::string>& paths) {
  std::set<std::string> found;
  for (const std::string& path : paths) {
    for (size_t end = 0; end < path.size();) {
      end = std::min(path.find('/', end + 1), path.size());
      struct stat facts {};
      const std::string part = path.substr(0, end);
      if (lstat(part.c_str(), &facts) == 0 && IsForeign(facts)) found.insert(part);
    }
  }
  return found;
}

absl::StatusOr<OverlayRoot> MakeWith(const OverlayRootOptions& options, bool privileged) {
  const std::set<std::string> foreign =
      privileged ? std::set<std::string>() : ForeignFolders(options.changed);
  std::array<int, 2> report{}, release{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return Failed("pipe");
  if (pipe2(release.data(), O_CLOEXEC) != 0) {
    for (const int fd : report) close(fd);
    return Failed("pipe");
  }
  const pid_t helper = fork();
  if (helper == 0) {
    close(report[0]);
    close(release[1]);
    Help(options, privileged, foreign, report[1], release[0]);
  }
  close(report[1]);
  close(release[0]);
  OverlayRoot root;
  absl::Status status = absl::OkStatus();
  if (helper < 0) {
    status = Failed("fork");
  } else if (const std::string text = ReadAll(report[0]); text.empty()) {
    status = absl::UnavailableError(
        i18n::Text("the helper process of the isolated file system ended early"));
  } else {
    const auto code = static_cast<absl::StatusCode>(text[0]);
    std::vector<std::string> parts = absl::StrSplit(text.substr(1), '\0');
    status = absl::Status(code, parts[0]);
    root.frozen.assign(parts.begin() + 1, parts.end() - 1);
  }
  for (const char* name : {"user", "net", "mnt"}) {
    if (!status.ok()) break;
    if ((privileged && name[0] == 'u') || (options.network && name[0] == 'n')) continue;
    const int fd = open(fmt::format("/proc/{}/ns/{}", helper, name).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) status = Failed(TEXT_MARK("namespace of the helper process"));
    if (fd >= 0) root.namespaces.push_back(fd);
  }
  close(report[0]);
  close(release[1]);
  while (helper > 0 && waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (status.ok()) return root;
  for (const int fd : root.namespaces) close(fd);
  return status;
}

}  // namespace

bool IsIn(std::string_view path, std::string_view folder) {
  return path == folder || IsBelow(path, folder);
}

std::string NotCopyable(const std::string& folder, size_t most_entries) {
  if (HasSysAdmin()) return "";
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied,
                                           error);
  for (; !error && most_entries > 0 && entries != fs::recursive_directory_iterator();
       entries.increment(error), --most_entries) {
    const std::string path = entries->path().string();
    struct stat facts {};
    if (lstat(path.c_str(), &facts) == 0 && !S_ISLNK(facts.st_mode) && IsForeign(facts) &&
        access(path.c_str(), W_OK) == 0)
      return path;
  }
  return "";
}

std::vector<MountPoint> ParseMountInfo(std::string_view text) {
  std::vector<MountPoint> mounts;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    // A line: 36 35 98:0 /root /mount/point options optional ... - type source options (proc(5))
    const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const auto dash = std::ranges::find(fields, "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 2 || !fields[4].starts_with('/'))
      continue;
    MountPoint mount{.path = {}, .type = dash[1]};
    const std::string_view path = fields[4];
    for (size_t i = 0; i < path.size(); ++i) {
      // Blanks and backslashes are written as three octal digits.
      const auto digit = [&](size_t at) { return path[i + at] >= '0' && path[i + at] < '8'; };
      if (path[i] == '\\' && i + 3 < path.size() && digit(1) && digit(2) && digit(3)) {
        mount.path += static_cast<char>((path[i + 1] - '0') * 64 + (path[i + 2] - '0') * 8 +
                                        (path[i + 3] - '0'));
        i += 3;
      } else {
        mount.path += path[i];
      }
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::string MountWithin(const std::string& folder) {
  if (HasSysAdmin() || folder == "/") return "";
  for (const MountPoint& mount : Mounts())
    if (IsBelow(mount.path, folder)) return mount.path;
  return "";
}

std::string NeverIsolated(const std::string& path) {
  if (const std::string_view real = RealFolderOf(path); !real.empty()) return std::string(real);
  const std::vector<MountPoint> mounts = Mounts();
  const auto mount = std::find_if(mounts.rbegin(), mounts.rend(),
                                  [&](const MountPoint& each) { return IsIn(path, each.path); });
  return mount != mounts.rend() && OfKernel(*mount) ? mount->path : "";
}

absl::StatusOr<OverlayRoot> MakeOverlayRoot(const OverlayRootOptions& options) {
  absl::StatusOr<OverlayRoot> made = MakeWith(options, HasSysAdmin());
  return made.ok() ? std::move(made) : InWords(made.status());
}

}  // namespace vramscope::program
