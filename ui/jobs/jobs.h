// Background work: all computing, reading and writing of the window runs through this class.
//
//   Jobs jobs_;
//   jobs_.Ask([trace](const JobToken& token) { return ComputeReclaim(*trace, token.cancel()); },
//             [this](const absl::StatusOr<Reclaim>& found) { Show(found); });
//
// The question runs on a thread of a shared pool, and its answer is shown on the UI thread.
// An exception becomes a status (kResourceExhausted if memory ran out). Each page or window
// that calls Ask() owns a Jobs. Destroying it cancels its jobs, and their answers are not
// shown.
//
// UI thread only, except for the question, which must capture by value all that it reads.
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

// A question's connection to its job: cancellation, progress and post(). Thread-safe.
class JobToken {
 public:
  const std::atomic<bool>* cancel() const { return &cancel_; }
  bool cancelled() const { return cancel_; }
  void setProgress(double fraction) const { fraction_ = fraction; }
  std::function<void(double)> progress() const {
    return [this](double fraction) { fraction_ = fraction; };
  }
  // Makes the UI thread call `call` before it shows the answer, unless the job is dropped
  // first.
  void post(std::function<void()> call) const;

 private:
  friend class Jobs;
  std::function<void(std::function<void()>)> post_;
  std::atomic<bool> cancel_ = false;
  mutable std::atomic<double> fraction_ = -1;  // -1: not known
};

// What happens to an earlier question when a question with the same key is asked.
enum class Earlier : uint8_t {
  kCancelled,  // the earlier question is cancelled, and its answer is not shown
  kShown,      // the earlier one is shown first; of waiting questions, only the newest is kept
  kAll,        // all questions run and all answers are shown, in any order
};

struct JobOptions {
  uint64_t key = 0;  // questions on one subject have the same key, for example a document's number
  Earlier earlier = Earlier::kCancelled;
  // Whether the question waits for files, pipes or other processes. While it runs, the pool has one
  // more thread.
  bool blocks = false;
  int priority = 0;  // jobs with a higher priority start first
  // Called on the UI thread instead of `show` if a newer question or cancel() drops the job.
  std::function<void()> dropped = {};
};

class Jobs : public QObject {
  Q_OBJECT
 public:
  explicit Jobs(QObject* parent = nullptr);
  ~Jobs() override;

  // Calls `question` on a thread of the pool, without arguments or with a JobToken. Then calls
  // `show` on the UI thread. If R is the question's result type, `show` gets absl::StatusOr<R>, or
  // absl::Status if R is void or absl::Status.
  template <class Question, class Show>
  void Ask(Question question, Show show, JobOptions options = {});

  void cancel();              // all jobs
  void cancel(uint64_t key);  // the jobs with this key
  // Blocks until no question runs any more. The answers are shown later, when the event loop runs.
  // Returns false if this takes longer than `most_ms`. A negative `most_ms` is no limit.
  bool wait(int most_ms = -1);
  // Blocks until every question is answered, and shows the answers.
  void finish();

  bool busy() const { return !jobs_.empty(); }
  bool busy(uint64_t key) const;
  double fraction() const;  // progress of the newest job; -1: not known

 Q_SIGNALS:
  void changed();  // busy() or fraction() has changed

 private:
  struct Shared;
  struct Job {
    JobOptions options;
    JobToken token;
    std::function<void(const JobToken&)> work;  // does not throw; runs on a thread of the pool
    std::function<void()> show;
    std::shared_ptr<Shared> shared;
    bool waits = false;  // the job waits for an earlier job with the same key
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
