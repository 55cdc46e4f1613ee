// `setup`: downloads or removes LibTorch for the embedded loop, or prints its folder. Also handles
// the environments that `plan --with` keeps.
#include <absl/strings/str_join.h>
#include <fmt/format.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QSocketNotifier>
#include <QTimer>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/program_environments.h"
#include "app/cli/qt_core.h"
#include "app/cli/signal_catcher.h"
#include "profiler/base/i18n.h"
#include "profiler/run/units.h"
#include "profiler/setup/find_libtorch.h"
#include "profiler/setup/install_folder.h"
#include "ui/setup/torch_download.h"

namespace vramscope::cli::setup_command {
namespace {

namespace fs = std::filesystem;

constexpr int kLineSeconds = 30;  // seconds between two lines if stderr is not a terminal
constexpr int kLockPollMs = 500;

struct Options {
  bool yes = false, remove = false, status = false, environments = false, json = false;
};

uint64_t BytesToDownload() {
  uint64_t bytes = 0;
  for (const setup::Wheel& wheel : setup::WheelsFor("run")) bytes += wheel.bytes;
  return bytes;
}

uint64_t BytesThere() { return setup::BytesBelow(setup::DataFolder() + "/downloads"); }

Json EnvironmentsJson() {
  Json rows = Json::array();
  for (const StoredEnvironment& one : StoredEnvironments())
    rows.push_back({{"name", one.name}, {"folder", one.folder}, {"bytes", one.bytes}});
  return rows;
}

std::string EnvironmentsText() {
  std::string text;
  for (const StoredEnvironment& one : StoredEnvironments())
    text += fmt::format("{:>10}  {}\n", run::FormatBytes(one.bytes), one.name);
  return text;
}

Json StateJson(const setup::LibTorch& torch) {
  Json others = Json::array();
  for (const std::string& other : torch.rejected) others.push_back(other);
  const std::string never = setup::WhyNoLibTorchHere();
  return {{"found", torch.found()},
          {"version", setup::TorchVersion()},
          {"root", torch.found() ? Json(torch.root) : Json(nullptr)},
          {"where", torch.found() ? Json(torch.where) : Json(nullptr)},
          {"others", others},
          {"folder", setup::DataFolder()},
          {"download_bytes", BytesToDownload()},
          {"downloaded_bytes", BytesThere()},
          {"unpacked_bytes", setup::kUnpackedBytes},
          {"environments", EnvironmentsJson()},
          {"possible", never.empty()},
          {"why_not", never.empty() ? Json(nullptr) : Json(never)}};
}

std::string StateText(const setup::LibTorch& torch) {
  std::string text;
  if (torch.found()) {
    text =
        i18n::Format("LibTorch {}: {} ({})\n", torch.version, torch.root, i18n::Shown(torch.where));
  } else {
    text = i18n::Format("LibTorch {}: not installed\n", setup::TorchVersion());
    for (const std::string& other : torch.rejected) text += Prose("- " + other) + "\n";
    const std::string never = setup::WhyNoLibTorchHere();
    if (!never.empty()) {
      text += Prose(never) + "\n";
    } else {
      text +=
          Prose(i18n::Format("`vramscope setup` downloads {} and unpacks {} into {}",
                             run::FormatBytes(BytesToDownload()),
                             run::FormatBytes(setup::kUnpackedBytes), setup::DownloadedTorch())) +
          "\n";
    }
  }
  if (const uint64_t there = BytesThere(); there > 0)
    text += Prose(i18n::Format("{} of an interrupted download are kept in {}/downloads",
                               run::FormatBytes(there), setup::DataFolder())) +
            "\n";
  if (const std::string kept = EnvironmentsText(); !kept.empty())
    text += Prose(i18n::Format("environments of `plan --with` in {}:", EnvironmentsFolder())) +
            "\n" + kept;
  return text;
}

ExitCode ShowEnvironments(bool json) {
  if (json)
    return PrintJson({{"folder", EnvironmentsFolder()}, {"environments", EnvironmentsJson()}});
  const std::string text = EnvironmentsText();
  return PrintText(text.empty() ? i18n::Text("no environments are kept\n") : text);
}

ExitCode ShowState(bool json) {
  const setup::LibTorch torch = setup::FindLibTorch(setup::OwnSetupPlaces());
  const ExitCode printed = json ? PrintJson(StateJson(torch)) : PrintText(StateText(torch));
  return printed != kDone ? printed : torch.found() ? kDone : kNo;
}

ExitCode Remove(bool environments_alone, bool json) {
  const std::string data = setup::DataFolder();
  std::error_code none;
  const absl::StatusOr<uint64_t> of_environments = RemoveEnvironments();
  if (!of_environments.ok()) return ReportError(of_environments.status());
  uint64_t bytes = 0;
  if (!environments_alone && !data.empty() && fs::is_directory(data, none)) {
    const absl::StatusOr<setup::InstallFolder> folder = setup::InstallFolder::Lock(data);
    if (!folder.ok()) return ReportError(folder.status());
    const absl::StatusOr<uint64_t> removed = folder->Remove();
    if (!removed.ok()) return ReportError(removed.status());
    bytes = *removed;
  }
  if (json)
    return PrintJson({{"removed_bytes", bytes},
                      {"folder", data},
                      {"removed_environments_bytes", *of_environments},
                      {"environments_folder", EnvironmentsFolder()}});
  std::string text;
  if (bytes > 0) text += i18n::Format("removed {} from {}\n", run::FormatBytes(bytes), data);
  if (*of_environments > 0)
    text += i18n::Format("removed {} of environments from {}\n", run::FormatBytes(*of_environments),
                         EnvironmentsFolder());
  return PrintText(text.empty() ? i18n::Text("nothing to remove\n") : text);
}

// Asks whether to download. Fails without a terminal unless --yes is given.
ExitCode Ask(const Options& options) {
  const std::string what = i18n::Format(
      "LibTorch {}: vramscope downloads {} and unpacks {} into {}", setup::TorchVersion(),
      run::FormatBytes(BytesToDownload() - std::min(BytesToDownload(), BytesThere())),
      run::FormatBytes(setup::kUnpackedBytes), setup::DownloadedTorch());
  Note(what);
  if (options.yes) return kDone;
  if (isatty(STDIN_FILENO) == 0) {
    NoteError(
        i18n::Text("standard input is not a terminal, so vramscope cannot ask for confirmation; "
                   "run `vramscope setup --yes` to download without confirmation"));
    return kUsage;
  }
  std::cerr << i18n::Text("Download it? [y/N] ") << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return kDone;
  Note(i18n::Text("not downloaded"));
  return kNo;
}

std::string PhaseText(const ui::TorchDownload::Progress& progress) {
  using Phase = ui::TorchDownload::Phase;
  const std::string much =
      fmt::format("{} of {}", run::FormatBytes(progress.done), run::FormatBytes(progress.total));
  switch (progress.phase) {
    case Phase::kAsking:
      return i18n::Text("querying the package index");
    case Phase::kWaiting:
      return i18n::Format("no connection, trying again; {} downloaded", much);
    case Phase::kDownloading:
      return progress.bytes_per_s > 0
                 ? fmt::format("{}, {}/s", much,
                               run::FormatBytes(static_cast<uint64_t>(progress.bytes_per_s)))
                 : much;
    case Phase::kChecking:
      return "checking";
    case Phase::kUnpacking:
      return i18n::Format("unpacking, {}", much);
  }
  return "";
}

// Downloads and unpacks. After Ctrl-C, the downloaded part is kept.
absl::Status Download() {
  QtCore core;
  ProgressBar bar(true);
  const SignalCatcher signals;
  const ui::DownloadOptions options = ui::OwnDownloadOptions();
  ui::TorchDownload download(options);
  absl::Status result;
  bool told_waiting = false;
  QElapsedTimer since_line;
  since_line.start();
  const bool lines = isatty(STDERR_FILENO) == 0;
  QObject::connect(&download, &ui::TorchDownload::progressed,
                   [&](const ui::TorchDownload::Progress& progress) {
                     bar.Show(progress.fraction(), PhaseText(progress));
                     if (!lines || since_line.elapsed() < kLineSeconds * 1000) return;
                     since_line.start();
                     Note(PhaseText(progress));
                   });
  QTimer again;
  again.setSingleShot(true);
  QObject::connect(&again, &QTimer::timeout, [&] { download.start(); });
  QObject::connect(&download, &ui::TorchDownload::ended, [&](const absl::Status& status) {
    // While another process is downloading, waits for its end, and then uses its result.
    if (absl::IsUnavailable(status) && !download.locked()) {
      if (!std::exchange(told_waiting, true))
        Note(i18n::Format("{}; waiting for the other process", std::string(status.message())));
      again.start(kLockPollMs);
      return;
    }
    result = status;
    QCoreApplication::quit();
  });
  QSocketNotifier interrupt(signals.fd(), QSocketNotifier::Read);
  QObject::connect(&interrupt, &QSocketNotifier::activated, [&] {
    signals.Take();
    bar.Show(0, i18n::Text("cancelling"));
    again.stop();
    if (download.busy()) {
      download.cancel();
    } else {
      result = absl::CancelledError(i18n::Text("cancelled"));
      QCoreApplication::quit();
    }
  });
  download.start();
  QCoreApplication::exec();
  return result;
}

ExitCode Install(const Options& options) {
  const auto found = [] { return setup::FindLibTorch(setup::OwnSetupPlaces()); };
  if (const setup::LibTorch torch = found(); torch.found()) {
    Note(i18n::Text("LibTorch is already installed"));
    return options.json ? PrintJson(StateJson(torch)) : PrintText(StateText(torch));
  }
  if (const std::string never = setup::WhyNoLibTorchHere(); !never.empty())
    return ReportError(absl::FailedPreconditionError(never));
  if (const ExitCode answer = Ask(options); answer != kDone) return answer;
  const absl::Status status = Download();
  if (absl::IsCancelled(status)) {
    Note(i18n::Text(
        "interrupted: the downloaded part is kept, and `vramscope setup` continues the download"));
    return kInterrupted;
  }
  if (!status.ok()) return ReportError(status);
  const setup::LibTorch torch = found();
  if (!torch.found()) return ReportError(absl::InternalError(absl::StrJoin(torch.rejected, "; ")));
  return options.json ? PrintJson(StateJson(torch)) : PrintText(StateText(torch));
}

ExitCode Execute(const Options& options) {
  if (options.status) return ShowState(options.json);
  if (options.remove) return Remove(options.environments, options.json);
  if (options.environments) return ShowEnvironments(options.json);
  return Install(options);
}

void DeclareSetup(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_flag("-y,--yes", options->yes, "download without asking");
  CLI::Option* remove = command->add_flag(
      "--remove", options->remove,
      "delete everything that was downloaded, and the environments that `plan --with` keeps");
  CLI::Option* status =
      command
          ->add_flag("--status", options->status,
                     "print where LibTorch is; the exit status is 1 if LibTorch is missing")
          ->excludes(remove);
  command
      ->add_flag("--environments", options->environments,
                 "list the environments that `plan --with` keeps. With --remove, delete only these "
                 "environments")
      ->excludes(status);
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Downloads are checked against pinned SHA-256 sums. Environment variables: "
      "XDG_DATA_HOME\n(the target folder), VRAMSCOPE_INDEX_URL or PIP_INDEX_URL (a mirror of "
      "PyPI), https_proxy,\nno_proxy, SSL_CERT_FILE, VRAMSCOPE_TORCH_ROOT (a folder that already "
      "contains torch/ of the wheel).");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_setup() {
  return {
      .place = 240,
      .name = "setup",
      .help = "download or remove LibTorch, which the built-in models need, or print its location",
      .example = "setup --yes",
      .declare = DeclareSetup};
}

}  // namespace vramscope::cli::setup_command
