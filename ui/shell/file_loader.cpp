#include "ui/shell/file_loader.h"

#include <QFile>
#include <QThread>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "profiler/trace/catch_status.h"

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 60;
// A read that does not return (a pipe that nobody writes to) is given up so long after a cancel.
constexpr int kGiveUpMs = 1500;
constexpr int kGoneMs = 300;  // that the end of the window waits for reads, at most

}  // namespace

// Shared with the thread that reads, which may outlive the loader.
struct FileLoader::Job {
  QString path;
  std::atomic<bool> cancel = false;
  std::atomic<double> fraction = 0;
  std::atomic<bool> preview_pending = false;
  absl::StatusOr<TracePtr> result = absl::UnknownError("");  // the reading thread's until `done`
  std::atomic<bool> done = false;
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
    if (!job_) return;
    if (job_->done) return Ended(job_, job_->result);
    if (job_->cancel && since_cancel_.elapsed() > kGiveUpMs) {
      Drop();
      return Ended(job_, absl::CancelledError("opening was cancelled"));
    }
    Q_EMIT progressed(job_->fraction);
  });
}

FileLoader::~FileLoader() {
  Drop();
  // A read that looks at its cancel is over before the program is; one that hangs is left.
  for (int ms = 0; ms < kGoneMs; ++ms) {
    if (std::ranges::all_of(started_, [](const auto& job) { return job->done.load(); })) return;
    QThread::msleep(1);
  }
}

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
  std::erase_if(started_, [](const auto& each) { return each->done.load(); });
  started_.push_back(job);
  importers::OpenOptions options = part;
  options.cancel = &job->cancel;
  options.progress = [job](double fraction) { job->fraction = fraction; };
  options.preview = [this, job](TracePtr trace) {
    if (job->cancel || job->preview_pending.exchange(true)) return;
    job->Post([this, job, trace = std::move(trace)] {
      if (job_ == job && !job->cancel) Q_EMIT preview(trace);
    });
  };
  const auto read = [this, job, open = open_, options]() -> absl::StatusOr<TracePtr> {
    const std::string file = QFile::encodeName(job->path).toStdString();
    if (auto outline = trace::ReadOutline(file); outline.ok())
      job->Post([this, job, told = std::make_shared<const trace::Outline>(*std::move(outline))] {
        if (job_ == job && !job->cancel) Q_EMIT outlined(told);
      });
    return open(file, options);
  };
  poll_.start(kPollMs);
  // A thread of its own: a pool's would be missing elsewhere for as long as a read hangs.
  const absl::Status started = trace::CatchStatus([&] {
    std::thread([this, job, read] {
      job->result = trace::CatchStatus(read);
      job->done = true;
      // Sooner than the poll; where memory has run out that has to do.
      trace::CatchStatus([&] {
        job->Post([this, job] { Ended(job, job->result); });
      }).IgnoreError();
    }).detach();
  });
  if (started.ok()) return;
  job->result = started;
  job->done = true;  // the poll finds it
}

void FileLoader::cancel() {
  if (!job_ || job_->cancel) return;
  job_->cancel = true;
  since_cancel_.start();
}

QString FileLoader::path() const { return job_ ? job_->path : QString(); }
double FileLoader::fraction() const { return job_ ? job_->fraction.load() : 0; }
bool FileLoader::cancelling() const { return job_ && job_->cancel; }

void FileLoader::previewShown() {
  if (job_) job_->preview_pending = false;
}

void FileLoader::Ended(std::shared_ptr<Job> job, const absl::StatusOr<TracePtr>& result) {
  if (job != job_) return;
  job_ = nullptr;
  poll_.stop();
  // What they have read is large.
  std::erase_if(started_, [](const auto& each) { return each->done.load(); });
  if (result.ok()) {
    Q_EMIT loaded(job->path, *result);
  } else {
    Q_EMIT notLoaded(job->path, result.status());
  }
}

}  // namespace vramscope::ui
