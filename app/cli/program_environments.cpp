#include "app/cli/program_environments.h"

#include <absl/strings/str_split.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/mcp/child.h"
#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/setup/install_folder.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostWords = 4, kMostPackages = 1000, kMostReport = size_t{256} << 20;

// Prints what an environment depends on: the interpreter and its packages. A change of either makes
// a new environment necessary.
constexpr char kFacts[] = R"(
import hashlib, importlib.metadata, json, re, sys, sysconfig
if sys.path and not sys.path[0]:
    del sys.path[0]
found = {}
for distribution in importlib.metadata.distributions():
    try:
        found.setdefault(re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower(), distribution.version)
    except Exception:
        pass
installed = sorted("%s==%s" % one for one in found.items())
facts = [sys.version, sysconfig.get_platform()] + installed
print(json.dumps({
    "tag": sys.implementation.cache_tag,
    "hash": hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12],
    "torch": [one for one in installed if one.split("==")[0] in ("torch", "torchvision", "torchaudio")],
}))
)";

bool IsPython(std::string_view path) {
  const size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with("python");
}

// Searches PATH for the program. Returns "" if it is not found.
std::string OnPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  const std::vector<std::string> folders = absl::StrSplit(path == nullptr ? "" : path, ':');
  for (const std::string& folder : folders) {
    std::string file = fmt::format("{}/{}", folder, name);
    std::error_code none;
    if (fs::is_regular_file(file, none)) return file;
  }
  return "";
}

// Returns the Python interpreter that a command starts, or "" if it starts none.
std::string PythonOf(const std::string& program) {
  if (IsPython(program)) return program;
  std::array<char, 256> begin{};
  std::ifstream(OnPath(program), std::ios::binary).read(begin.data(), begin.size() - 1);
  const std::string_view line =
      std::string_view(begin.data()).substr(0, std::string_view(begin.data()).find('\n'));
  if (!line.starts_with("#!")) return "";
  const std::vector<std::string> words =
      absl::StrSplit(std::string(line.substr(2)), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  for (const std::string& word : words)
    if (IsPython(word)) return word;
  return "";
}

std::string CacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return cache;  // relative paths must be ignored (XDG)
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] != '/' ? "" : fmt::format("{}/.cache", home);
}

// Returns the lines in which pip lists conflicting requirements, if any. pip prints these lines to
// standard output, not with its errors.
std::vector<std::string> ConflictLines(const std::string& out) {
  const size_t begin = out.find("The conflict is caused by:");
  if (begin == std::string::npos) return {};
  std::vector<std::string> lines;
  const std::vector<std::string> all = absl::StrSplit(out.substr(begin), '\n');
  for (const std::string& line : all) {
    if (line.empty() || lines.size() > 2 * kMostWords) break;
    lines.push_back(line);
  }
  return lines;
}

// "(from versions: 1.0, 2.0, ...)" may have hundreds of entries, so only the last ones are kept.
std::string WithFewVersions(std::string line) {
  constexpr std::string_view kBegin = "(from versions: ";
  constexpr size_t kMostVersions = 12;
  const size_t begin = line.find(kBegin);
  if (begin == std::string::npos) return line;
  const size_t first = begin + kBegin.size();
  size_t last = line.size();
  for (size_t i = 0; i < kMostVersions && last > first && last != std::string::npos; ++i)
    last = line.rfind(", ", last - 1);
  if (last == std::string::npos || last <= first) return line;
  return line.replace(first, last - first, "...");
}

// Returns pip's error and a hint.
absl::Status PipFailed(const std::string& python, const mcp::ChildOutcome& outcome) {
  std::vector<std::string> words;
  for (const std::string& line : outcome.printed)
    if (line.starts_with("ERROR: ")) words.push_back(WithFewVersions(line.substr(7)));
  if (words.empty()) words = outcome.printed;
  if (words.size() > kMostWords)
    words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(kMostWords));
  const std::vector<std::string> conflict = ConflictLines(outcome.out);
  words.insert(words.end(), conflict.begin(), conflict.end());
  const std::string text = words.empty() ? i18n::Format("exit status {}", outcome.status)
                                         : fmt::format("{}", fmt::join(words, "\n"));
  const auto says = [&](std::string_view what) { return text.find(what) != std::string::npos; };
  std::string help;
  if (says("No module named pip")) {
    help = i18n::Format("\n`{} -m ensurepip` installs pip", python);
  } else if (says("no such option")) {
    help = i18n::Format("\npip 22.2 or later is needed: {} -m pip install --upgrade pip", python);
  } else if (says("No matching distribution")) {
    help = i18n::Text(
        "\nName a version that exists for this Python, or set PIP_INDEX_URL or PIP_FIND_LINKS to "
        "tell pip where to find the version");
  } else if (says("ResolutionImpossible") || says("conflicting dependencies")) {
    help = i18n::Text(
        "\nThe program keeps its own PyTorch. If a package version needs another PyTorch, plan in "
        "an environment with that PyTorch");
  }
  return absl::InvalidArgumentError(i18n::Format("pip: {}{}", text, help));
}

