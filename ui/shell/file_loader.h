// Reads one file at a time on a pool thread. It reports progress, can be cancelled, and emits
// previews of the part that has been read. start() cancels a read in progress, which then emits no
// more signals.
//
//   auto* loader = new FileLoader(importers::OpenTraceFile, this);
//   connect(loader, &FileLoader::loaded, this, ...);
//   loader->start(path, {.device = 1});
//
// UI thread only. The signals are emitted on that thread.
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

  // The loader itself sets the members progress, cancel and preview of `part`.
  void start(const QString& path, const importers::OpenOptions& part);
  void cancel();
  bool busy() const { return job_ != nullptr; }
  QString path() const;
  double fraction() const;  // 0 .. 1
  bool cancelling() const;
  // Call it when a preview is on the screen. The next preview is made only after this call.
  void previewShown();

 Q_SIGNALS:
  void progressed(double fraction);
  // Emitted when the index of a `.trace` file has been read, before its events.
  void outlined(const std::shared_ptr<const vramscope::trace::Outline>& outline);
  void preview(const std::shared_ptr<const vramscope::trace::Trace>& trace);
  void loaded(const QString& path, const std::shared_ptr<const vramscope::trace::Trace>& trace);
  void notLoaded(const QString& path, const absl::Status& status);

 private:
  struct Job;
  void Drop();  // cancels the job; it emits no more signals
  void Ended(const absl::StatusOr<TracePtr>& result);

  OpenFunction open_;
  std::shared_ptr<Job> job_;
  QTimer poll_;
  QElapsedTimer since_cancel_;
  Jobs jobs_;
};

}  // namespace vramscope::ui
