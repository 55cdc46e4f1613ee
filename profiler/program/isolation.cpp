#include "profiler/program/isolation.h"

#include <absl/strings/str_join.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/program/overlay_root.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// An argument, and the value in an argument such as --output_dir=/data/run.
std::vector<std::string_view> PathsIn(std::string_view argument) {
  std::vector<std::string_view> paths = {argument};
  if (const size_t value = argument.find('='); value != argument.npos)
    paths.push_back(argument.substr(value + 1));
  std::erase_if(paths,
                [](std::string_view path) { return path.empty() || path.size() >= PATH_MAX; });
  return paths;
}

// Returns whether the path in a cache begins with a name that huggingface_hub gives.
bool IsEntryOfHub(std::string_view path) {
  return path.starts_with("models--") || path.starts_with("datasets--") ||
         path.starts_with("spaces--");
}

// Returns whether the folder of a cache has other files, too, because a variable names a folder
// that is not only a cache: HF_HUB_CACHE=/data or TRITON_CACHE_DIR=/tmp. It has if it contains the
// working folder `own`, the home folder, the folder for temporary files, or what an argument names.
bool HasOtherFiles(const std::string& cache, const std::string& own,
                   const std::vector<std::string>& arguments) {
  std::error_code error;
  for (const fs::path& folder :
       {fs::path(own), fs::path(Variable("HOME")), fs::temp_directory_path(error)}) {
    const fs::path real = fs::canonical(folder, error);
    if (!error && IsIn(real.string(), cache)) return true;
  }
  for (const std::string& argument : arguments) {
    for (const std::string_view path : PathsIn(argument)) {
      const std::string real = fs::weakly_canonical(path, error).lexically_normal().string();
      // An argument may name the cache itself (--cache_dir=/data/hub), or a model in it.
      if (!error && real != cache && real != cache + "/" && IsIn(real, cache) &&
          !IsEntryOfHub(std::string_view(real).substr(std::min(real.size(), cache.size() + 1))))
        return true;
    }
  }
  return false;
}

// Caches of downloads and compiled kernels. Programs only add to them, and entries are named by
// content. They are not isolated: otherwise every plan would download its model again.
std::vector<std::string> GrowingCaches(const std::string& own,
                                       const std::vector<std::string>& arguments) {
  const std::string home = Variable("HOME");
  std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.empty() && !home.empty()) cache = home + "/.cache";
  std::string hub = Variable("HF_HUB_CACHE"), huggingface = Variable("HF_HOME"),
              triton = Variable("TRITON_CACHE_DIR"), pip = Variable("PIP_CACHE_DIR"),
              torch = Variable("TORCH_HOME");
  if (huggingface.empty() && !cache.empty()) huggingface = cache + "/huggingface";
  if (hub.empty() && !huggingface.empty()) hub = huggingface + "/hub";
  if (triton.empty() && !home.empty()) triton = home + "/.triton/cache";
  if (pip.empty() && !cache.empty()) pip = cache + "/pip";
  if (torch.empty() && !cache.empty()) torch = cache + "/torch";
  std::vector<std::string> found;
  for (const std::string& path : {hub, huggingface.empty() ? "" : huggingface + "/xet", triton, pip,
                                  torch.empty() ? "" : torch + "/hub/checkpoints"}) {
    std::error_code none;
    const fs::path real = path.empty() ? fs::path() : fs::canonical(path, none);
    if (!real.empty() && !none && fs::is_directory(real, none) &&
        !HasOtherFiles(real.string(), own, arguments))
      found.push_back(real.string());
  }
  return found;
}

// Returns a folder of the user that keeps, from plan to plan, the code that Inductor compiles
// (emulated/python/vramscope/compiling.py). Inductor's own cache is isolated, because Inductor also
// stores there which kernel was fastest. In a plan, that choice is based on emulated clocks.
std::string CompileCache() {
  const std::string path = fmt::format("/var/tmp/vramscope-{}", geteuid());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return "";
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid() ||
      (facts.st_mode & 0077) != 0)
    return "";
  const std::string inductor = path + "/inductor";
  return mkdir(inductor.c_str(), 0700) == 0 || errno == EEXIST ? inductor : "";
}

// Returns the deepest existing folder of `path`, as a real path; "" if it is "/".
std::string DeepestFolder(const fs::path& path) {
  std::error_code none;
  for (fs::path part = fs::absolute(path, none).lexically_normal(); part.has_relative_path();
       part = part.parent_path())
    if (const fs::path real = fs::canonical(part, none); !none && fs::is_directory(real, none))
      return real.string();
  return "";
}

// Returns real paths of folders that the program is likely to change.
std::vector<std::string> LikelyChanged(const std::string& folder,
                                       const std::vector<std::string>& arguments) {
  constexpr size_t kMostNamed = 256;
  std::set<std::string> named;
  const auto add = [&](std::string_view path) {
    if (path.empty() || path.size() >= PATH_MAX || named.size() >= kMostNamed) return;
    if (std::string real = DeepestFolder(path); !real.empty()) named.insert(std::move(real));
  };
  std::error_code none;
  add(Variable("HOME"));
  add(fs::temp_directory_path(none).string());
  for (const std::string& argument : arguments)
    for (const std::string_view path : PathsIn(argument)) add(path);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (const size_t value = text.find("=/"); value != text.npos) add(text.substr(value + 1));
  }
  named.erase(folder);
  std::vector<std::string> found = {folder};
  found.insert(found.end(), named.begin(), named.end());
  return found;
}

