// Answers to questions that change faster than they can be answered (a cursor that is dragged): one
// is being worked out beside the UI thread, the newest waits, those between are left out.
//
//   Newest<LiveSet> at_cursor_;
//   at_cursor_.ask([trace, time] { return LiveAt(*trace, time); }, [this](const LiveSet& l) {...});
//
// UI thread only, except the question itself. What is under way when it is destroyed, or forgotten,
// is not told.
#pragma once

#include <QFutureWatcher>
#include <QtConcurrent/QtConcurrentRun>
#include <functional>
#include <memory>
#include <utility>

#include "profiler/trace/catch_status.h"

namespace vramscope::ui {

template <class T>
class Newest {
 public:
  using Question = std::function<T()>;
  using Tell = std::function<void(const T&)>;

  Newest() {
    QObject::connect(&watcher_, &QFutureWatcherBase::finished, &watcher_, [this] {
      const Tell tell = std::exchange(tell_, {});
      const absl::StatusOr<std::shared_ptr<const T>> answer =
          trace::CatchStatus([&] { return watcher_.result(); });
      if (next_) {
        Start(std::exchange(next_, {}), std::exchange(next_tell_, {}));
        // The picture follows while it is dragged, if only a little behind.
      }
      // Where memory ran out the picture stays as it was.
      if (tell && answer.ok()) tell(**answer);
    });
  }
  void ask(Question question, Tell tell) {
    if (watcher_.isRunning() || tell_) {
      next_ = std::move(question);
      next_tell_ = std::move(tell);
      return;
    }
    Start(std::move(question), std::move(tell));
  }
  void forget() {
    tell_ = {};
    next_ = {};
    next_tell_ = {};
  }
  bool busy() const { return static_cast<bool>(tell_) || static_cast<bool>(next_); }

 private:
  void Start(Question question, Tell tell) {
    tell_ = std::move(tell);
    watcher_.setFuture(QtConcurrent::run([question = std::move(question)] {
      return trace::CatchStatus(
          [&]() -> std::shared_ptr<const T> { return std::make_shared<const T>(question()); });
    }));
  }

  QFutureWatcher<absl::StatusOr<std::shared_ptr<const T>>> watcher_;
  Question next_;
  Tell tell_, next_tell_;
};

}  // namespace vramscope::ui
