// Runs the training loop of a RunConfig on a backend and reports its events. This header uses no
// types of LibTorch, Qt or protobuf, and no function throws.
//
//   Trainer t;  // one per process; the first Run() starts LibTorch
//   absl::Status s = t.Run(config, sink, {.cancel = &cancelled, .progress = show});
//
// A process runs either backend=plan or backend=cuda: its CUDA libraries are either emulated or
// real. Run() is called from one thread; `cancel` may be set from any thread.
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
  // For backends that compute nothing: what the loop does if a micro-batch begins in the same state
  // as an earlier micro-batch. True: it repeats the earlier micro-batch's events. False: it
  // executes the micro-batch. Both produce the same events (tests compare them).
  bool repeat_from_tape = true;
  int* repeated = nullptr;  // counts the repeated micro-batches
};

struct TrainerOptions {
  // True: this process has a real GPU's CUDA libraries, for backend=cuda. False: it has the
  // emulated platform's CUDA libraries or none, for backend=plan.
  bool gpu_is_there = false;
};

class Trainer {
 public:
  explicit Trainer(const TrainerOptions& options = {});
  ~Trainer();
  // Optional. Loads LibTorch and plans a tiny model, so that the first Run() starts faster.
  void WarmUp();
  // The sink receives Begin, strings, events and End(complete, message), even if the run fails or
  // is cancelled (kCancelled). Error messages name the key, operator and module.
  absl::Status Run(const run::RunConfig& config, trace::EventSink& sink, const RunHooks& hooks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
