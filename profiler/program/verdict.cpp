#include "profiler/program/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "profiler/base/i18n.h"

namespace vramscope::program {

namespace {

// Returns why a program recorded no memory history. `end`: how it ended, with a colon; or "".
std::string WhyNothing(const Program& seen, const Outcome& outcome, bool planned,
                       const std::string& end, const std::string& message) {
  if (seen.processes.empty() && !message.empty()) return message;
  if (seen.processes.empty() && outcome.exit_status != 0 && !seen.python_failure.empty())
    return seen.python_failure == "ModuleNotFoundError: No module named 'torch'"
               ? i18n::Format(
                     "{}{}. Run the program with the interpreter in which PyTorch is installed",
                     end, seen.python_failure)
               : end + ShortException(seen.python_failure);
  if (seen.processes.empty() && outcome.exit_status != 0 && seen.python)
    return i18n::Format("{}it had not imported torch by then. Its output may say why it ended",
                        end);
  if (seen.processes.empty())
    return outcome.exit_status == 0
               ? i18n::Format(
                     "{}the program never imported torch, or it was started without the "
                     "environment variables that vramscope needs (env -i, sudo, python -I and -E "
                     "remove them). vramscope watches Python programs that train with PyTorch. Run "
                     "such programs with the interpreter in which PyTorch is installed",
                     end)
               : i18n::Format(
                     "{}there are three possible causes: the program never imported torch; "
                     "importing torch failed (the program's output says why); or the program was "
                     "started without the environment variables that vramscope needs (env -i, "
                     "sudo, python -I and -E remove them). vramscope watches Python programs that "
                     "train with PyTorch. Run such programs with the interpreter in which PyTorch "
                     "is installed",
                     end);
  const About& about = seen.processes.front();
  if (!about.hip.empty())
    return i18n::Format(
        "{}the program's PyTorch {} is built for ROCm. Install the build for CUDA with `pip "
        "install torch`. Plans with the CUDA build need no GPU",
        end, about.torch);
  if (about.cuda.empty())
    return planned
               ? i18n::Format(
                     "{}the program's PyTorch {} is built for the CPU only. Install the build "
                     "for CUDA with `pip install torch`. Plans with the CUDA build need no GPU",
                     end, about.torch)
               : i18n::Format(
                     "{}the program's PyTorch {} is built for the CPU only. Install the build "
                     "for CUDA with `pip install torch`. Recordings with the CUDA build need a GPU",
                     end, about.torch);
  if (about.ended == "unsupported")
    return i18n::Format(
        "{}the program's PyTorch {} is older than 2.0, the first version that records a memory "
        "history",
        end, about.torch);
  const bool used_cuda = std::any_of(seen.processes.begin(), seen.processes.end(),
                                     [](const About& process) { return process.begin_ns > 0; });
  if (used_cuda) return i18n::Format("{}the program ended before it wrote any of its history", end);
  if (const About* failed = FirstFailure(seen); failed != nullptr)
    return i18n::Format("{}the program failed before it used CUDA: {}", end, WhyOf(*failed));
  if (!message.empty()) return message;
  return i18n::Format(
      "{}the program imported torch but never used CUDA, so nothing was allocated on the GPU", end);
}

}  // namespace

std::string BeforeText(bool planned, std::string_view device, uint32_t steps,
                       std::string_view isolation) {
  if (!planned)
    return i18n::Text(
        "The program runs on this computer's GPU, and vramscope records the history of the caching "
        "allocator. Without CUPTI, kernels and memcpys are not recorded, and times are measured on "
        "the host.");
  const std::string until = steps == 0   ? i18n::Text("to its end")
                            : steps == 1 ? i18n::Text("for 1 optimizer step")
                                         : i18n::Format("for {} optimizer steps", steps);
  return i18n::Format(
      "The program runs on an emulated {} {}. Nothing is computed: losses are zero, and accuracies "
      "are 0 or 100 %. {}",
      device, until, isolation);
}

std::string EndText(const Outcome& outcome) {
  if (outcome.signal != 0)
    return i18n::Format("the program was ended by signal {} ({}{})", outcome.signal,
                        strsignal(outcome.signal),
                        outcome.signal == SIGKILL
                            ? i18n::Text(": manually, or because this computer ran out of memory")
                            : std::string());
  return i18n::Format("the program ended with status {}", outcome.exit_status);
}

bool EndedWell(const Program& seen, const Outcome& outcome) {
  if (outcome.exit_status == 0) return true;
  if (FirstFailure(seen) != nullptr) return false;
  const auto enough = [](const ProcessRun& run) { return run.about.ended == "enough"; };
  return std::ranges::any_of(seen.runs, enough) || !DiedShuttingDown(seen, outcome).empty();
}

std::string DiedShuttingDown(const Program& seen, const Outcome& outcome) {
  // The hooks write "end" late in the interpreter's shutdown, after the `atexit` functions.
  const auto told = [](const ProcessRun& run) { return run.about.ended == "end"; };
  if (outcome.signal == 0 || seen.runs.empty() || !std::ranges::all_of(seen.runs, told)) return "";
  return i18n::Format(
      "{} after its last line, while the interpreter shut down; the recording is complete up to "
      "this point",
      EndText(outcome));
}

std::string WarningOf(const Program& seen, const Outcome& outcome) {
  if (std::string how = DiedShuttingDown(seen, outcome); !how.empty()) return how;
  const About* const failed = outcome.exit_status == 0 ? FirstFailure(seen) : nullptr;
  if (failed == nullptr && outcome.idle)
    return i18n::Text(
        "after the requested steps, the program did nothing for a while, so vramscope ended it. It "
        "probably waited for the result of a process or thread that was ended after these steps");
  if (failed == nullptr) return "";
  return i18n::Format(
      "process {} failed ({}), but the program ended with status 0. The trace lacks the work of "
      "the failed process",
      failed->pid, ShortException(WhyOf(*failed)));
}

std::string WhyOf(const About& failed) {
  if (failed.world_size < 2) return failed.exception;
  return fmt::format("rank {}: {}", failed.rank, failed.exception);
}

absl::Status NothingSeen(const Program& seen, const Outcome& outcome, bool planned,
                         std::string_view output) {
  const bool failed = outcome.exit_status != 0;
  return absl::InvalidArgumentError(WhyNothing(seen, outcome, planned,
                                               failed ? EndText(outcome) + ": " : std::string(),
                                               failed ? FinalMessage(output) : std::string()));
}

std::string PrintedException(std::string_view output) {
  constexpr std::string_view kFile = "  File \"";
  size_t at = output.rfind(kFile);
  while (at != output.npos && at > 0 && output[at - 1] != '\n') at = output.rfind(kFile, at - 1);
  if (at == output.npos) return "";
  // Skips the indented lines of the traceback. The exception follows them.
  while (at < output.size() && (output[at] == ' ' || output[at] == '\n')) {
    const size_t end = output.find('\n', at);
    at = end == output.npos ? output.size() : end + 1;
  }
  const std::string_view line = output.substr(at, output.find('\n', at) - at);
  const std::string_view name = line.substr(0, line.find(':'));
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  return is_name ? ShortException(line) : "";
}

std::string FinalMessage(std::string_view output) {
  output = output.substr(0, output.find_last_not_of(" \n") + 1);
  const std::string_view last = output.substr(output.rfind('\n') + 1);
  const std::string raised = PrintedException(output);
  if (!raised.empty() && last.starts_with(raised.substr(0, raised.find(':')))) return raised;
  constexpr std::string_view kError = ": error: ";  // of argparse
  const size_t error = last.find(kError);
  return error == last.npos ? "" : ShortException(last.substr(error + kError.size()));
}

std::string LastPythonLine(std::string_view output) {
  constexpr std::string_view kTraceback = "Traceback (most recent call last):";
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ";
  size_t begin = output.rfind(kTraceback);
  if (begin == std::string_view::npos) {
    // If a script cannot be parsed, there is no traceback.
    if (PrintedException(output).empty()) return "";
    begin = 0;
  }
  std::string place;
  for (size_t at = output.find(kFile, begin); at != output.npos; at = output.find(kFile, at)) {
    at += kFile.size();
    const size_t end = output.find('\n', at);
    const std::string_view line = output.substr(at, end == output.npos ? end : end - at);
    const size_t quote = line.find(kLine);
    if (quote == line.npos) continue;
    const std::string_view file = line.substr(0, quote);
    std::string_view number = line.substr(quote + kLine.size());
    number = number.substr(0, number.find_first_not_of("0123456789"));
    const bool installed = file.find("-packages/") != file.npos || file.starts_with("<") ||
                           file.find("/lib/python3") != file.npos ||
                           file.find("/emulated/python/") != file.npos;  // vramscope's hooks
    if (!installed && !number.empty())
      place = fmt::format("{}:{}", file.substr(file.rfind('/') + 1), number);
  }
  return place;
}

std::string ShortException(std::string_view exception) {
  constexpr size_t kMost = 300;
  const size_t begin = exception.find_first_not_of(" \n");
  std::string text(begin == exception.npos ? "" : exception.substr(begin));
  text = text.substr(0, text.find('\n'));
  // PyTorch's message continues with many sentences of figures. These are cut off.
  text = text.substr(0, text.find(". GPU "));
  if (text.size() > kMost) {
    size_t end = kMost;
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // do not cut a UTF-8 character
    text = text.substr(0, end) + " \u2026";
  }
  while (text.ends_with('.')) text.pop_back();
  return text;
}

std::string ShortCommand(std::string_view command) {
  const size_t end = command.find(' ');
  const auto name_of = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  if (end == command.npos || !name_of(command.substr(0, end)).starts_with("python"))
    return std::string(command);
  std::string_view rest = command.substr(end + 1);
  if (rest.starts_with('-')) return std::string(rest);  // "-m module"
  const size_t script = std::min(rest.find(' '), rest.size());
  return std::string(name_of(rest.substr(0, script))) + std::string(rest.substr(script));
}

std::string OutcomeJson(const Outcome& outcome) {
  return nlohmann::json({{"started", static_cast<int>(outcome.started.code())},
                         {"why", std::string(outcome.started.message())},
                         {"exit_status", outcome.exit_status},
                         {"signal", outcome.signal},
                         {"interrupted", outcome.interrupted},
                         {"idle", outcome.idle},
                         {"isolation", outcome.isolation},
                         {"write_error", outcome.write_error},
                         {"seconds", outcome.seconds}})
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<Outcome> ParseOutcome(std::string_view text) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return absl::DataLossError(i18n::Text("not a JSON object"));
  Outcome outcome;
  const auto number = [&](const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_number_integer() ? it->get<int>() : 0;
  };
  const auto words = [&](const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  outcome.started = absl::Status(static_cast<absl::StatusCode>(number("started")), words("why"));
  outcome.exit_status = number("exit_status");
  outcome.signal = number("signal");
  if (const auto it = object.find("interrupted"); it != object.end())
    outcome.interrupted = it->is_boolean() && it->get<bool>();
  if (const auto it = object.find("idle"); it != object.end())
    outcome.idle = it->is_boolean() && it->get<bool>();
  outcome.isolation = words("isolation");
  outcome.write_error = words("write_error");
  if (const auto it = object.find("seconds"); it != object.end() && it->is_number())
    outcome.seconds = it->get<double>();
  return outcome;
}

}  // namespace vramscope::program
