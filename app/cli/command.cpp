#include "app/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "app/cli/format.h"
#include "app/cli/language.h"
#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/base/output_language.h"

namespace vramscope::cli {
namespace {

CapturedOutput* captured = nullptr;

// Returns the message in the language of the terminal, even if the results of this process stay in
// English.
std::string ForTerminal(std::string_view message) {
  const i18n::InLanguage translated;
  return i18n::KeepsEnglish() ? i18n::Shown(message) : std::string(message);
}

void Print(std::string_view message) {
  fmt::print(stderr, "vramscope: {}\n", PrintableLines(message));
}

}  // namespace

CapturedOutput::CapturedOutput() { captured = this; }
CapturedOutput::~CapturedOutput() { captured = nullptr; }

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:  // the input needs more memory than there is
      return kBadInput;
    default:
      return kInternalFailure;
  }
}

ExitCode ReportError(const absl::Status& status) {
  NoteError(std::string(status.message()));
  return ExitCodeOf(status);
}

void NoteError(std::string_view message) {
  if (captured != nullptr) return Note(fmt::format("{}{}", kErrorPrefix, message));
  const i18n::InLanguage translated;
  Print(fmt::format("{}{}", i18n::Text(kErrorPrefix), ForTerminal(message)));
}

void NoteWarning(const std::string& warning) {
  if (captured != nullptr) return Note(fmt::format("warning: {}", warning));
  const i18n::InLanguage translated;
  Print(i18n::Format("warning: {}", i18n::Shown(warning)));
}

void Note(std::string_view message) {
  if (captured != nullptr) {
    captured->notes.emplace_back(message);
  } else {
    Print(ForTerminal(message));
  }
}

absl::Status OutOfMemory(const std::string& what) {
  return absl::ResourceExhaustedError(i18n::Format(
      "{}{}not enough host memory; read a part of the recording with --entries or --time", what,
      what.empty() ? "" : ": "));
}

ExitCode PrintText(std::string_view text) {
  if (captured != nullptr) {
    captured->text += text;
    return kDone;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) return kDone;  // the reader closed the pipe (`| head`)
    return ReportError(absl::InternalError(
        i18n::Format("cannot write to standard output: {}", i18n::ErrnoText(errno))));
  }
  return kDone;
}

ExitCode PrintJson(const Json& json) {
  if (captured != nullptr) {
    captured->json = json;
    return kDone;
  }
  return PrintText(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::function<std::string(const std::string&)> NumberBetween(double least, double most) {
  return [least, most](const std::string& text) {
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error == std::errc() && end == last && value >= least && value <= most)
      return std::string();
    return std::string(i18n::Format("Value {} not in range {} to {}", text,
                                    fmt::format("{:g}", least), fmt::format("{:g}", most)));
  };
}

void RefuseEmptyValues(CLI::App& app) {
  constexpr std::string_view kMayBeEmpty = "alloc-conf";  // "": PyTorch's defaults
  for (CLI::Option* option : app.get_options()) {
    if (option->check_lname(std::string(kMayBeEmpty))) continue;
    option->check([](const std::string& value) {
      return value.empty() ? std::string(i18n::Text("the value is empty")) : std::string();
    });
  }
}

std::vector<std::string> ForParser(std::vector<std::string> arguments) {
  std::vector<std::string> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (argument == "--") {
      std::move(arguments.begin() + static_cast<ptrdiff_t>(i), arguments.end(),
                std::back_inserter(out));
      break;
    }
    const bool empty = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (empty) argument.pop_back();
    out.push_back(std::move(argument));
    if (empty) out.emplace_back();
  }
  std::ranges::reverse(out);
  return out;
}

void AddCommand(CLI::App& app, const CommandEntry& entry, Context& context) {
  CLI::App* command = app.add_subcommand(entry.name, entry.help);
  entry.declare(command, context);
  RefuseEmptyValues(*command);
  // The example comes before the command's own footer.
  if (*entry.example != '\0')
    command->footer(i18n::Format("Example: vramscope {}\n{}", entry.example,
                                 Translated(command->get_footer())));
}

}  // namespace vramscope::cli
