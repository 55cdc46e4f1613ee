#include "ui/shell/savings.h"

#include <sys/resource.h>

#include <QSet>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "profiler/run/toggles.h"
#include "profiler/trace/catch_status.h"
#include "profiler/trace/reader.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/techniques.h"

namespace vramscope::ui {
namespace {

// The first step allocates the optimizer state, but savings also depend on later steps.
constexpr int kSteps = 3;
constexpr int kNice = 10;
constexpr qsizetype kMaxResults = 2000;
constexpr int kMostLosses = 2;  // a plan fails if its worker was lost this often

run::RunConfig ForFigures(run::RunConfig config) {
  config.backend = run::Backend::kPlan;
  config.steps = std::min(config.steps, kSteps);
  return config;
}

QByteArray KeyOf(const run::RunConfig& config) {
  return QByteArray::fromStdString(PlanKey(config));
}

}  // namespace

SavingsPlanner::SavingsPlanner(QString worker_program, QObject* parent)
    : QObject(parent), program_(std::move(worker_program)) {}
SavingsPlanner::~SavingsPlanner() = default;

void SavingsPlanner::update(const run::RunConfig& config) {
  pause();
  given_up_ = false;  // with every run, the client tries once more to start a worker
  wants_.clear();
  QSet<QByteArray> queued;
  const auto want = [&](const run::RunConfig& c) {
    const QByteArray key = KeyOf(c);
    if (!results_.contains(key) && !queued.contains(key)) {
      queued.insert(key);
      queue_.enqueue(c);
    }
    return key;
  };
  const run::RunConfig base = ForFigures(config);
  shown_ = want(base);
  for (const run::ToggleRow& row : run::Toggles()) {
    const run::Toggle& technique = *row.toggle;
    const bool on = run::IsOn(technique, base);
    if (!on && !run::BlockedBecause(technique, base).empty()) {
      Q_EMIT saving(ToQString(technique.id), std::nullopt, QString(), QString());
      continue;
    }
    Want w;
    w.id = ToQString(technique.id);
    w.with = want(on ? base : run::SwitchedOn(technique, base));
    w.without = want(on ? run::SwitchedOff(technique, base) : base);
    wants_ << w;
  }
  Order();
  Publish();
  Next();
}

bool SavingsPlanner::shows(const run::RunConfig& config) const {
  return !wants_.isEmpty() && shown_ == KeyOf(ForFigures(config));
}

void SavingsPlanner::prefer(const QStringList& ids) {
  preferred_ = ids;
  Order();
}

void SavingsPlanner::Order() {
  QSet<QByteArray> first;
  for (const Want& w : wants_)
    if (preferred_.contains(w.id)) first << w.with << w.without;
  std::stable_partition(queue_.begin(), queue_.end(),
                        [&](const run::RunConfig& c) { return first.contains(KeyOf(c)); });
}

void SavingsPlanner::pause() {
  queue_.clear();
  if (current_tag_ != 0) {
    current_tag_ = 0;
    if (client_) client_->cancel();
  }
}

void SavingsPlanner::forget(const QString& instead, const QString& why) {
  pause();
  wants_.clear();
  for (const run::ToggleRow& row : run::Toggles())
    Q_EMIT saving(ToQString(row.toggle->id), std::nullopt, instead, why);
}

bool SavingsPlanner::idle() const { return current_key_.isEmpty() && queue_.isEmpty(); }

void SavingsPlanner::Publish() {
  for (const Want& w : wants_) {
    const auto with = results_.constFind(w.with);
    const auto without = results_.constFind(w.without);
    if (with == results_.constEnd() || without == results_.constEnd()) {
      Q_EMIT saving(w.id, std::nullopt, given_up_ ? QStringLiteral("–") : QStringLiteral("…"),
                    given_up_ ? tr("The worker keeps crashing and is no longer restarted")
                              : tr("being planned in the background"));
    } else if (!with->ok || !without->ok) {
      Q_EMIT saving(w.id, std::nullopt, QStringLiteral("–"),
                    with->ok ? without->error : with->error);
    } else {
      Saving figure;
      figure.bytes = static_cast<int64_t>(with->peak) - static_cast<int64_t>(without->peak);
      figure.without = without->peak;
      figure.factor = without->step_ms > 0 ? with->step_ms / without->step_ms : 0;
      Q_EMIT saving(w.id, figure, QString(), QString());
    }
  }
}

absl::StatusOr<std::shared_ptr<const Digest>> DigestOfSample(const std::string& path) {
  return trace::CatchStatus([&]() -> absl::StatusOr<std::shared_ptr<const Digest>> {
    absl::StatusOr<std::shared_ptr<const trace::Trace>> trace = trace::ReadTraceFile(path, {});
    if (!trace.ok()) return trace.status();
    return MakeDigest(*std::move(trace));
  });
}

void SavingsPlanner::setSamples(std::shared_ptr<const setup::Samples> samples) {
  pause();
  // Forget failures. A configuration that had no sample run may be plannable now.
  results_.removeIf([](const auto& result) { return !result.value().ok; });
  samples_ = std::move(samples);
}

void SavingsPlanner::Next() {
  if (!current_key_.isEmpty()) return;  // the end of the current plan calls Next() again
  while (samples_ != nullptr && !queue_.isEmpty()) {
    current_ = queue_.dequeue();
    const std::string* file = samples_->Find(current_);
    if (file != nullptr) {
      current_key_ = KeyOf(current_);
      return DigestLater([path = *file] { return DigestOfSample(path); });
    }
    Store(KeyOf(current_), {.error = tr("needs LibTorch, which is not installed")});
    if (queue_.isEmpty()) Publish();
  }
  if (queue_.isEmpty() || given_up_) {
    queue_.clear();
    Q_EMIT finished();
    return;
  }
  if (!client_) {
    client_ = std::make_unique<WorkerClient>(program_);
    connect(client_.get(), &WorkerClient::ready, this, [this] {
      // Lower the priority, so that this worker does not slow down the worker of the shown run.
      if (client_->processId() > 0)
        setpriority(PRIO_PROCESS, static_cast<id_t>(client_->processId()), kNice);
    });
    connect(client_.get(), &WorkerClient::runEnded, this, &SavingsPlanner::Ended);
    client_->start();
  }
  current_ = queue_.dequeue();
  current_key_ = KeyOf(current_);
  current_tag_ = client_->run(current_);
}

void SavingsPlanner::Ended(quint64 tag, std::shared_ptr<const trace::Trace> trace,
                           const QString& error) {
  if (tag != current_tag_) {  // this is the end of a plan that pause() has cancelled
    current_key_.clear();
    Next();
    return;
  }
  const QByteArray key = current_key_;
  current_tag_ = 0;
  given_up_ = client_->givenUp();
  if (client_->lastStatusCode() == static_cast<int>(absl::StatusCode::kUnavailable)) {
    // The worker crashed, so its plan is lost. Request the plan again, unless this plan seems to
    // crash workers.
    if (++lost_[key] < kMostLosses) {
      current_key_.clear();
      Publish();
      Next();
      return;
    }
  }
  if (!error.isEmpty() || trace == nullptr) {
    Result failed;
    failed.error = error;
    Done(std::move(failed));
    return;
  }
  DigestLater([trace = std::move(trace)] { return MakeDigest(trace); });
}

void SavingsPlanner::Done(Result result) {
  Store(std::exchange(current_key_, {}), std::move(result));
  Publish();
  Next();
}

void SavingsPlanner::DigestLater(
    std::function<absl::StatusOr<std::shared_ptr<const Digest>>()> make) {
  jobs_.Ask(std::move(make),
            [this](const absl::StatusOr<std::shared_ptr<const Digest>>& digest) {
              Result result;
              result.ok = digest.ok();
              if (digest.ok()) {
                result.peak = (*digest)->summary.peak.allocated;
                result.step_ms = (*digest)->last_step_ms;
                // Do not cache a sample run, because reading it again is as fast.
                if (samples_ == nullptr) Q_EMIT planned(current_, *digest);
              } else {
                result.error = ToQString(std::string(digest.status().message()));
              }
              Done(std::move(result));
            },
            {.earlier = Earlier::kAll});
}

void SavingsPlanner::Store(const QByteArray& key, Result result) {
  if (results_.size() > kMaxResults) {
    results_.clear();
    lost_.clear();
  }
  results_.insert(key, std::move(result));
}

}  // namespace vramscope::ui
