#include "ui/shell/file_loader.h"

#include <QFile>
#include <atomic>
#include <utility>

#include "profiler/base/i18n.h"

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 60;
// A cancelled read that hangs (for example in a pipe without a writer) is abandoned after this
// time.
constexpr int kGiveUpMs = 1500;
constexpr int kGoneMs = 300;  // the destructor waits at most this long for reads to end

}  // namespace

// State that is shared with the reading thread, which may outlive the loader.
struct FileLoader::Job {
  QString path;
  std::atomic<bool> cancel = false;
  std::atomic<double> fraction = 0;
  std::atomic<bool> preview_pending = false;
};

FileLoader::FileLoader(OpenFunction open, QObject* parent)
    : QObject(parent), open_(std::move(open)) {
  connect(&poll_, &QTimer::timeout, this, [this] {
    if (!job_) return;
    if (job_->cancel && since_cancel_.elapsed() > kGiveUpMs) {
      jobs_.cancel();
      return Ended(absl::CancelledError(i18n::Text("opening was cancelled")));
    }
    Q_EMIT progressed(job_->fraction);
  });
}

FileLoader::~FileLoader() {
  Drop();
  // Wait for reads that check their cancel flag. Unless they hang, they end within this time.
  jobs_.wait(kGoneMs);
}

void FileLoader::Drop() {
  if (job_) job_->cancel = true;
  jobs_.cancel();
}

void FileLoader::start(const QString& path, const importers::OpenOptions& part) {
  Drop();
  auto job = std::make_shared<Job>();
  job->path = path;
  job_ = job;
  const auto read = [this, job, part, open = open_](const JobToken& token) {
    importers::OpenOptions options = part;
    options.cancel = &job->cancel;
    options.progress = [job](double fraction) { job->fraction = fraction; };
    options.preview = [this, job, &token](TracePtr trace) {
      if (job->cancel || job->preview_pending.exchange(true)) return;
      token.post([this, job, trace = std::move(trace)] {
        if (!job->cancel) Q_EMIT preview(trace);
      });
    };
    const std::string file = QFile::encodeName(job->path).toStdString();
    if (auto outline = trace::ReadOutline(file); outline.ok())
      token.post([this, told = std::make_shared<const trace::Outline>(*std::move(outline))] {
        Q_EMIT outlined(told);
      });
    return open(file, options);
  };
  poll_.start(kPollMs);
  jobs_.Ask(read, [this](const absl::StatusOr<TracePtr>& result) { Ended(result); },
            {.blocks = true});
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

void FileLoader::Ended(const absl::StatusOr<TracePtr>& result) {
  const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
  poll_.stop();
  if (result.ok()) {
    Q_EMIT loaded(job->path, *result);
  } else {
    Q_EMIT notLoaded(job->path, result.status());
  }
}

}  // namespace vramscope::ui
