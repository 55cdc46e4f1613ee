// `mcp`: offers this program's commands to agents over the Model Context Protocol.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/mcp/server.h"
#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/base/version.h"

namespace vramscope::cli {
namespace {

ExitCode Execute(const mcp::Access& access, const std::string& version) {
  for (const std::string& folder : access.folders) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
      NoteError(i18n::Format("--folder: '{}' is not a folder", folder));
      return kBadInput;
    }
  }
  if (isatty(STDIN_FILENO) == 1)
    Note(
        i18n::Text("this command speaks the Model Context Protocol on standard input and output. A "
                   "client must start the command (docs/mcp.md). Press Ctrl-D to exit"));
  // From here on, only the server's messages reach the real standard output. Other output goes to
  // stderr.
  const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return ReportError(
        absl::InternalError(i18n::Format("standard output: {}", i18n::ErrnoText(errno))));
  std::signal(SIGPIPE, SIG_IGN);  // write() reports a client that has closed the pipe
  const ExitCode code = mcp::Server(access, version, STDIN_FILENO, output).Run();
  close(output);
  return code;
}

void DeclareMcp(CLI::App* command, Context& context) {
  auto access = std::make_shared<mcp::Access>();
  command
      ->add_option("--folder", access->folders,
                   "let agents read and write files only within this folder; repeatable (default: "
                   "all files that the user may read)")
      ->type_name("FOLDER");
  command->add_flag(
      "--programs", access->programs,
      "let agents plan programs. vramscope runs the code of these programs isolated from the "
      "user's files. The isolation protects against accidents, but not against malice");
  command->callback([access, &context] { context.exit_code = Execute(*access, base::Version()); });
}

}  // namespace

CommandEntry DeclareCommand_mcp() {
  return {
      .place = 250,
      .name = "mcp",
      .help = "run a server of the Model Context Protocol for agents, on standard input and output",
      .example = "mcp --folder /data/traces",
      .declare = DeclareMcp};
}

}  // namespace vramscope::cli
