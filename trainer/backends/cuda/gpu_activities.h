// Reports the GPU's activities, which CUPTI and NVML provide, to the recorder of one run.
//
//   GpuActivities activities(recorder, origin_ns);   // starts listening
//   activities.Now();                                 // from time to time: reports completed work
//   activities.Finish();                              // reports the rest and detaches from CUPTI
//
// If some data cannot be collected, a note in the trace says so. Use this class only on the run's
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cupti/client.h"
#include "cupti/memory_counters.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer::cuda {

class GpuActivities final : public cupti::Receiver {
 public:
  // `origin_ns` is what cupti::ClockOfProcess() returned at the recorder's time 0.
  GpuActivities(Recorder& recorder, int64_t origin_ns);
  ~GpuActivities() override { Finish(); }
  GpuActivities(const GpuActivities&) = delete;
  GpuActivities& operator=(const GpuActivities&) = delete;

  void Now();
  void Finish();
  void Receive(std::span<const trace::Activity> activities,
               const std::vector<std::string>& names) override;

 private:
  void Ask();
  void Say(const std::string& what, const std::string& without);

  Recorder& recorder_;
  const int64_t origin_ns_;
  cupti::MemoryCounters counters_;
  std::vector<std::string> first_names_;
  std::vector<trace::StringId> names_;  // the recorder's ids, indexed by the CUPTI client's
  std::vector<trace::Activity> rows_;
  std::optional<uint32_t> default_stream_;  // CUPTI's id of the default stream; the recorder's is 0
  std::chrono::steady_clock::time_point last_;
  uint64_t dropped_before_ = 0, left_out_before_ = 0;
  bool finished_ = false;
};

}  // namespace vramscope::trainer::cuda
