// What the canvas needs of traces (TimelineData): small ones are built at once, large ones beside
// the UI thread; the last ones are remembered, so that a ghost or a pinned baseline is not
// built twice.
//
//   DataBuilder builder([this] { Land(); });
//   if (DataBuilder::Data data = builder.Obtain(trace, curves)) Show(data);  // else Land() comes
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

  // `landed`: something has been built beside; called from the event loop.
  explicit DataBuilder(std::function<void()> landed) : landed_call_(std::move(landed)) {}

  // Null: it is being built, or will be when it is asked for again as something lands.
  Data Obtain(const TracePtr& trace, const Curves& curves, const TracePtr& whole = {});
  // Built elsewhere.
  void Remember(const Data& data);
  // Everything is built again when it is asked for: its texts are in another language.
  void Forget() { remembered_.clear(); }
  // What is in sight is not forgotten, however large.
  void SetShown(const TracePtr& trace, const TracePtr& ghost);
  // What has been built since asked last.
  std::vector<Data> TakeLanded();
  // Why what is to be shown could not be built (memory ran out); once, it is not tried again.
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
  TracePtr shown_, ghost_;
  std::vector<Data> remembered_;
  std::vector<TracePtr> building_;
  std::vector<Landed> landed_;
  std::vector<std::weak_ptr<const trace::Trace>> failed_;
  absl::Status error_;
  Jobs jobs_;
};

}  // namespace vramscope::ui::timeline