absl::Status Pip(const std::string& python, std::vector<std::string> words) {
  words.insert(words.begin(),
               {"-m", "pip", "install", "--no-input", "--disable-pip-version-check"});
  // If the user has set a folder into which pip installs, these variables override it.
  const std::vector<std::string> environment = {"PIP_USER=0", "PIP_REQUIRE_VIRTUALENV=0",
                                                "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"};
  const absl::StatusOr<mcp::ChildOutcome> outcome = mcp::RunOther(
      python, words, environment, "", [] { return false; }, [] {});
  if (!outcome.ok()) return outcome.status();
  return outcome->status == 0 ? absl::OkStatus() : PipFailed(python, *outcome);
}

// Returns true if the text can be a package's name or version. An option or a path can't.
bool IsWord(std::string_view text) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("._-+!").find(c) != std::string_view::npos;
         });
}

bool IsOfTorch(std::string_view name) {
  return name == "torch" || name == "triton" || name == "torchvision" || name == "torchaudio" ||
         name.starts_with("nvidia-") || name.starts_with("nvidia_");
}

// Returns the packages that pip would have to install, as "name==version", except PyTorch.
absl::StatusOr<std::vector<std::string>> Lacking(const std::string& report) {
  const absl::StatusOr<std::string> text = ReadText(report, kMostReport);
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  const absl::Status other =
      absl::InvalidArgumentError(i18n::Text("pip's report has an unknown format"));
  if (!json.is_object() || !json.contains("install") || !json["install"].is_array() ||
      json["install"].size() > kMostPackages)
    return other;
  std::vector<std::string> lacking;
  for (const Json& one : json["install"]) {
    if (!one.is_object() || !one.contains("metadata") || !one["metadata"].is_object()) return other;
    const Json name = one["metadata"].value("name", Json()),
               version = one["metadata"].value("version", Json());
    if (!name.is_string() || !version.is_string() || !IsWord(name.get<std::string>()) ||
        !IsWord(version.get<std::string>()))
      return other;
    if (!IsOfTorch(name.get<std::string>()))
      lacking.push_back(name.get<std::string>() + "==" + version.get<std::string>());
  }
  return lacking;
}

std::vector<std::string> PackagesIn(const fs::path& folder) {
  constexpr std::string_view kEnd = ".dist-info";
  std::vector<std::string> packages;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(kEnd) || packages.size() >= kMostPackages) continue;
    name.resize(name.size() - kEnd.size());
    if (const size_t dash = name.rfind('-'); dash != std::string::npos)
      packages.push_back(name.replace(dash, 1, "=="));
  }
  std::ranges::sort(packages);
  return packages;
}

}  // namespace

absl::StatusOr<ProgramEnvironments> ProgramEnvironments::Of(
    const std::vector<std::string>& command) {
  ProgramEnvironments all;
  all.python_ = PythonOf(command.front());
  if (all.python_.empty())
    return absl::InvalidArgumentError(
        i18n::Format("--with: '{}' is neither a Python interpreter nor a script whose first line "
                     "names an interpreter. Begin the command with the interpreter (example: -- "
                     "python -m torch.distributed.run train.py)",
                     command.front()));
  if (OnPath(all.python_).empty())
    return absl::InvalidArgumentError(i18n::Format("--with: '{}' is not on the PATH", all.python_));
  all.parent_ = EnvironmentsFolder();
  // A colon separates the folders of PYTHONPATH, so no folder may contain one.
  if (all.parent_.empty() || all.parent_.find(':') != std::string::npos)
    return absl::InvalidArgumentError(
        i18n::Text("--with: vramscope has no folder for environments; set XDG_CACHE_HOME to a "
                   "folder without a colon in its path"));
  const absl::StatusOr<mcp::ChildOutcome> outcome = mcp::RunOther(
      all.python_, {"-c", kFacts}, {}, "", [] { return false; }, [] {});
  if (!outcome.ok()) return outcome.status();
  const Json facts = Json::parse(outcome->out, nullptr, false);
  const auto word = [&](const char* key) {
    return facts.is_object() && facts.contains(key) && facts[key].is_string() &&
           IsWord(facts[key].get<std::string>());
  };
  if (!word("tag") || !word("hash"))
    return absl::InvalidArgumentError(
        i18n::Format("--with: cannot list the packages of {}: {}", all.python_,
                     outcome->notes.empty() ? i18n::Format("exit status {}", outcome->status)
                                            : outcome->notes.back()));
  all.key_ = facts["tag"].get<std::string>() + "-" + facts["hash"].get<std::string>();
  if (facts.contains("torch") && facts["torch"].is_array())
    for (const Json& one : facts["torch"])
      if (one.is_string()) all.torch_.push_back(one.get<std::string>());
  return all;
}

