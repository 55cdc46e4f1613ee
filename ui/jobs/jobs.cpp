#include "ui/jobs/jobs.h"

#include <QCoreApplication>
#include <QEvent>
#include <QRunnable>
#include <QThreadPool>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ui/jobs/pool.h"

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 80;
// At exit, waits at most this long for jobs with JobOptions::blocks. Such a job may hang while it
// reads from a pipe or a network file system.
constexpr int kMostAtExitMs = 300;

std::atomic<int> computing = 0;  // tasks without JobOptions::blocks

}  // namespace

QThreadPool& JobPool() {
  static QThreadPool* const pool = [] {
    auto* made = new QThreadPool;  // never destroyed: the destructor would wait for all tasks
    made->setMaxThreadCount(static_cast<int>(std::max(2u, std::thread::hardware_concurrency())));
    qAddPostRoutine([] {
      JobPool().clear();
      for (int left = computing; left > 0; left = computing) computing.wait(left);
      JobPool().waitForDone(kMostAtExitMs);
    });
    return made;
  }();
  return *pool;
}

// State that is shared with the pool's threads, which may outlive the Jobs object.
struct Jobs::Shared {
  std::mutex mutex;
  std::condition_variable idle;
  Jobs* owner = nullptr;  // guarded by mutex; null: destroyed
  int working = 0;        // guarded by mutex; tasks in the pool, whether started or not
};

class Jobs::Task : public QRunnable {
 public:
  explicit Task(std::shared_ptr<Job> job) : job_(std::move(job)) {
    if (job_->options.blocks)
      JobPool().releaseThread();
    else
      ++computing;
    const std::lock_guard lock(job_->shared->mutex);
    ++job_->shared->working;
  }
  // Also runs for a task that never started, if QThreadPool::clear() destroys it.
  ~Task() override {
    {
      const std::lock_guard lock(job_->shared->mutex);
      if (--job_->shared->working == 0) job_->shared->idle.notify_all();
    }
    if (job_->options.blocks) {
      JobPool().reserveThread();
    } else {
      --computing;
      computing.notify_all();
    }
  }

  void run() override {
    if (job_->token.cancelled()) return;
    job_->work(job_->token);
    job_->work = nullptr;  // frees captured data, which may be large, outside the UI thread
    // If memory runs out, try again until it works, because the caller waits for the result.
    trace::DoUntilItWorks([this] {
      const std::lock_guard lock(job_->shared->mutex);
      Jobs* const owner = job_->shared->owner;
      if (owner == nullptr || job_->token.cancelled()) return;
      QMetaObject::invokeMethod(
          owner, [owner, job = job_] { owner->Landed(job); }, Qt::QueuedConnection);
    });
  }

 private:
  const std::shared_ptr<Job> job_;
};

void JobToken::post(std::function<void()> call) const { post_(std::move(call)); }

Jobs::Jobs(QObject* parent) : QObject(parent), shared_(std::make_shared<Shared>()) {
  shared_->owner = this;
  connect(&poll_, &QTimer::timeout, this, &Jobs::changed);
}

Jobs::~Jobs() {
  for (const auto& job : jobs_) job->token.cancel_ = true;
  const std::lock_guard lock(shared_->mutex);
  shared_->owner = nullptr;
}

void Jobs::Add(std::shared_ptr<Job> job) {
  job->shared = shared_;
  job->token.post_ = [shared = shared_, of = std::weak_ptr(job)](std::function<void()> call) {
    const std::lock_guard lock(shared->mutex);
    Jobs* const owner = shared->owner;
    if (owner == nullptr) return;
    QMetaObject::invokeMethod(
        owner,
        [owner, of, call = std::move(call)] {
          if (std::ranges::count(owner->jobs_, of.lock()) > 0) call();
        },
        Qt::QueuedConnection);
  };
  const auto same = [key = job->options.key](const auto& other) {
    return other->options.key == key;
  };
  if (job->options.earlier == Earlier::kCancelled) Drop(same);
  if (job->options.earlier == Earlier::kShown) {
    Drop([&](const auto& other) { return same(other) && other->waits; });
    job->waits = std::ranges::any_of(jobs_, same);
  }
  jobs_.push_back(job);
  if (!job->waits) Start(job);
  if (!poll_.isActive()) poll_.start(kPollMs);
  Q_EMIT changed();
}

// Throws to the caller of Ask() if memory runs out.
void Jobs::Start(const std::shared_ptr<Job>& job) {
  job->waits = false;
  try {
    auto task = std::make_unique<Task>(job);
    JobPool().start(task.get(), job->options.priority);
    static_cast<void>(task.release());  // now owned by the pool
  } catch (...) {
    std::erase(jobs_, job);
    if (jobs_.empty()) poll_.stop();
    throw;
  }
}

void Jobs::Landed(const std::shared_ptr<Job>& job) {
  if (std::erase(jobs_, job) == 0) return;  // the job was dropped or replaced by a newer one
  if (jobs_.empty()) poll_.stop();
  const auto next = std::ranges::find_if(jobs_, [&](const auto& other) {
    return other->waits && other->options.key == job->options.key;
  });
  if (next != jobs_.end()) Start(std::shared_ptr<Job>(*next));
  Q_EMIT changed();
  job->show();  // must be last, because it may destroy this object
}

template <class Matches>
bool Jobs::Drop(Matches matches) {
  std::vector<std::shared_ptr<Job>> dropped;
  std::erase_if(jobs_, [&](const auto& job) {
    if (!matches(job)) return false;
    dropped.push_back(job);
    return true;
  });
  for (const auto& job : dropped) job->token.cancel_ = true;
  if (jobs_.empty()) poll_.stop();
  for (const auto& job : dropped)
    if (job->options.dropped) job->options.dropped();
  return !dropped.empty();
}

void Jobs::cancel() {
  if (Drop([](const auto&) { return true; })) Q_EMIT changed();
}

void Jobs::cancel(uint64_t key) {
  if (Drop([key](const auto& job) { return job->options.key == key; })) Q_EMIT changed();
}

bool Jobs::wait(int most_ms) {
  std::unique_lock lock(shared_->mutex);
  const auto idle = [this] { return shared_->working == 0; };
  if (most_ms >= 0) return shared_->idle.wait_for(lock, std::chrono::milliseconds(most_ms), idle);
  shared_->idle.wait(lock, idle);
  return true;
}

void Jobs::finish() {
  while (busy()) {  // showing an answer may start the next job
    wait();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

bool Jobs::busy(uint64_t key) const {
  return std::ranges::any_of(jobs_, [key](const auto& job) { return job->options.key == key; });
}

double Jobs::fraction() const { return jobs_.empty() ? -1 : jobs_.back()->token.fraction_.load(); }

}  // namespace vramscope::ui
