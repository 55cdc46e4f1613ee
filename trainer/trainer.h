// The training loop's front door: runs a RunConfig on a backend and reports events. No LibTorch, Qt
// or protobuf type crosses it, and no exception does.
//
//   Trainer t;                                     // one a process; LibTorch starts on first Run
//   absl::Status s = t.Run(config, sink, {.cancel = &cancelled, .progress = show});
//
// plan and cuda can't live in one process, whose CUDA libraries are the emulated platform's or
// real. Run() is called from one thread; `cancel` may be set from any.
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
  // Where nothing is computed, a micro-batch that begins like an earlier one is not executed again:
  // its requests are repeated. Off: every one is executed, with the same events (tests compare).
  bool repeat_from_tape = true;
  int* repeated = nullptr;  // counts the micro-batches that were
};

struct TrainerOptions {
  // The CUDA libraries of this process are a card's that is there: backend=cuda. Else they are the
  // emulated platform's, where they are there at all: backend=plan.
  bool card_is_there = false;
};

class Trainer {
 public:
  explicit Trainer(const TrainerOptions& options = {});
  ~Trainer();
  // Loads LibTorch and plans a model that is hardly there: what a first Run would pay for.
  // Optional.
  void WarmUp();
  // Sink sees Begin, strings, events, End(complete, message), also when the run fails or is
  // cancelled (kCancelled). Errors name the key, op and module they come from.
  absl::Status Run(const run::RunConfig& config, trace::EventSink& sink, const RunHooks& hooks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::trainer