std::string ProgramEnvironments::FolderOf(const std::string& package,
                                          const std::string& version) const {
  return fmt::format("{}/{}=={}-{}", parent_, package, version, key_);
}

absl::StatusOr<ProgramEnvironment> ProgramEnvironments::Get(const std::string& package,
                                                            const std::string& version) const {
  ProgramEnvironment environment{.folder = FolderOf(package, version)};
  std::error_code none;
  environment.existed = fs::is_directory(environment.folder, none);
  if (!environment.existed) {
    Note(i18n::Format("installing {}=={} with pip into {}", package, version, environment.folder));
    const absl::Status made = Make(package + "==" + version, environment.folder);
    if (!made.ok()) return made;
  }
  environment.packages = PackagesIn(environment.folder);
  return environment;
}

absl::Status ProgramEnvironments::Make(const std::string& requirement,
                                       const std::string& folder) const {
  std::error_code error;
  fs::create_directories(parent_, error);
  if (error)
    return absl::PermissionDeniedError(i18n::Format(
        "cannot create {}: {}; set XDG_CACHE_HOME to another folder", parent_, error.message()));
  // The environment is made in a scratch folder beside its final folder and then renamed, so that
  // no incomplete environment is ever used. Scratch folders of killed processes are removed.
  absl::StatusOr<std::unique_ptr<program::ScratchFolder>> scratch =
      program::ScratchFolder::Make(parent_);
  if (!scratch.ok()) return scratch.status();
  const std::string report = (*scratch)->path() + "/report.json",
                    constraints = (*scratch)->path() + "/constraints.txt",
                    packages = (*scratch)->path() + "/packages";
  std::ofstream(constraints) << fmt::format("{}\n", fmt::join(torch_, "\n"));
  // pip first determines which packages the program's environment lacks, and then installs only
  // these. With --target alone, pip would install all requirements, including PyTorch.
  absl::Status done =
      Pip(python_, {"--dry-run", "--report", report, "--constraint", constraints, requirement});
  if (!done.ok()) return done;
  absl::StatusOr<std::vector<std::string>> lacking = Lacking(report);
  if (!lacking.ok()) return lacking.status();
  fs::create_directory(packages, error);
  if (!lacking->empty()) {
    std::vector<std::string> words = {"--no-deps", "--target", packages};
    words.insert(words.end(), lacking->begin(), lacking->end());
    done = Pip(python_, words);
    if (!done.ok()) return done;
  }
  if (std::rename(packages.c_str(), folder.c_str()) == 0) return absl::OkStatus();
  // Meanwhile, another process has made the same environment.
  if ((errno == EEXIST || errno == ENOTEMPTY) && fs::is_directory(folder, error))
    return absl::OkStatus();
  return absl::InternalError(fmt::format("{}: {}", folder, i18n::ErrnoText(errno)));
}

std::string EnvironmentsFolder() {
  const std::string cache = CacheFolder();
  return cache.empty() ? "" : cache + "/vramscope/environments";
}

std::vector<StoredEnvironment> StoredEnvironments() {
  std::vector<StoredEnvironment> kept;
  std::error_code none;
  const std::string folder = EnvironmentsFolder();
  if (folder.empty()) return kept;
  for (fs::directory_iterator one(folder, none), end; one != end; one.increment(none)) {
    const std::string name = one->path().filename().string();
    if (name.find("==") == std::string::npos || one->is_symlink(none) || !one->is_directory(none))
      continue;
    kept.push_back({name, one->path().string(), setup::BytesBelow(one->path().string())});
    if (kept.size() >= kMostPackages) break;
  }
  std::ranges::sort(kept, {}, &StoredEnvironment::name);
  return kept;
}

absl::StatusOr<uint64_t> RemoveEnvironments() {
  const std::string folder = EnvironmentsFolder();
  if (folder.empty()) return 0;
  std::error_code error;
  if (fs::is_symlink(folder, error))
    return absl::FailedPreconditionError(
        i18n::Format("{} is a symbolic link, so vramscope does not delete it; delete the target of "
                     "the link by hand",
                     folder));
  if (!fs::is_directory(folder, error)) return 0;
  const uint64_t bytes = setup::BytesBelow(folder);
  fs::remove_all(folder, error);
  if (error) return absl::InternalError(fmt::format("{}: {}", folder, error.message()));
  return bytes;
}

}  // namespace vramscope::cli
