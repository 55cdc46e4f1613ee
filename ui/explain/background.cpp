#include "ui/explain/background.h"

#include <QThreadPool>
#include <mutex>
#include <string>
#include <utility>

#include "profiler/trace/catch_status.h"

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 80;

// One thread for all pages: what is looked at comes first anyway, and the rest of the computer
// stays for the run.
QThreadPool* Pool() {
  static QThreadPool* pool = [] {
    auto* made = new QThreadPool(QThreadPool::globalInstance());
    made->setMaxThreadCount(1);
    return made;
  }();
  return pool;
}

}  // namespace

// Shared with the thread, which may outlive the page.
struct Background::Running {
  BackgroundToken token;
  std::mutex mutex;
  Background* owner = nullptr;  // guarded by mutex; null: gone or not wanted any more
  // Shows it on the owner's thread.
  static void Post(const std::shared_ptr<Running>& running,
                   const absl::StatusOr<std::function<void()>>& show);
};

Background::Background(QObject* parent) : QObject(parent) {
  connect(&poll_, &QTimer::timeout, this, &Background::changed);
}

Background::~Background() { cancel(); }

void Background::cancel() {
  if (!running_) return;
  running_->token.cancel_ = true;
  {
    std::lock_guard lock(running_->mutex);
    running_->owner = nullptr;
  }
  running_ = nullptr;
  poll_.stop();
  Q_EMIT changed();
}

void Background::run(Job job) {
  cancel();
  auto running = std::make_shared<Running>();
  running->owner = this;
  running_ = running;
  Pool()->start([running, job = std::move(job)] {
    if (running->token.cancelled()) return;
    absl::StatusOr<std::function<void()>> show =
        trace::CatchStatus([&]() -> std::function<void()> { return job(running->token); });
    // The page waits for it, whatever came of it.
    trace::DoUntilItWorks([&] { running->Post(running, show); });
  });
  poll_.start(kPollMs);
  Q_EMIT changed();
}

void Background::Running::Post(const std::shared_ptr<Running>& running,
                               const absl::StatusOr<std::function<void()>>& show) {
  std::lock_guard lock(running->mutex);
  if (running->owner == nullptr) return;
  Background* owner = running->owner;
  QMetaObject::invokeMethod(
      owner,
      [owner, running, show] {
        if (owner->running_ != running) return;
        owner->running_ = nullptr;
        owner->poll_.stop();
        if (!show.ok())
          Q_EMIT owner->failed(QString::fromStdString(std::string(show.status().message())));
        else if (*show)
          (*show)();
        Q_EMIT owner->changed();
      },
      Qt::QueuedConnection);
}

double Background::fraction() const { return running_ ? running_->token.fraction_.load() : -1; }

}  // namespace vramscope::ui
