// What each technique would save, planned in the background by a worker of its own, so that a
// toggle never waits for it. Results are kept by configuration.
//
//   planner.update(config);                       // after a run has been shown
//   connect(&planner, &SavingsPlanner::saving, panel, &TechniquePanel::setSaving);
//   planner.pause();                              // the user has toggled something
#pragma once

#include <absl/status/statusor.h>

#include <QHash>
#include <QObject>
#include <QQueue>
#include <QStringList>
#include <functional>
#include <memory>
#include <optional>

#include "profiler/run/run_config.h"
#include "profiler/setup/samples.h"
#include "ui/jobs/jobs.h"
#include "ui/panels/rows.h"
#include "ui/panels/technique_panel.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {

class SavingsPlanner : public QObject {
  Q_OBJECT
 public:
  explicit SavingsPlanner(QString worker_program, QObject* parent = nullptr);
  ~SavingsPlanner() override;

  // Figures for every technique around this configuration: at once where they are known, by and by
  // where they must be planned.
  void update(const run::RunConfig& config);
  // Those of these techniques before the others: they are what is looked at.
  void prefer(const QStringList& ids);
  // As pause(), and no figure stands any more: `instead` and `why` do.
  void forget(const QString& instead, const QString& why);
  // Where nothing can be planned: figures of shipped runs, and of what was not shipped none. Null:
  // everything is planned.
  void setSamples(std::shared_ptr<const setup::Samples> samples);
  void pause();  // ends the plan in progress, forgets what is queued; known results stay
  bool idle() const;

 Q_SIGNALS:
  // Of technique `id`: a figure, or what stands in its place.
  void saving(const QString& id, std::optional<vramscope::ui::Saving> saving,
              const QString& instead, const QString& why);
  // A whole plan of a configuration around the present one: what a toggle of it would show.
  void planned(const vramscope::run::RunConfig& config,
               std::shared_ptr<const vramscope::ui::Digest> digest);
  void finished();  // nothing is left to plan

 private:
  struct Result {
    bool ok = false;
    uint64_t peak = 0;
    double step_ms = 0;
    QString error;
  };
  struct Want {
    QString id;
    QByteArray with, without;
  };
  void Order();  // the queue, by what is preferred
  void Publish();
  void Next();
  void Ended(quint64 tag, std::shared_ptr<const trace::Trace> trace, const QString& error);
  // Of a trace that `make` has, on a pool thread; `current_` is what it is of.
  void DigestLater(std::function<absl::StatusOr<std::shared_ptr<const Digest>>()> make);
  void Done(Result result);
  void Store(const QByteArray& key, Result result);

  QString program_;
  std::unique_ptr<WorkerClient> client_;
  QHash<QByteArray, Result> results_;
  QHash<QByteArray, int> lost_;  // how often the worker was, with this plan
  QList<Want> wants_;
  QStringList preferred_;
  QQueue<run::RunConfig> queue_;
  run::RunConfig current_;
  QByteArray current_key_;
  quint64 current_tag_ = 0;
  bool given_up_ = false;
  Jobs jobs_;
  std::shared_ptr<const setup::Samples> samples_;
};

// Of a `.trace` that was shipped; on any thread.
absl::StatusOr<std::shared_ptr<const Digest>> DigestOfSample(const std::string& path);

}  // namespace vramscope::ui
