// Reads one file after another beside the UI thread: progress, cancel, and pictures of what has
// come so far. A newer start takes the place of an older one, which is cancelled and never heard of
// again.
//
//   auto* loader = new FileLoader(importers::OpenTraceFile, this);
//   connect(loader, &FileLoader::loaded, this, ...);
//   loader->start(path, {.device = 1});
//
// UI thread only; the signals come there.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>

#include "profiler/importers/open.h"
#include "profiler/trace/outline.h"
#include "ui/jobs/jobs.h"

namespace vramscope::ui {

using TracePtr = std::shared_ptr<const trace::Trace>;
using OpenFunction =
    std::function<absl::StatusOr<TracePtr>(const std::string&, const importers::OpenOptions&)>;

class FileLoader : public QObject {
  Q_OBJECT
 public:
  explicit FileLoader(OpenFunction open, QObject* parent = nullptr);
  ~FileLoader() override;

  // progress, cancel and preview of `part` are the loader's own.
  void start(const QString& path, const importers::OpenOptions& part);
  void cancel();
  bool busy() const { return job_ != nullptr; }
  QString path() const;
  double fraction() const;  // 0 .. 1
  bool cancelling() const;
  // No further picture until this one is on the screen.
  void previewShown();

 Q_SIGNALS:
  void progressed(double fraction);
  // What the index of a `.trace` tells, before anything of it is read.
  void outlined(const std::shared_ptr<const vramscope::trace::Outline>& outline);
  void preview(const std::shared_ptr<const vramscope::trace::Trace>& trace);
  void loaded(const QString& path, const std::shared_ptr<const vramscope::trace::Trace>& trace);
  void notLoaded(const QString& path, const absl::Status& status);

 private:
  struct Job;
  void Drop();  // the job is cancelled and not heard of again
  void Ended(const absl::StatusOr<TracePtr>& result);

  OpenFunction open_;
  std::shared_ptr<Job> job_;
  QTimer poll_;
  QElapsedTimer since_cancel_;
  Jobs jobs_;
};

}  // namespace vramscope::ui
