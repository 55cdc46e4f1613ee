// Plans the saving of each technique in the background. A separate worker does this, so that a
// toggle never has to wait for it. Results are cached by configuration.
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

  // Emits the saving of every technique for this configuration. Known savings are emitted
  // immediately, the others as soon as they are planned.
  void update(const run::RunConfig& config);
  // Returns true if the shown or expected savings belong to this configuration.
  bool shows(const run::RunConfig& config) const;
  // Plans the savings of the techniques `ids` first, because their rows are visible.
  void prefer(const QStringList& ids);
  // Calls pause(), then replaces all figures by `instead`, with the tool tip `why`.
  void forget(const QString& instead, const QString& why);
  // For a window without LibTorch: takes the figures from sample runs. A configuration without a
  // sample run then has no figure. If `samples` is null, everything is planned.
  void setSamples(std::shared_ptr<const setup::Samples> samples);
  void pause();  // cancels the plan in progress and clears the queue, but keeps known results
  bool idle() const;

 Q_SIGNALS:
  // Emitted with the saving of the technique `id`, or with the text `instead` if there is no
  // saving.
  void saving(const QString& id, std::optional<vramscope::ui::Saving> saving,
              const QString& instead, const QString& why);
  // Emitted with a complete plan of a configuration that the user can reach by a toggle.
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
  void Order();  // sorts the queue: the preferred techniques first
  void Publish();
  void Next();
  void Ended(quint64 tag, std::shared_ptr<const trace::Trace> trace, const QString& error);
  // Makes the digest of `current_` by calling `make` on a pool thread.
  void DigestLater(std::function<absl::StatusOr<std::shared_ptr<const Digest>>()> make);
  void Done(Result result);
  void Store(const QByteArray& key, Result result);

  QString program_;
  std::unique_ptr<WorkerClient> client_;
  QHash<QByteArray, Result> results_;
  QHash<QByteArray, int> lost_;  // how often each plan (by key) has lost its worker
  QList<Want> wants_;
  QByteArray shown_;  // the configuration to which `wants_` belongs
  QStringList preferred_;
  QQueue<run::RunConfig> queue_;
  run::RunConfig current_;
  QByteArray current_key_;
  quint64 current_tag_ = 0;
  bool given_up_ = false;
  Jobs jobs_;
  std::shared_ptr<const setup::Samples> samples_;
};

// Returns the digest of a sample run's `.trace` file. Thread-safe.
absl::StatusOr<std::shared_ptr<const Digest>> DigestOfSample(const std::string& path);

}  // namespace vramscope::ui