// Returns folders in which the scratch folder can be made. The program's folder is not one of them:
// if it contained the scratch folder, its entries would be in separate layers (overlay_root.h).
std::vector<std::string> ScratchParents(const std::string& folder) {
  std::vector<std::string> parents = {"/var/tmp"};
  std::error_code none;
  if (const fs::path temporary = fs::canonical(fs::temp_directory_path(none), none); !none)
    parents.push_back(temporary.string());
  parents.emplace_back("/dev/shm");
  // Not std::ranges::stable_partition, because clang 14, which builds the fuzzers, rejects the
  // subranges of this C++ library.
  std::stable_partition(parents.begin(), parents.end(), [&](const std::string& parent) {
    return parent != folder && !parent.starts_with(folder + "/");
  });
  return parents;
}

std::string LibraryOf(const IsolationOptions& options) {
  return options.libraries + "/libvramscope-isolation.so";
}

// Tries one place after another: makes a scratch folder there and calls `use` with it. Ends when
// `use` succeeds, or when it returns kFailedPrecondition, because another place would not help
// then. The returned error contains the reasons for all places.
absl::Status InScratchFolder(
    const std::string& folder,
    const std::function<absl::Status(std::unique_ptr<ScratchFolder>)>& use) {
  std::vector<std::string> reasons;
  for (const std::string& parent : ScratchParents(folder)) {
    absl::StatusOr<std::unique_ptr<ScratchFolder>> scratch = ScratchFolder::Make(parent);
    const absl::Status status = scratch.ok() ? use(*std::move(scratch)) : scratch.status();
    if (status.ok()) return status;
    // All folders may fail for the same reason.
    if (std::string why(status.message()); std::ranges::find(reasons, why) == reasons.end())
      reasons.push_back(std::move(why));
    if (absl::IsFailedPrecondition(status)) break;
  }
  return absl::UnavailableError(absl::StrJoin(reasons, "; "));
}

}  // namespace

std::string_view NameOf(IsolationMode mode) {
  constexpr std::string_view kNames[] = {"auto", "overlay", "copy", "none"};
  return kNames[static_cast<size_t>(mode)];
}

absl::StatusOr<std::unique_ptr<Isolation>> Isolation::Make(const IsolationOptions& options) {
  auto isolation = std::unique_ptr<Isolation>(new Isolation);
  isolation->network_ = options.network;
  std::error_code error;
  isolation->folder_ = fs::current_path(error).string();
  if (error)
    return absl::UnavailableError(
        i18n::Format("cannot read the current folder: {}", error.message()));
  IsolationOptions resolved = options;
  for (std::string& path : resolved.writable) {
    const fs::path real = fs::canonical(path, error);
    if (error)
      return absl::InvalidArgumentError(i18n::Format("--writable '{}': {}", path, error.message()));
    path = real.string();
  }
  if (options.mode == IsolationMode::kNone) {
    isolation->environment_["VRAMSCOPE_ISOLATION"] = NameOf(options.mode);
    return isolation;
  }
  const auto contains_folder = [&](const std::string& path) {
    return IsIn(isolation->folder_, path);
  };
  if (const std::string real = NeverIsolated(isolation->folder_);
      !real.empty() && std::ranges::none_of(resolved.writable, contains_folder))
    return absl::FailedPreconditionError(
        i18n::Format("changes to files in the current folder would be real: vramscope does not "
                     "isolate {}. Run the program in another folder. With --writable {}, or with "
                     "--no-isolation, the program runs here and changes real files",
                     real, isolation->folder_));
  isolation->kept_ = GrowingCaches(isolation->folder_, options.arguments);
  resolved.writable.insert(resolved.writable.end(), isolation->kept_.begin(),
                           isolation->kept_.end());
  if (const std::string compiled = CompileCache(); !compiled.empty()) {
    resolved.writable.push_back(compiled);
    isolation->environment_["VRAMSCOPE_ISOLATION_COMPILED"] = compiled;
  }
  isolation->environment_["VRAMSCOPE_ISOLATION_REAL"] = absl::StrJoin(resolved.writable, ":");
  std::string why;
  if (options.mode != IsolationMode::kCopy) {
    const absl::Status made = isolation->MakeOverlay(resolved);
    if (made.ok()) return isolation;
    why = std::string(made.message());
  }
  if (options.mode != IsolationMode::kOverlay) {
    isolation->CloseNamespaces();
    const absl::Status made = isolation->MakeCopy(resolved);
    if (made.ok()) return isolation;
    why += (why.empty() ? "" : "; ") + std::string(made.message());
  }
  return absl::FailedPreconditionError(i18n::Format(
      "the program's changes to files cannot be isolated here ({}). Run the program where user "
      "namespaces are allowed. With --no-isolation, the program runs here and changes real files",
      why));
}

