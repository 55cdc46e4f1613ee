#include "ui/program/program_runner.h"

#include <QDir>
#include <QFile>
#include <QProcessEnvironment>
#include <QStringDecoder>
#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/program/program.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/program/verdict.h"
#include "profiler/run/device_profile.h"
#include "profiler/trace/catch_status.h"
#include "ui/language/language.h"

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 300;
constexpr qsizetype kOutput = 256 << 10;  // maximum number of characters of output that are kept
// The destructor sends signals at this interval. Each signal acts like one more Ctrl-C.
constexpr int kStopMs = 100;
constexpr int kGoneMs = 3000;

QString Text(const std::string& text) { return QString::fromStdString(text); }

// Returns the title of the trace: the script and its arguments, without the interpreter.
std::string TitleOf(const program::Request& request) {
  std::string title = request.script.substr(request.script.rfind('/') + 1);
  if (!request.arguments.empty()) title += " " + request.arguments;
  return title.substr(0, 200);
}

}  // namespace

// The result of one read of the folder.
struct ProgramRunner::Read {
  bool last = false;
  absl::Status status;  // not OK if memory ran out while reading
  program::Program program;
  // The trace of all ranks, or null if there is no data yet, or no new data.
  std::shared_ptr<const trace::Trace> trace;
};

struct ProgramRunner::Run {
  Run(program::ReadOptions options, std::shared_ptr<program::ScratchFolder> scratch)
      : folder(std::move(scratch)), reader(folder->path() + "/run", std::move(options)) {}
  QString File(const char* name) const {
    return QFile::decodeName((folder->path() + "/" + name).c_str());
  }

  const std::shared_ptr<program::ScratchFolder> folder;
  QProcess process;
  QStringDecoder utf8 = QStringDecoder(QStringDecoder::Utf8);
  program::FolderReader reader;
  std::vector<std::shared_ptr<const trace::Trace>> shown;  // the last read trace of each run
  QElapsedTimer since;
  int stops = 0;
  bool gone = false;  // the process has ended
  // Not OK if memory ran out during a read. After that, the reader must not be used.
  absl::Status unreadable;
};

absl::StatusOr<std::shared_ptr<const trace::Trace>> ReadLeftFolder(
    const std::string& folder, const program::Request& request) {
  const absl::StatusOr<run::DeviceProfile> device =
      request.planned() ? run::FindDevice(request.device) : run::DeviceProfile{};
  if (!device.ok()) return device.status();
  program::FolderReader reader(
      folder + "/run",
      {.device = *device, .planned = request.planned(), .title = TitleOf(request)});
  absl::StatusOr<program::Program> left = reader.Read(/*ended=*/true);
  if (absl::IsNotFound(left.status())) return nullptr;
  if (!left.ok()) return left.status();
  std::shared_ptr<const trace::Trace> trace = program::JoinRuns(*left);
  return trace != nullptr && trace->events.size() > 0 ? trace : nullptr;
}

ProgramRunner::ProgramRunner(QString vramscope, QObject* parent)
    : QObject(parent), vramscope_(std::move(vramscope)) {
  connect(&poll_, &QTimer::timeout, this, &ProgramRunner::ReadNew);
}

ProgramRunner::~ProgramRunner() {
  if (run_ == nullptr) return;
  poll_.stop();
  QProcess& process = run_->process;
  process.disconnect(this);
  for (int i = 0; i < 3 && process.state() != QProcess::NotRunning; ++i) {
    process.terminate();
    process.waitForFinished(kStopMs);
  }
  if (!process.waitForFinished(kGoneMs)) process.kill();
  process.waitForFinished(kGoneMs);
  reading_.wait();
}

