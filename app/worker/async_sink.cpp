#include "app/worker/async_sink.h"

#include <utility>

namespace vramscope::worker {
namespace {

constexpr size_t kMaxQueued = 64;  // batches of the recorder; about 20 MB

}  // namespace

AsyncSink::AsyncSink(trace::EventSink& to) : to_(to), thread_([this] { Work(); }) {}

AsyncSink::~AsyncSink() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AsyncSink::Begin(const trace::TraceInfo& info) {
  Post([this, info] { to_.Begin(info); });
}

void AsyncSink::Strings(uint32_t first_id, std::span<const std::string> values) {
  Post([this, first_id, copy = std::vector<std::string>(values.begin(), values.end())] {
    to_.Strings(first_id, copy);
  });
}

void AsyncSink::Stacks(const trace::StackIncrement& increment) {
  Post([this, increment] { to_.Stacks(increment); });
}

void AsyncSink::Events(std::span<const trace::Event> events) {
  std::vector<trace::Event> batch;
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      batch = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  batch.assign(events.begin(), events.end());
  Post([this, batch = std::move(batch)]() mutable {
    to_.Events(batch);
    std::lock_guard lock(mutex_);
    spare_.push_back(std::move(batch));
  });
}

void AsyncSink::Activities(std::span<const trace::Activity> activities) {
  Post([this, batch = std::vector<trace::Activity>(activities.begin(), activities.end())] {
    to_.Activities(batch);
  });
}

void AsyncSink::End(bool complete, std::string_view message) {
  Post([this, complete, text = std::string(message)] { to_.End(complete, text); });
}

void AsyncSink::Post(std::function<void()> task) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < kMaxQueued; });
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void AsyncSink::Drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty() && !working_; });
}

void AsyncSink::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    working_ = true;
    lock.unlock();
    task();
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

}  // namespace vramscope::worker
