// Work beside the UI thread: the one way in which the window computes, reads and writes.
//
//   Jobs jobs_;
//   jobs_.Ask([trace](const JobToken& token) { return ComputeReclaim(*trace, token.cancel()); },
//             [this](const absl::StatusOr<Reclaim>& found) { Show(found); });
//
// The question runs on a thread of one pool, the answer is shown on the UI thread. An exception is
// a status: kResourceExhausted where memory ran out. A Jobs is the place of who asks (a page, a
// window): when it is destroyed, its jobs are cancelled and nothing is shown any more.
//
// UI thread only, except the question itself, which must hold all that it reads by value.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <QObject>
#include <QTimer>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "profiler/trace/catch_status.h"

namespace vramscope::ui {

// What a question sees of who asked it. Thread-safe.
class JobToken {
 public:
  const std::atomic<bool>* cancel() const { return &cancel_; }
  bool cancelled() const { return cancel_; }
  void setProgress(double fraction) const { fraction_ = fraction; }
  std::function<void(double)> progress() const {
    return [this](double fraction) { fraction_ = fraction; };
  }
  // Calls it on the UI thread, before the answer, if that is still wanted then.
  void post(std::function<void()> call) const;

 private:
  friend class Jobs;
  std::function<void(std::function<void()>)> post_;
  std::atomic<bool> cancel_ = false;
  mutable std::atomic<double> fraction_ = -1;  // -1: not known
};

// What becomes of an earlier question of the same key when a newer one is asked.
enum class Earlier : uint8_t {
  kCancelled,  // it is cancelled, and not shown
  kShown,      // it is finished and shown first; of those that wait only the newest is kept
  kKept,       // each is worked on and shown, in any order
};

struct JobOptions {
  uint64_t key = 0;  // of what: a document's number
  Earlier earlier = Earlier::kCancelled;
  // It waits for files, pipes or other processes: the pool gets one thread more for as long.
  bool blocks = false;
  int priority = 0;  // a higher one is begun first
  // In place of the answer, on the UI thread: a newer question, or cancel(), took its place.
  std::function<void()> dropped = {};
};

class Jobs : public QObject {
  Q_OBJECT
 public:
  explicit Jobs(QObject* parent = nullptr);
  ~Jobs() override;

  // `question`: R() or R(const JobToken&), on a thread of the pool; `show`: called with the
  // absl::StatusOr<R> (absl::Status where R is void or a status), on the UI thread.
  template <class Question, class Show>
  void Ask(Question question, Show show, JobOptions options = {});

  void cancel();              // all of them
  void cancel(uint64_t key);  // those of the key
  // Blocks until no question is worked on; its answers come from the event loop, if it goes on.
  // False: it took longer; < 0: as long as it takes.
  bool wait(int most_ms = -1);
  // Blocks until every question is answered, and shows the answers.
  void finish();

  bool busy() const { return !jobs_.empty(); }
  bool busy(uint64_t key) const;
  double fraction() const;  // of the newest; -1: not known

 Q_SIGNALS:
  void changed();  // busy or fraction

 private:
  struct Shared;
  struct Job {
    JobOptions options;
    JobToken token;
    std::function<void(const JobToken&)> work;  // throws nothing; on the thread
    std::function<void()> show;
    std::shared_ptr<Shared> shared;
    bool waits = false;  // for an earlier one of its key
  };
  class Task;

  void Add(std::shared_ptr<Job> job);
  void Start(const std::shared_ptr<Job>& job);
  void Landed(const std::shared_ptr<Job>& job);
  template <class Matches>
  bool Drop(Matches matches);

  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Job>> jobs_;  // running or waiting, oldest first
  QTimer poll_;
};

template <class Question, class Show>
void Jobs::Ask(Question question, Show show, JobOptions options) {
  const auto call = [](Question& asked, [[maybe_unused]] const JobToken& token) {
    if constexpr (std::is_invocable_v<Question&, const JobToken&>)
      return asked(token);
    else
      return asked();
  };
  using Result = std::decay_t<std::invoke_result_t<decltype(call), Question&, const JobToken&>>;
  using Answer = typename trace::internal::CatchResult<Result>::type;
  auto answer = std::make_shared<std::optional<Answer>>();
  auto job = std::make_shared<Job>();
  job->options = std::move(options);
  job->work = [call, answer, asked = std::move(question)](const JobToken& token) mutable {
    answer->emplace(trace::CatchStatus([&] { return call(asked, token); }));
  };
  job->show = [answer, show = std::move(show)]() mutable { show(*std::move(*answer)); };
  Add(std::move(job));
}

}  // namespace vramscope::ui
