#include "app/cli/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/input.h"
#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/exporters/file.h"
#include "profiler/trace/output_file.h"
#include "profiler/trace/writer.h"

namespace vramscope::cli {
namespace {

absl::Status StdoutFailed() {
  return absl::InternalError(
      i18n::Format("cannot write to standard output: {}", i18n::ErrnoText(errno)));
}

// Turns the error of a failed write into an internal failure, because the input did not cause it.
// Also translates the message. Like the text in the file, the message was created in English.
absl::Status NotTaken(const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(absl::IsResourceExhausted(status) || absl::IsUnavailable(status)
                          ? absl::StatusCode::kInternal
                          : status.code(),
                      i18n::Shown(std::string(status.message())));
}

bool Look(const std::string& path, int standard, struct stat& info) {
  return (path == "-" ? fstat(standard, &info) : stat(path.c_str(), &info)) == 0 &&
         S_ISREG(info.st_mode);
}

}  // namespace

absl::Status CheckOutput(const std::string& output) {
  return output.empty() ? absl::OkStatus() : NotTaken(trace::OutputFile::Check(output));
}

bool WouldReplaceInput(const std::string& output, const std::vector<std::string>& words) {
  struct stat out {};
  if (output.empty() || !Look(output, STDOUT_FILENO, out)) return false;
  std::vector<std::string> inputs = words;
  for (const std::string& word : words)
    if (const size_t at = word.find('='); at != std::string::npos)
      inputs.push_back(word.substr(at + 1));
  for (const std::string& input : inputs) {
    struct stat in {};
    if (input.empty() || !Look(input, STDIN_FILENO, in)) continue;
    if (in.st_dev != out.st_dev || in.st_ino != out.st_ino) continue;
    NoteError(i18n::Format(
        "'{}' is also an input file{}; write to another file",
        output == "-" ? i18n::Text("standard output") : output,
        input == output ? "" : i18n::Format(" ('{}' is the same file)", DisplayName(input))));
    return true;
  }
  return false;
}

namespace {

// Texts in the file are English, because the file may be sent to a reader of another language.
absl::Status WriteEnglish(const trace::Trace& trace, const std::string& path) {
  const i18n::InEnglish english;
  if (path != "-") return trace::WriteTraceFile(trace, path);
  // The trace writer must seek, because it puts an index at the end. So it writes into a temporary
  // folder, and the file is then copied to stdout.
  const char* folder = std::getenv("TMPDIR");
  std::string temporary = fmt::format("{}/vramscope-XXXXXX", folder && *folder ? folder : "/tmp");
  if (mkdtemp(temporary.data()) == nullptr) {
    return absl::InternalError(fmt::format("{}: {}", temporary, i18n::ErrnoText(errno)));
  }
  const std::string file = temporary + "/run.trace";
  absl::Status status = trace::WriteTraceFile(trace, file);
  if (status.ok()) {
    std::ifstream in(file, std::ios::binary);
    std::cout << in.rdbuf() << std::flush;
    if (!in || !std::cout) status = StdoutFailed();
  }
  unlink(file.c_str());
  rmdir(temporary.c_str());
  return status;
}

absl::Status WriteEnglish(const std::string& path,
                          const std::function<absl::Status(std::ostream&)>& write) {
  const i18n::InEnglish english;
  if (path != "-") return exporters::WriteFile(path, write);
  const absl::Status status = write(std::cout);
  std::cout.flush();
  return std::cout ? status : StdoutFailed();
}

}  // namespace

absl::Status WriteTrace(const trace::Trace& trace, const std::string& path) {
  return NotTaken(WriteEnglish(trace, path));
}

absl::Status WriteStream(const std::string& path,
                         const std::function<absl::Status(std::ostream&)>& write) {
  return NotTaken(WriteEnglish(path, write));
}

}  // namespace vramscope::cli
