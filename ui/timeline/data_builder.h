// What the canvas needs of traces (TimelineData): small ones are built at once, large ones on a
// thread of its own; the last ones are remembered, so that a ghost or a pinned baseline is not
// built twice.
//
//   DataBuilder builder(widget, [this] { Land(); });
//   if (DataBuilder::Data data = builder.Obtain(trace, curves)) Show(data);  // else Land() comes
//
// UI thread only.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ui/timeline/model/timeline_data.h"

namespace vramscope::ui::timeline {

class DataBuilder {
 public:
  using Data = std::shared_ptr<const TimelineData>;
  using TracePtr = std::shared_ptr<const trace::Trace>;
  using Curves = std::shared_ptr<const analysis::MemoryCurves>;

  // `landed`: something has been built beside; called from `context`'s event loop, while that is
  // there.
  DataBuilder(QObject* context, std::function<void()> landed);
  ~DataBuilder();

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
  void Wait() { pool_.waitForDone(); }

 private:
  struct Landed {
    TracePtr trace;
    absl::StatusOr<Data> data;
  };
  Data Remembered(const TracePtr& trace) const;
  void Fail(const TracePtr& trace, const absl::Status& status);

  QObject* context_;
  std::function<void()> landed_call_;
  TracePtr shown_, ghost_;
  std::vector<Data> remembered_;
  std::vector<TracePtr> building_;
  std::mutex mutex_;
  std::vector<Landed> landed_;  // guarded by mutex_
  std::vector<std::weak_ptr<const trace::Trace>> failed_;
  absl::Status error_;
  QThreadPool pool_;  // last: its threads use the above
};

}  // namespace vramscope::ui::timeline
