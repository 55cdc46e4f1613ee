#include "trainer/backends/backend.h"
#include "trainer/backends/plan/device.h"
#include "trainer/backends/plan/micro_batch_tape.h"
#include "trainer/backends/plan/plan_memory.h"

namespace vramscope::trainer {
namespace {

class Plan final : public Backend {
 public:
  Plan() : registered_(plan::RegisterPlanDevice()) {}

  c10::Device device() const override { return plan::PlanDevice(); }
  bool measured() const override { return false; }
  Clock clock() override {
    return [] { return plan::PlanMemory::Get().roofline().now_ns(); };
  }
  absl::Status Start(const run::DeviceProfile& profile, const run::AllocConf& conf,
                     Recorder& recorder) override {
    if (!registered_.ok()) return registered_;
    return plan::PlanMemory::Get().Begin(profile, conf, recorder);
  }
  std::unique_ptr<MicroBatchTape> MakeTape(Recorder& recorder) override {
    return plan::MakeMicroBatchTape(recorder);
  }
  absl::Status Stop() override { return plan::PlanMemory::Get().End(); }

 private:
  const absl::Status registered_;
};

}  // namespace

Backend& PlanBackend() {
  static auto* backend = new Plan();
  return *backend;
}

}  // namespace vramscope::trainer
