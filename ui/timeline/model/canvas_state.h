// The current state of the canvas: data, view, selection, hover. It is a plain struct. The model
// changes it, and the scene, the hit test and the tooltips read it. Times are relative to the
// trace's begin.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/trace/outline.h"
#include "ui/timeline/model/chosen.h"
#include "ui/timeline/model/compare.h"
#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/model/lane_stack.h"
#include "ui/timeline/model/marking.h"
#include "ui/timeline/model/note_marks.h"
#include "ui/timeline/model/ticks.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/model/viewport.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui::timeline {

// The order of the stack from bottom to top. Long-lived categories are at the bottom.
inline constexpr std::array<trace::Category, trace::kCategoryCount> kStackOrder = {
    trace::Category::kParameter,      trace::Category::kBuffer,    trace::Category::kOptimizerState,
    trace::Category::kKvCache,        trace::Category::kGradient,  trace::Category::kActivation,
    trace::Category::kAutogradDetail, trace::Category::kInput,     trace::Category::kCommunication,
    trace::Category::kWorkspace,      trace::Category::kTemporary, trace::Category::kUnknown};

enum class HitKind : uint8_t {
  kNone,
  kAllocation,
  kSlice,
  kMemory,
  kOverview,
  kRuler,
  kTitle,
  kActivity,
  kIdle,
  kLowerEdge,  // the lower edge of a lane, which can be dragged
  kScrollBar,
};

// The thing under a point.
struct Hit {
  HitKind kind = HitKind::kNone;
  const Lane* lane = nullptr;
  double time = 0;
  trace::AllocationId allocation;           // set for kAllocation
  uint32_t slice = kNoSlice;                // set for kSlice
  uint32_t activity = query::kNoRow;        // set for kActivity
  uint32_t gap = query::kNoRow;             // set for kIdle
  std::optional<trace::Category> category;  // set for kMemory: the layer at the point, if any
  std::optional<uint64_t> offset;           // in the blocks lane: offset on the packed address axis
  bool SameThing(const Hit& o) const {
    return kind == o.kind && lane == o.lane && allocation == o.allocation && slice == o.slice &&
           activity == o.activity && gap == o.gap && category == o.category;
  }
};

enum class Status : uint8_t { kNone, kLoading, kFailed };

// The visible part of the packed address axis.
struct AddressWindow {
  double begin = 0, end = 0;  // bytes; end 0: everything
  friend bool operator==(const AddressWindow&, const AddressWindow&) = default;
};

struct CanvasState {
  std::shared_ptr<const TimelineData> data;
  // The outline of a file that has an index. It is drawn instead of the data while the file is
  // read.
  std::shared_ptr<const trace::Outline> outline;
  std::shared_ptr<const TimelineData> baseline;
  std::string baseline_label;
  TimeMap baseline_map;  // maps times of `data` to times of `baseline`
  Theme theme = Theme::Dark();
  uint64_t device_limit = 0;

  double scale = 1;  // device pixels per logical pixel
  Layout layout;
  std::string current_lane;  // the lane on which keys act while the mouse is elsewhere; empty: none
  // While a lane is dragged: the y coordinate at which it would be dropped.
  std::optional<float> drop_at;
  Viewport viewport;
  ByteAxis axis{uint64_t{1} << 30, uint64_t{1} << 28};
  AddressWindow addresses;

  trace::AllocationId selection;
  std::shared_ptr<const Marking> marking;     // null: nothing is marked
  std::shared_ptr<const NoteMarks> notes;     // null: there are none
  std::bitset<trace::kCategoryCount> hidden;  // categories that the legend has switched off
  bool unmarked(uint32_t row) const {
    return marking != nullptr && !marking->blocks.empty() && !marking->blocks[row];
  }
  bool hides(trace::Category category) const { return hidden[static_cast<size_t>(category)]; }
  // Whether a block is drawn faint, because its category is hidden, or because other things are
  // marked and this block is not.
  bool faint(uint32_t row) const {
    return unmarked(row) || (hidden.any() && hides(data->trace().allocations.main_category[row]));
  }
  // The selected slice, activity or idle gap. At most one of these three is set.
  uint32_t selected_slice = kNoSlice;
  uint32_t selected_activity = query::kNoRow;
  uint32_t selected_gap = query::kNoRow;  // index in IdleGaps
  std::optional<Span> range;
  std::optional<Span> zoom_range;  // the range that Ctrl+drag is choosing as the next view
  std::optional<double> cursor;
  Chosen last_chosen = Chosen::kNothing;  // may be gone now; see TimelineModel::LastChosen()

  bool hovering = false;
  double hover_x = 0, hover_y = 0;
  Hit hover;
  bool tooltip = false;  // the mouse has rested for the tooltip's delay
  bool dragging_range = false;
  bool focus_frame = false;  // the canvas got the focus by a key, so a frame is drawn

  // The animation of the memory lane when new data is shown: the edges at its start, in pixels,
  // their number of columns, and its progress.
  std::vector<float> morph_from;
  uint32_t morph_columns = 0;
  float morph = 1;

  Status status = Status::kNone;
  std::string status_title, status_text, status_next;
  double status_fraction = -1;
  std::string empty_title = "No run yet", empty_hint;

  // Whether the canvas shows lanes.
  bool shows_lanes() const { return data && !data->is_state() && !outline; }
  int64_t TraceTime(double t) const { return data->ToTrace(t); }
  // `body`: the rectangle of the memory lane.
  double BytesToY(double bytes, const Rect& body) const {
    return body.bottom() - bytes / static_cast<double>(axis.max) * body.h;
  }
  uint64_t address_begin() const { return static_cast<uint64_t>(addresses.begin); }
  uint64_t address_end() const {
    return addresses.end > 0 ? static_cast<uint64_t>(addresses.end)
           : data            ? data->address_axis().size()
                             : 1;
  }
  // Whether to draw the GPU's limit, which is the case only if the run comes near it. If the axis
  // reached up to a limit far above the run, the curves would be flat.
  bool limit_in_range() const;
};

}  // namespace vramscope::ui::timeline