absl::Status Isolation::MakeOverlay(const IsolationOptions& options) {
  return InScratchFolder(folder_, [&](std::unique_ptr<ScratchFolder> scratch) -> absl::Status {
    absl::StatusOr<OverlayRoot> root =
        MakeOverlayRoot({.scratch = scratch->path(),
                         .real = options.writable,
                         .changed = LikelyChanged(folder_, options.arguments),
                         .network = network_,
                         .below = options.below});
    if (!root.ok()) return root.status();
    namespaces_ = std::move(root->namespaces);
    frozen_ = std::move(root->frozen);
    // If the program's own folder is read-only, the program may fail: the copy mode is better then.
    const auto holds = [&](const std::string& path) { return IsIn(folder_, path); };
    if (const auto own = std::ranges::find_if(frozen_, holds);
        own != frozen_.end() && options.mode == IsolationMode::kAuto)
      return absl::FailedPreconditionError(i18n::Format("overlayfs cannot cover {}", *own));
    if (const std::string mount = options.mode == IsolationMode::kAuto ? MountWithin(folder_) : "";
        !mount.empty())
      return absl::FailedPreconditionError(
          i18n::Format("with overlayfs, the entries of {} could not be renamed or removed, because "
                       "a file system "
                       "is mounted on {}",
                       folder_, mount));
    if (const std::string foreign =
            options.mode == IsolationMode::kAuto ? NotCopyable(folder_) : "";
        !foreign.empty())
      return absl::FailedPreconditionError(i18n::Format(
          "overlayfs cannot copy {}, because it belongs to another user or group", foreign));
    // With this library preloaded, the program can rename folders of the lower layer.
    if (const std::string library = LibraryOf(options); access(library.c_str(), R_OK) == 0)
      environment_["LD_PRELOAD"] = library;
    Begin(IsolationMode::kOverlay, std::move(scratch));
    return absl::OkStatus();
  });
}

absl::Status Isolation::MakeCopy(const IsolationOptions& options) {
  const std::string library = LibraryOf(options);
  if (access(library.c_str(), R_OK) != 0)
    return absl::UnavailableError(i18n::Format("{} is missing", library));
  return InScratchFolder(folder_, [&](std::unique_ptr<ScratchFolder> scratch) -> absl::Status {
    environment_["VRAMSCOPE_ISOLATION_CHANGES"] = scratch->path();
    environment_["LD_PRELOAD"] = library;
    environment_["LD_AUDIT"] = library;  // covers code that looks up libc functions by name
    Begin(IsolationMode::kCopy, std::move(scratch));
    return absl::OkStatus();
  });
}

void Isolation::Begin(IsolationMode mode, std::unique_ptr<ScratchFolder> scratch) {
  mode_ = mode;
  scratch_ = std::move(scratch);
  environment_["VRAMSCOPE_ISOLATION"] = NameOf(mode);
  if (!network_) environment_["VRAMSCOPE_NO_NETWORK"] = "1";
}

Isolation::~Isolation() { CloseNamespaces(); }

void Isolation::CloseNamespaces() {
  for (const int fd : namespaces_) close(fd);
  namespaces_.clear();
  frozen_.clear();
}

int Isolation::Enter() const noexcept {
  for (const int fd : namespaces_)
    if (setns(fd, 0) != 0) return errno;
  if (!namespaces_.empty() && chdir(folder_.c_str()) != 0) return errno;
  return 0;
}

std::string Isolation::Description() const {
  if (mode_ == IsolationMode::kNone)
    return i18n::Text("No isolation: the program changes real files.");
  std::vector<std::string> sentences = {
      mode_ == IsolationMode::kCopy
          ? i18n::Text(
                "The program's changes to files stay in a temporary layer: other programs do not "
                "see them, and they are deleted afterwards. Your files are not changed. The "
                "isolation uses copy on write in libc's functions, and a system call filter. "
                "docs/security.md lists the limits of this isolation, such as static programs.")
          : i18n::Text(
                "The program's changes to files stay in a temporary layer: other programs do not "
                "see them, and they are deleted afterwards. Your files are not changed. The "
                "isolation uses overlayfs; docs/security.md lists the limits of this isolation.")};
  const auto name = [&](const std::vector<std::string>& paths, const auto& sentence) {
    if (!paths.empty()) sentences.push_back(sentence(absl::StrJoin(paths, ", ")));
  };
  name(kept_, [](const std::string& paths) {
    return i18n::Format("The program's changes to these caches remain on disk: {}.", paths);
  });
  sentences.push_back(i18n::Text("Changes in /dev/shm and /run (except /run/media) are real."));
  name(frozen_, [](const std::string& paths) { return i18n::Format("Read-only: {}.", paths); });
  sentences.push_back(network_
                          ? i18n::Text("Downloads work; uploads to known services are disabled.")
                          : i18n::Text("There is no network."));
  return absl::StrJoin(sentences, " ");
}

}  // namespace vramscope::program
