// vramscope-worker: settles which CUDA libraries the process will have, then becomes
// vramscope-worker-loop. LibTorch's CPU library wants libcudart, too, so this has to be settled
// before it is loaded; and loading it twice would cost a quarter of a second.
//
//   vramscope-worker --stdio                     plans on the modelled device
//   (trainer/backends/plan) vramscope-worker --stdio --plan emulated     plans with libtorch_cuda
//   on the emulated platform vramscope-worker --stdio --backend cuda      libtorch_cuda on the real
//   libraries and a GPU
#include <limits.h>
#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/emulated_card.h"

namespace {

namespace fs = std::filesystem;

fs::path OwnFolder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? fs::path(std::string(path, static_cast<size_t>(length))).parent_path()
                    : fs::path();
}

// What follows `name`, as "--name value" or "--name=value"; "" where it is not given.
std::string_view Option(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == name && i + 1 < argc) return argv[i + 1];
    if (argument.size() > name.size() && argument.starts_with(name) &&
        argument[name.size()] == '=') {
      return argument.substr(name.size() + 1);
    }
  }
  return {};
}

// Every library of CUDA's that the loader looks for comes from the emulated platform.
bool UseEmulatedPlatform(const fs::path& folder) {
  const fs::path audit = folder / "libvramscope-audit.so";
  if (!fs::exists(audit)) {
    std::fprintf(stderr, "vramscope-worker: --plan emulated: %s is not there\n", audit.c_str());
    return false;
  }
  setenv("LD_AUDIT", audit.c_str(), 1);
  // Every card of the table is a device of the process: planning for another one needs no new
  // process.
  std::string cards;
  for (const vramscope::run::DeviceProfile& card : vramscope::run::Devices()) {
    cards += vramscope::run::EmulatedCard(card) + "\n";
  }
  setenv("VRAMSCOPE_EMULATED_CARD", cards.c_str(), 1);
  unsetenv("VRAMSCOPE_EMULATED_DEVICES");
  // Orders that come of hashes of host addresses are the same every time.
  const int now = personality(0xffffffff);
  if (now != -1) personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder = OwnFolder();
  if (Option(argc, argv, "--plan") == "emulated" &&
      !UseEmulatedPlatform(folder.parent_path() / "emulated")) {
    return 4;
  }
  const std::string program = folder / "vramscope-worker-loop";
  std::vector<char*> arguments(argv, argv + argc + 1);  // with the null at the end
  execv(program.c_str(), arguments.data());
  std::fprintf(stderr, "vramscope-worker: can't start %s: %s\n", program.c_str(),
               std::strerror(errno));
  return 4;
}
