// The interface of the training loop: runs a RunConfig on a backend and reports events. It has no
// LibTorch, Qt or protobuf types and throws no exceptions.
//
//   Trainer t;  // one per process; the first Run() starts LibTorch
//   absl::Status s = t.Run(config, sink, {.cancel = &cancelled, .progress = show});
//
// A process cannot use both plan and cuda, because its CUDA libraries are either the emulated
// platform's or real ones. Run() is called from one thread; `cancel` may be set from any thread.
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/run/run_config.h"
#include "profiler/trace/event_sink.h"

namespace vramscope::trainer {

struct RunHooks {
  const std::atomic<bool>* cancel = nullptr;  // polled at every op
  std::function<void(int step, int steps, const std::string& text)> progress = {};
  // True: on a backend that computes nothing, a micro-batch that begins in the same state as an
  // earlier one is not executed; the earlier one's allocations and work are repeated. False: every
  // micro-batch is executed, with the same events (tests compare both).
  bool repeat_from_tape = true;
  int* repeated = nullptr;  // counts the repeated micro-batches
};

struct TrainerOptions {
  // True: the CUDA libraries of this process are those of a real GPU, for backend=cuda. False: they
  // are the emulated platform's, if there are any, for backend=plan.
  bool gpu_is_there = false;
};

class Trainer {
 public:
  explicit Trainer(const TrainerOptions& options = {});
  ~Trainer();
  // Loads LibTorch and plans a tiny model, to move the startup cost out of the first Run. Optional.
  void WarmUp();
  // The sink receives Begin, strings, events and End(complete, message), even if the run fails or
  // is cancelled (kCancelled). Errors name the key, op and module that they come from.
  absl::Status Run(const run::RunConfig& config, trace::EventSink& sink, const RunHooks& hooks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
