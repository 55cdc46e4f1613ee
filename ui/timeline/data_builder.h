// Builds the data that the canvas needs for traces (TimelineData): immediately for small traces, on
// a pool thread for large traces. The newest data stays in memory, so that it need not be built
// again when a run becomes the baseline.
//
//   DataBuilder builder([this] { Land(); });
//   if (DataBuilder::Data data = builder.Obtain(trace, curves)) Show(data);  // else Land() follows
//
// UI thread only.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <vector>

#include "ui/jobs/jobs.h"
#include "ui/timeline/model/timeline_data.h"

namespace vramscope::ui::timeline {

class DataBuilder {
 public:
  using Data = std::shared_ptr<const TimelineData>;
  using TracePtr = std::shared_ptr<const trace::Trace>;
  using Curves = std::shared_ptr<const analysis::MemoryCurves>;

  // The event loop calls `landed` after another thread has finished a build.
  explicit DataBuilder(std::function<void()> landed) : landed_call_(std::move(landed)) {}

  // Returns null if the data is not built yet. Call Obtain() again after `landed` was called.
  Data Obtain(const TracePtr& trace, const Curves& curves, const TracePtr& whole = {});
  // Adds data that was built elsewhere.
  void Remember(const Data& data);
  // Call it after the language has changed. The data contains translated texts, so it must be built
  // again.
  void Forget() { remembered_.clear(); }
  // Sets the two traces whose data stays in memory even if it is large.
  void SetShown(const TracePtr& trace, const TracePtr& baseline);
  // Returns the data that was built since the last call of TakeLanded().
  std::vector<Data> TakeLanded();
  // Returns the error if the displayed trace could not be built because memory ran out. The build
  // is not repeated, and only the first call returns the error.
  absl::Status TakeError();

  bool busy() const { return !building_.empty(); }
  void Wait() { jobs_.finish(); }

 private:
  struct Landed {
    TracePtr trace;
    absl::StatusOr<Data> data;
  };
  Data Remembered(const TracePtr& trace) const;
  void Fail(const TracePtr& trace, const absl::Status& status);

  std::function<void()> landed_call_;
  TracePtr shown_, baseline_;
  std::vector<Data> remembered_;
  std::vector<TracePtr> building_;
  std::vector<Landed> landed_;
  std::vector<std::weak_ptr<const trace::Trace>> failed_;
  absl::Status error_;
  Jobs jobs_;
};

}  // namespace vramscope::ui::timeline
