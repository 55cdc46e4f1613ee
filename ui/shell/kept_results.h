// The folder in which the window automatically saves results that a click cannot restore: results
// of programs and of runs on a GPU. It holds the newest kMostResults, at most kMostBytes in all.
//
//   StoredResults kept(StoredResults::DefaultFolder());
//   ASSIGN_OR_RETURN(QString path, kept.NewPath("train"));   // .../train-20261126-210312.trace
//   WriteTraceFile(*trace, path);
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

  // $XDG_STATE_HOME/vramscope/results, else ~/.local/state/vramscope/results.
  static QString DefaultFolder();

  const QString& folder() const { return folder_; }
  bool Has(const QString& path) const;
  // Creates a new, empty file in the folder and returns its path. Creates the folder, readable by
  // its owner only.
  absl::StatusOr<QString> NewPath(const QString& name) const;
  // Removes the oldest results until the limits hold; never the newest. Returns the removed paths.
  QStringList Prune() const;

 private:
  const QString folder_;
};

}  // namespace vramscope::ui