void ProgramRunner::start(const program::Request& request) {
  if (busy()) return;
  request_ = request;
  output_.clear();
  state_ = {};
  const absl::StatusOr<std::vector<std::string>> command = program::CommandOf(request);
  // Only a plan needs a device here. The data of a recording names its GPU.
  const absl::StatusOr<run::DeviceProfile> device =
      request.planned() ? run::FindDevice(request.device) : run::DeviceProfile{};
  const auto refuse = [this](const QString& why, const QString& next) {
    Q_EMIT ended({.error = why, .next = next});
  };
  if (!command.ok()) return refuse(Text(std::string(command.status().message())), {});
  if (!device.ok()) return refuse(Text(std::string(device.status().message())), {});
  if (vramscope_.isEmpty())
    return refuse(tr("'vramscope', which runs the program, was not found"),
                  tr("Build vramscope with ./vramscope, or add its folder to the PATH."));
  absl::StatusOr<std::unique_ptr<program::ScratchFolder>> folder =
      program::ScratchFolder::MakeRestorable();
  if (!folder.ok())
    return refuse(Text(std::string(folder.status().message())),
                  tr("Check the free space in %1.").arg(QDir::tempPath()));
  run_ = std::make_unique<Run>(
      program::ReadOptions{
          .device = *device, .planned = request.planned(), .title = TitleOf(request)},
      *std::move(folder));

  QStringList words;
  for (const std::string& word : program::OptionsOf(request)) words << Text(word);
  if (CurrentLanguage() != SystemLanguage())
    words << QStringLiteral("--lang") << LanguageName(CurrentLanguage());
  words << QStringLiteral("--keep") << run_->File("run") << QStringLiteral("--outcome")
        << run_->File("outcome") << QStringLiteral("--");
  for (const std::string& word : *command) words << QFile::decodeName(word.c_str());
  QProcess& process = run_->process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  // Without buffering, the program's output is visible immediately.
  if (!environment.contains(QStringLiteral("PYTHONUNBUFFERED")))
    environment.insert(QStringLiteral("PYTHONUNBUFFERED"), QStringLiteral("1"));
  process.setProcessEnvironment(environment);
  process.setWorkingDirectory(QFile::decodeName(program::FolderOf(request).c_str()));
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.setStandardInputFile(QProcess::nullDevice());
  connect(&process, &QProcess::readyRead, this, &ProgramRunner::TakeOutput);
  connect(&process, &QProcess::finished, this, &ProgramRunner::Finished);
  connect(&process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) Finished();
  });
  run_->since.start();
  SetState(ProgramState::Stage::kStarting);
  process.start(vramscope_, words);
  poll_.start(kPollMs);
}

void ProgramRunner::stop() {
  if (!busy() || run_->gone) return;
  ++run_->stops;
  SetState(ProgramState::Stage::kStopping);
  run_->process.terminate();
}

QString ProgramRunner::folder() const {
  return busy() ? QFile::decodeName(run_->folder->path().c_str()) : QString();
}

qint64 ProgramRunner::processId() const { return busy() ? run_->process.processId() : 0; }

void ProgramRunner::SetState(ProgramState::Stage stage) {
  ProgramState now = state_;
  now.stage = stage;
  if (run_ != nullptr) now.seconds = static_cast<double>(run_->since.elapsed()) / 1000;
  if (now == state_) return;
  state_ = now;
  Q_EMIT stateChanged();
}

void ProgramRunner::TakeOutput() {
  QString more = run_->utf8.decode(run_->process.readAll());
  more.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
  if (more.isEmpty()) return;
  output_ += more;
  if (output_.size() > kOutput) output_ = output_.right(kOutput / 2);
  Q_EMIT outputChanged(more);
}

// Reads the new data in the folder, unless another read is still in progress.
void ProgramRunner::ReadNew() {
  if (run_ == nullptr || reading_.busy()) return;
  SetState(state_.stage);  // updates the time
  const auto question = [run = run_.get(), last = run_->gone] {
    auto read = std::make_shared<Read>();
    read->last = last;
    if (!run->unreadable.ok()) return read;
    run->unreadable = read->status = trace::CatchStatus([&] {
      absl::StatusOr<program::Program> program = run->reader.Read(last);
      if (!program.ok()) return;  // the folder does not exist yet
      read->program = *std::move(program);
      std::vector<std::shared_ptr<const trace::Trace>> traces;
      for (const program::ProcessRun& of : read->program.runs) traces.push_back(of.trace);
      if (!last && traces == run->shown) return;
      run->shown = std::move(traces);
      read->trace = program::JoinRuns(read->program);
    });
    return read;
  };
  const auto show = [this](const absl::StatusOr<std::shared_ptr<Read>>& read) {
    if (read.ok()) return OnRead(*read);
    auto failed = std::make_shared<Read>();
    failed->last = run_ != nullptr && run_->gone;
    failed->status = read.status();
    if (run_ != nullptr) run_->unreadable = read.status();
    OnRead(failed);
  };
  reading_.Ask(question, show, {.blocks = true});
}

