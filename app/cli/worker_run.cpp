#include "app/cli/worker_run.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QSocketNotifier>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "app/cli/format.h"
#include "app/cli/qt_core.h"
#include "app/cli/signal_catcher.h"
#include "profiler/base/i18n.h"
#include "profiler/setup/find_libtorch.h"
#include "ui/worker/worker_client.h"

namespace vramscope::cli {
namespace {

// Longer than the five seconds after which the worker client kills a worker that ignores a cancel.
constexpr int kGiveUpMs = 8'000;
constexpr int kProbeMs = 90'000;

std::string NoWorker() {
  return i18n::Text(
      "vramscope-worker was not found next to this program or on the PATH; build it with "
      "./vramscope, or set $VRAMSCOPE_WORKER");
}

// Checks whether the worker can be started. A worker that $VRAMSCOPE_WORKER names finds LibTorch by
// itself, so LibTorch is not searched for here.
absl::Status CheckWorker(const QString& program) {
  if (program.isEmpty()) return absl::UnavailableError(NoWorker());
  if (qEnvironmentVariableIsSet("VRAMSCOPE_WORKER")) return absl::OkStatus();
  const setup::LibTorch torch = setup::FindLibTorch(setup::OwnSetupPlaces());
  return torch.found() ? absl::OkStatus() : absl::UnavailableError(setup::HowToGetLibTorch(torch));
}

absl::Status StatusOf(const ui::WorkerClient& client, const QString& error) {
  const int code = client.lastStatusCode();
  if (code == 0 && error.isEmpty()) return absl::OkStatus();
  return absl::Status(code == 0 ? absl::StatusCode::kInternal : static_cast<absl::StatusCode>(code),
                      error.toStdString());
}

}  // namespace

WorkerRun RunInWorker(const run::RunConfig& config, const std::vector<std::string>& arguments) {
  const auto start = std::chrono::steady_clock::now();
  WorkerRun result;
  QtCore core;
  const QString program = ui::FindWorker();
  if (absl::Status status = CheckWorker(program); !status.ok()) {
    result.status = std::move(status);
    return result;
  }

  ProgressBar bar(true);
  bar.Show(0, i18n::Text("starting the worker"));
  const SignalCatcher signals;
  ui::WorkerClient client(program);
  QStringList more;
  for (const std::string& argument : arguments) more << QString::fromStdString(argument);
  client.setArguments(more);
  bool ended = false, interrupted = false;

  QSocketNotifier interrupt(signals.fd(), QSocketNotifier::Read);
  QObject::connect(&interrupt, &QSocketNotifier::activated, [&] {
    signals.Take();
    if (std::exchange(interrupted, true)) {  // the second Ctrl-C does not wait for the worker
      QCoreApplication::quit();
      return;
    }
    bar.Show(0, i18n::Text("cancelling (Ctrl-C again stops immediately)"));
    client.cancel();
    QTimer::singleShot(kGiveUpMs, &client, [] { QCoreApplication::quit(); });
  });
  QObject::connect(&client, &ui::WorkerClient::progress,
                   [&](quint64, int step, int steps, const QString& text) {
                     if (interrupted) return;
                     bar.Show(steps > 0 ? static_cast<double>(step) / steps : 0,
                              i18n::Format("step {}/{} {}", step, steps, text.toStdString()));
                   });
  QObject::connect(&client, &ui::WorkerClient::runEnded,
                   [&](quint64, std::shared_ptr<const trace::Trace> trace, const QString& error) {
                     ended = true;
                     result.trace = std::move(trace);
                     result.status = StatusOf(client, error);
                     result.worker_seconds = client.lastSeconds();
                     QCoreApplication::quit();
                   });

  client.start();
  client.run(config);
  if (!ended) QCoreApplication::exec();

  bar.Clear();
  if (interrupted) {
    result.status = absl::CancelledError(i18n::Text("cancelled"));
  } else if (!ended) {
    result.status = absl::InternalError(i18n::Text("the run ended without a result"));
  } else if (absl::IsUnavailable(result.status) && !client.log().isEmpty()) {
    fmt::print(stderr, "{}\n", PrintableLines(client.log().toStdString()));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

struct Planner::Impl {
  struct Worker {
    std::unique_ptr<ui::WorkerClient> client;
    std::optional<size_t> job;
  };
  QtCore core;
  QString program = ui::FindWorker();
  int most = 1;
  std::vector<std::unique_ptr<Worker>> workers;
};

Planner::Planner(int workers) : impl_(std::make_unique<Impl>()) { impl_->most = workers; }
Planner::~Planner() = default;

absl::Status Planner::Drain(const std::function<std::optional<Job>()>& next,
                            const std::function<void(size_t, const WorkerRun&)>& finished,
                            const std::function<Progress()>& progress) {
  if (absl::Status status = CheckWorker(impl_->program); !status.ok()) return status;
  ProgressBar bar(true);
  const SignalCatcher signals;
  bool interrupted = false;
  QSocketNotifier interrupt(signals.fd(), QSocketNotifier::Read);
  QObject::connect(&interrupt, &QSocketNotifier::activated, [&] {
    signals.Take();
    interrupted = true;
    QCoreApplication::quit();
  });
  // The signal connections that are made here end with this object.
  QObject scope;
  const auto show = [&] {
    const Progress now = progress();
    bar.Show(now.share, now.text);
  };
  int unseen = 0;  // number of results that have not been passed to `finished` yet
  std::function<void()> fill = [&] {
    show();
    for (;;) {
      auto idle = std::ranges::find_if(impl_->workers,
                                       [](const auto& worker) { return !worker->job.has_value(); });
      if (idle == impl_->workers.end() && impl_->workers.size() >= static_cast<size_t>(impl_->most))
        return;
      const std::optional<Job> job = next();
      if (!job.has_value()) break;
      if (idle == impl_->workers.end()) {
        impl_->workers.push_back(std::make_unique<Impl::Worker>());
        idle = impl_->workers.end() - 1;
        (*idle)->client = std::make_unique<ui::WorkerClient>(impl_->program);
        (*idle)->client->start();
      }
      Impl::Worker* worker = idle->get();
      worker->job = job->id;
      QObject::disconnect(worker->client.get(), &ui::WorkerClient::runEnded, nullptr, nullptr);
      QObject::connect(
          worker->client.get(), &ui::WorkerClient::runEnded, &scope,
          [&, worker](quint64, std::shared_ptr<const trace::Trace> trace, const QString& error) {
            if (!worker->job.has_value()) return;
            const size_t id = *std::exchange(worker->job, std::nullopt);
            WorkerRun result;
            result.trace = std::move(trace);
            result.status = StatusOf(*worker->client, error);
            result.worker_seconds = worker->client->lastSeconds();
            // Handles the result after the client's signal has returned. The first fill() keeps
            // workers busy. The second one is needed because `finished` may add jobs.
            QTimer::singleShot(0, &scope, [&, id, result = std::move(result)]() mutable {
              fill();
              --unseen;
              finished(id, result);
              result.trace.reset();
              fill();
            });
            ++unseen;
          });
      worker->client->run(job->config);
    }
    const bool busy = std::ranges::any_of(
        impl_->workers, [](const auto& worker) { return worker->job.has_value(); });
    if (!busy && unseen == 0) QCoreApplication::quit();
  };
  QTimer::singleShot(0, &scope, [&] { fill(); });
  QCoreApplication::exec();
  bar.Clear();
  if (!interrupted) return absl::OkStatus();
  impl_->workers.clear();
  return absl::CancelledError(i18n::Text("cancelled"));
}

WorkerProbe ProbeWorker() {
  WorkerProbe probe;
  QtCore core;
  const QString program = ui::FindWorker();
  probe.program = program.toStdString();
  if (const absl::Status status = CheckWorker(program); !status.ok()) {
    probe.error = std::string(status.message());
    return probe;
  }
  ui::WorkerClient client(program);
  QObject::connect(&client, &ui::WorkerClient::ready, [&] {
    probe.started = true;
    probe.version = client.workerVersion().toStdString();
    QCoreApplication::quit();
  });
  QObject::connect(&client, &ui::WorkerClient::workerLost, [&](const QString& what) {
    probe.error = what.toStdString();
    QCoreApplication::quit();
  });
  QTimer::singleShot(kProbeMs, &client, [&] {
    probe.error = i18n::Format("no response within {} seconds", kProbeMs / 1000);
    QCoreApplication::quit();
  });
  client.start();
  if (!probe.started && probe.error.empty()) QCoreApplication::exec();
  return probe;
}

}  // namespace vramscope::cli
