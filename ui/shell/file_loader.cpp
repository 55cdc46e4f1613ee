#include "ui/shell/file_loader.h"

#include <QFile>
#include <QThreadPool>
#include <atomic>
#include <mutex>
#include <utility>

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 60;

}  // namespace

// Shared with the thread that reads, which may outlive the loader.
struct FileLoader::Job {
  QString path;
  std::atomic<bool> cancel = false;
  std::atomic<double> fraction = 0;
  std::atomic<bool> preview_pending = false;
  std::mutex mutex;
  FileLoader* loader = nullptr;  // guarded by mutex; null: gone

  template <class Call>
  void Post(Call call) {
    std::lock_guard lock(mutex);
    if (loader != nullptr) QMetaObject::invokeMethod(loader, std::move(call), Qt::QueuedConnection);
  }
};

FileLoader::FileLoader(OpenFunction open, QObject* parent)
    : QObject(parent), open_(std::move(open)) {
  connect(&poll_, &QTimer::timeout, this, [this] {
    if (job_) Q_EMIT progressed(job_->fraction);
  });
}

FileLoader::~FileLoader() { Drop(); }

void FileLoader::Drop() {
  if (!job_) return;
  job_->cancel = true;
  std::lock_guard lock(job_->mutex);
  job_->loader = nullptr;
}

void FileLoader::start(const QString& path, const importers::OpenOptions& part) {
  Drop();
  auto job = std::make_shared<Job>();
  job->path = path;
  job->loader = this;
  job_ = job;
  importers::OpenOptions options = part;
  options.cancel = &job->cancel;
  options.progress = [job](double fraction) { job->fraction = fraction; };
  options.preview = [this, job](TracePtr trace) {
    if (job->cancel || job->preview_pending.exchange(true)) return;
    job->Post([this, job, trace = std::move(trace)] {
      if (job_ == job && !job->cancel) Q_EMIT preview(trace);
    });
  };
  QThreadPool::globalInstance()->start([this, job, open = open_, options] {
    const std::string file = QFile::encodeName(job->path).toStdString();
    if (auto outline = trace::ReadOutline(file); outline.ok())
      job->Post([this, job, told = std::make_shared<const trace::Outline>(*std::move(outline))] {
        if (job_ == job && !job->cancel) Q_EMIT outlined(told);
      });
    absl::StatusOr<TracePtr> result = open(file, options);
    job->Post([this, job, result = std::move(result)] { Ended(job, result); });
  });
  poll_.start(kPollMs);
}

void FileLoader::cancel() {
  if (job_) job_->cancel = true;
}

QString FileLoader::path() const { return job_ ? job_->path : QString(); }
double FileLoader::fraction() const { return job_ ? job_->fraction.load() : 0; }
bool FileLoader::cancelling() const { return job_ && job_->cancel; }

void FileLoader::previewShown() {
  if (job_) job_->preview_pending = false;
}

void FileLoader::Ended(const std::shared_ptr<Job>& job, const absl::StatusOr<TracePtr>& result) {
  if (job != job_) return;
  job_ = nullptr;
  poll_.stop();
  if (result.ok()) {
    Q_EMIT loaded(job->path, *result);
  } else {
    Q_EMIT notLoaded(job->path, result.status());
  }
}

}  // namespace vramscope::ui
