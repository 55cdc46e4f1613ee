#include "emulated/libraries/program_version.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "emulated/core/assumptions.h"
#include "emulated/core/attributes.h"

namespace vramscope::emulated {
namespace {

constexpr size_t kMostText = size_t{1} << 20;

// Parses for example "9.1.0.70)" as 9, 1, 0. Returns false if the text does not begin with a digit.
bool Parse(std::string_view text, Version* version) {
  int* const parts[] = {&version->major, &version->minor, &version->patch};
  size_t at = 0;
  for (int* part : parts) {
    if (at >= text.size() || !std::isdigit(static_cast<unsigned char>(text[at])))
      return part != parts[0];
    int value = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
      if (value < 100'000) value = value * 10 + (text[at] - '0');
    *part = value;
    if (at >= text.size() || text[at] != '.') return true;
    ++at;
  }
  return true;
}

std::string ReadText(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text(kMostText, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = read(file, text.data() + used, text.size() - used);
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  close(file);
  text.resize(used);
  return text;
}

struct ProgramFiles {
  std::string metadata, version_file;
};

int FindTorch(dl_phdr_info* info, size_t, void* context) {
  const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  const size_t at = path.find("/torch/lib/libtorch");
  if (at == std::string_view::npos) return 0;
  *static_cast<std::string*>(context) = path.substr(0, at);
  return 1;
}

// Returns the files, which are read once, after the program has loaded libtorch.
const ProgramFiles& Files() {
  static std::mutex mutex;
  static ProgramFiles files;
  static bool found = false;
  std::lock_guard lock(mutex);
  std::string site;
  if (!found) dl_iterate_phdr(FindTorch, &site);
  if (site.empty()) return files;
  found = true;
  files.version_file = ReadText(site + "/torch/version.py");
  if (DIR* folder = opendir(site.c_str())) {
    while (const dirent* entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name.starts_with("torch-") && name.ends_with(".dist-info"))
        files.metadata = ReadText(site + "/" + std::string(name) + "/METADATA");
    }
    closedir(folder);
  }
  return files;
}

bool FromEnvironment(std::string_view package, Version* version) {
  const char* value = std::getenv("VRAMSCOPE_EMULATED_VERSIONS");
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    const std::string_view entry = rest.substr(0, end);
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos && entry.substr(0, equals) == package)
      return Parse(entry.substr(equals + 1), version);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

bool RequiredVersion(std::string_view metadata, std::string_view package, Version* version) {
  constexpr std::string_view kRequires = "\nRequires-Dist: ";
  for (size_t at = metadata.find(kRequires); at != std::string_view::npos;
       at = metadata.find(kRequires, at + 1)) {
    std::string_view line = metadata.substr(at + kRequires.size());
    line = line.substr(0, line.find('\n'));
    if (!line.starts_with(package)) continue;
    const size_t equals = line.find("==");
    if (equals == std::string_view::npos || equals > line.find(';')) continue;
    Version found;
    if (!Parse(line.substr(equals + 2), &found)) continue;
    *version = found;
    return true;
  }
  return false;
}

bool CudaOfVersionFile(std::string_view text, Version* version) {
  for (size_t at = text.find("\ncuda"); at != std::string_view::npos;
       at = text.find("\ncuda", at + 1)) {
    std::string_view line = text.substr(at + 1);
    line = line.substr(0, line.find('\n'));
    const size_t quote = line.find_first_of("'\"");
    Version found;
    if (quote == std::string_view::npos || !Parse(line.substr(quote + 1), &found)) continue;
    *version = found;
    return true;
  }
  return false;
}

Version ProgramVersion(std::string_view package, Version otherwise) {
  Version found;
  if ((FromEnvironment(package, &found) || RequiredVersion(Files().metadata, package, &found)) &&
      found.major == otherwise.major)
    return found;
  return otherwise;
}

int DriverVersion() {
  // A driver supports programs for its own CUDA version and for older ones.
  Version cuda;
  if (!FromEnvironment("cuda", &cuda)) CudaOfVersionFile(Files().version_file, &cuda);
  const int wanted = cuda.major * 1000 + cuda.minor * 10;
  if (wanted <= kDriverVersion || cuda.major > 99 || cuda.minor > 99) return kDriverVersion;
  Assume("the driver is assumed to support the program's CUDA " + std::to_string(cuda.major) + "." +
             std::to_string(cuda.minor),
         "cudaDriverGetVersion", 0);
  return wanted;
}

Version ProgramCuda(Version otherwise) {
  Version found;
  if ((FromEnvironment("cuda", &found) || CudaOfVersionFile(Files().version_file, &found)) &&
      found.major == otherwise.major)
    return found;
  return otherwise;
}

}  // namespace vramscope::emulated
