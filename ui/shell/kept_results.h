// The folder in which the window saves the results of programs and of runs on a GPU, because it
// cannot compute these results again. The folder keeps the newest kMostResults results, up to
// kMostBytes in total.
//
//   StoredResults kept(StoredResults::DefaultFolder());
//   ASSIGN_OR_RETURN(QString path, kept.NewPath("train"));   // .../train-20261126-210312.trace
//   WriteTraceFile(*trace, path.toStdString());
//   kept.Prune();
//
// Qt Core only; not thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <QString>
#include <QStringList>

namespace vramscope::ui {

class StoredResults {
 public:
  static constexpr int kMostResults = 50;
  static constexpr qint64 kMostBytes = qint64{8} << 30;

  explicit StoredResults(QString folder) : folder_(std::move(folder)) {}

  // Returns $XDG_STATE_HOME/vramscope/results or, without that variable,
  // ~/.local/state/vramscope/results.
  static QString DefaultFolder();

  const QString& folder() const { return folder_; }
  bool Has(const QString& path) const;
  // Creates a new, empty file in the folder and returns its path. If the folder does not exist,
  // creates it, readable only by its owner.
  absl::StatusOr<QString> NewPath(const QString& name) const;
  // Removes the oldest results until the limits are met, but never the newest result. Returns the
  // paths of the removed results.
  QStringList Prune() const;

 private:
  const QString folder_;
};

}  // namespace vramscope::ui