void ProgramRunner::OnRead(const std::shared_ptr<Read>& read) {
  if (run_ == nullptr) return;
  if (read->last) return End(*read);
  if (run_->gone) return ReadNew();  // the process ended during this read, so read once more
  if (!read->status.ok()) return;    // End() reports the error
  const program::Program& program = read->program;
  auto stage = ProgramState::Stage::kStarting;
  if (!program.processes.empty()) stage = ProgramState::Stage::kImported;
  for (const program::About& about : program.processes)
    if (about.begin_ns > 0) stage = ProgramState::Stage::kBuilding;
  if (read->trace != nullptr) {
    const trace::SliceTable& slices = program.runs.front().trace->slices;
    state_.step = static_cast<uint64_t>(std::ranges::count(slices.kind, trace::SliceKind::kStep));
    state_.events = read->trace->events.size();
  }
  if (state_.step > 0) stage = ProgramState::Stage::kTraining;
  if (state_.step > 0 && std::ranges::none_of(program.runs, [](const program::ProcessRun& run) {
        return run.about.ended.empty();
      }))
    stage = ProgramState::Stage::kEnding;
  SetState(run_->stops > 0 ? ProgramState::Stage::kStopping : stage);
  if (read->trace != nullptr && read->trace->events.size() > 0) Q_EMIT partialTrace(read->trace);
}

void ProgramRunner::Finished() {
  if (run_ == nullptr || run_->gone) return;
  TakeOutput();
  run_->gone = true;
  SetState(ProgramState::Stage::kReading);
  poll_.stop();
  if (!reading_.busy()) ReadNew();  // otherwise OnRead() starts the last read
}

void ProgramRunner::End(const Read& last) {
  ProgramEnd end;
  const program::Program& seen = last.program;
  end.stopped = run_->stops > 0;
  if (last.trace != nullptr && last.trace->events.size() > 0) end.trace = last.trace;
  QFile file(run_->File("outcome"));
  std::optional<program::Outcome> outcome;
  if (file.open(QIODevice::ReadOnly))
    if (auto parsed = program::ParseOutcome(file.read(64 << 10).toStdString()); parsed.ok())
      outcome = *std::move(parsed);
  if (!run_->unreadable.ok()) {
    end.error = tr("cannot read the program's history: %1")
                    .arg(Text(std::string(run_->unreadable.message())));
    end.next = tr("Record fewer steps, or close other programs.");
  } else if (!outcome && run_->process.error() == QProcess::FailedToStart) {
    end.error = tr("cannot start '%1', which runs the program").arg(vramscope_);
  } else if (!outcome && (end.stopped || run_->process.exitStatus() == QProcess::CrashExit)) {
    if (!end.stopped)
      end.error =
          tr("the process that watches the program was killed, which also killed the program");
  } else if (!outcome) {
    // vramscope did not start the program. The last line of its output is the reason.
    end.error = WithoutErrorPrefix(output_.trimmed().section(QLatin1Char('\n'), -1));
  } else if (!outcome->started.ok()) {
    const bool elsewhere = request_.where == program::Where::kHost;
    end.error = Text(std::string(outcome->started.message()));
    end.next =
        end.trace != nullptr ? tr("The events that arrived are shown.")
        : elsewhere
            ? tr("Test the connection: run `ssh %1 true` in a terminal.").arg(Text(request_.host))
            : tr("Choose another interpreter.");
  } else if (!outcome->write_error.empty()) {
    end.error = tr("cannot write the complete history: %1").arg(Text(outcome->write_error));
    end.next =
        tr("Free some space in %1. The events that arrived are shown.").arg(QDir::tempPath());
  } else if (!end.stopped && end.trace == nullptr) {
    const absl::Status nothing =
        program::NothingSeen(seen, *outcome, request_.planned(), output_.toStdString());
    end.error = Text(std::string(nothing.message()));
    if (outcome->exit_status != 0 && seen.processes.empty())
      end.next = tr("The program ended before it imported torch.");
  } else if (!end.stopped && !program::EndedWell(seen, *outcome)) {
    const program::About* failed = program::FirstFailure(seen);
    end.error = Text(program::EndText(*outcome));
    if (failed != nullptr) end.error = Text(program::ShortException(program::WhyOf(*failed)));
    end.out_of_memory =
        failed != nullptr && failed->exception.find("out of memory") != std::string::npos;
    end.next = tr("The events that arrived are shown.");
  } else if (!end.stopped) {
    end.remark = Text(program::WarningOf(seen, *outcome));
  }
  if (!end.error.isEmpty() && outcome)
    end.place = Text(program::LastPythonLine(output_.toStdString()));
  if (outcome) end.seconds = outcome->seconds;
  for (const program::About& about : seen.processes)
    for (const std::string& path : about.sources)
      if (const QString source = QFile::decodeName(path.c_str()); !end.sources.contains(source))
        end.sources << source;
  end.folder = run_->folder;
  run_.reset();
  SetState(ProgramState::Stage::kIdle);
  Q_EMIT ended(end);
}

}  // namespace vramscope::ui
