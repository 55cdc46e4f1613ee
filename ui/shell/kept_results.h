// Where the window saves by itself what cannot be had again with a click: the results of programs
// and of runs on a GPU. The newest kMostResults stay, no more than kMostBytes of them.
//
//   KeptResults kept(KeptResults::DefaultFolder());
//   ASSIGN_OR_RETURN(QString path, kept.NewPath("train"));   // .../train-20261126-210312.trace
//   WriteTraceFile(*trace, path);
//   kept.Prune();
//
// Qt Core only; one thread.
#pragma once

#include <absl/status/statusor.h>

#include <QString>
#include <QStringList>

namespace vramscope::ui {

class KeptResults {
 public:
  static constexpr int kMostResults = 50;
  static constexpr qint64 kMostBytes = qint64{8} << 30;

  explicit KeptResults(QString folder) : folder_(std::move(folder)) {}

  // $XDG_STATE_HOME/vramscope/results, else ~/.local/state/vramscope/results.
  static QString DefaultFolder();

  const QString& folder() const { return folder_; }
  bool Has(const QString& path) const;
  // A file of the folder that does not exist yet; makes the folder, readable by its owner alone.
  absl::StatusOr<QString> NewPath(const QString& name) const;
  // Removes the oldest beyond the limits, never the newest; gives their paths.
  QStringList Prune() const;

 private:
  const QString folder_;
};

}  // namespace vramscope::ui
