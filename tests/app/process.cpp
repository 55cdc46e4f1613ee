#include "tests/app/process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace vramscope::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void Child(const std::vector<std::string>& arguments, const ProcessOptions& options,
                        const std::string& in, const std::string& out, const std::string& err) {
  const std::string& input = options.input_path.empty() ? in : options.input_path;
  dup2(open(input.c_str(), O_RDONLY), STDIN_FILENO);
  const int output = options.output_path.empty()
                         ? open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)
                         : open(options.output_path.c_str(), O_WRONLY | O_APPEND);
  dup2(output, STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  for (const std::string& setting : options.environment) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      unsetenv(setting.c_str());
    } else {
      setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
    }
  }
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  if (!options.deleted_folder.empty() &&
      (chdir(options.deleted_folder.c_str()) != 0 || rmdir(options.deleted_folder.c_str()) != 0))
    _exit(126);
  if (options.address_space > 0) {
    const rlimit limit{options.address_space, options.address_space};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(126);
  }
  std::vector<char*> argv;
  std::string program = VRAMSCOPE_PROGRAM;
  argv.push_back(program.data());
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

Outcome RunVramscope(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  const TemporaryFolder folder;
  const std::string in = folder / "in", out = folder / "out", err = folder / "err";
  WriteFile(in, options.input);
  const pid_t pid = fork();
  if (pid == 0) Child(arguments, options, in, out, err);
  const Clock::time_point start = Clock::now();
  bool signalled = options.signal == 0;
  int state = 0;
  while (waitpid(pid, &state, WNOHANG) == 0) {
    const auto elapsed = Clock::now() - start;
    if (!signalled &&
        (options.signal_when ? options.signal_when()
                             : elapsed > std::chrono::milliseconds(options.signal_after_ms))) {
      kill(pid, options.signal);
      signalled = true;
    }
    if (elapsed > std::chrono::minutes(4)) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Outcome outcome;
  outcome.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  outcome.out = ReadFile(out);
  outcome.err = ReadFile(err);
  return outcome;
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "vramscope-test-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace vramscope::test
