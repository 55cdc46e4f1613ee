// An EventSink that passes everything on to another sink, in order, on its own thread. Thus the run
// need not wait for encoding, compression and the pipe.
//
//   AsyncSink sink(writer);
//   run(config, sink);
//   sink.Post([&] { writer.Flush(); SendProgress(); });   // after the events so far
//   sink.Drain();                                         // waits until all is passed on
//
// One producer thread. The queue is bounded: a producer that is too far ahead waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "profiler/trace/event_sink.h"

namespace vramscope::worker {

class AsyncSink final : public trace::EventSink {
 public:
  explicit AsyncSink(trace::EventSink& to);
  ~AsyncSink() override;  // waits until the queue is empty

  void Begin(const trace::TraceInfo& info) override;
  void Strings(uint32_t first_id, std::span<const std::string> values) override;
  void Stacks(const trace::StackIncrement& increment) override;
  void Events(std::span<const trace::Event> events) override;
  void Activities(std::span<const trace::Activity> activities) override;
  void End(bool complete, std::string_view message) override;

  void Post(std::function<void()> task);
  void Drain();

 private:
  void Work();

  trace::EventSink& to_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::vector<trace::Event>> spare_;  // reusable buffers of finished batches
  bool working_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace vramscope::worker
