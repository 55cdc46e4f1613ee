// What the card does while the loop runs on it, as CUPTI and NVML tell it, for the recorder of one
// run.
//
//   CardActivities activities(recorder, origin_ns);   // listens
//   activities.Now();                                 // now and then: what is complete arrives
//   activities.Finish();                              // the rest; lets go of CUPTI
//
// What could not be had is said in the trace. The run's thread alone.
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

class CardActivities final : public cupti::Receiver {
 public:
  // `origin_ns`: the recorder's 0 on cupti::ClockOfProcess().
  CardActivities(Recorder& recorder, int64_t origin_ns);
  ~CardActivities() override { Finish(); }
  CardActivities(const CardActivities&) = delete;
  CardActivities& operator=(const CardActivities&) = delete;

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
  std::vector<trace::StringId> names_;  // the recorder's, by the client's numbers
  std::vector<trace::Activity> rows_;
  std::optional<uint32_t> default_stream_;  // CUPTI's number of it; the recorder's is 0
  std::chrono::steady_clock::time_point last_;
  uint64_t dropped_before_ = 0, left_out_before_ = 0;
  bool finished_ = false;
};

}  // namespace vramscope::trainer::cuda
