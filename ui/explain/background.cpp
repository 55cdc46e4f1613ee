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
    std::function<void()> show;
    if (absl::StatusOr<std::function<void()>> made =
            trace::CatchStatus([&]() -> std::function<void()> { return job(running->token); });
        made.ok())
      show = *std::move(made);
    else
      show = [running, why = std::string(made.status().message())] {
        Q_EMIT running->owner->failed(QString::fromStdString(why));
      };
    std::lock_guard lock(running->mutex);
    if (running->owner == nullptr) return;
    Background* owner = running->owner;
    QMetaObject::invokeMethod(
        owner,
        [owner, running, show = std::move(show)] {
          if (owner->running_ != running) return;
          owner->running_ = nullptr;
          owner->poll_.stop();
          if (show) show();
          Q_EMIT owner->changed();
        },
        Qt::QueuedConnection);
  });
  poll_.start(kPollMs);
  Q_EMIT changed();
}

double Background::fraction() const { return running_ ? running_->token.fraction_.load() : -1; }

}  // namespace vramscope::ui
