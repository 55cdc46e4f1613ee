// The visible part of the trace, and undo and redo of views. Times are nanoseconds from the trace's
// begin, as doubles. Up to 100 days, a double represents every nanosecond exactly.
//
//   Viewport v;
//   v.SetExtent(0, 270e6);             // the whole trace
//   v.SetPixels(12, 996);              // position and width of the plot
//   v.ZoomAt(mouse_x, 1.25);           // the time under the mouse stays there
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::ui::timeline {

struct Span {
  double begin = 0, end = 1;
  double width() const { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

class Viewport {
 public:
  // At the highest zoom, the whole width shows this many nanoseconds.
  static constexpr double kMinSpanNs = 20;

  void SetPixels(double left, double width);
  // Sets the extent of the trace. The view is clamped to it.
  void SetExtent(double begin, double end);
  // Like SetExtent(), for a new run that replaces an old run. If the view showed the whole old run,
  // it shows the whole new run. However, if the new run is shorter by less than half, the scale
  // stays the same.
  void ReplaceExtent(double begin, double end);

  const Span& view() const { return view_; }
  const Span& extent() const { return extent_; }
  double left() const { return left_; }
  double width() const { return width_; }
  double ns_per_px() const { return view_.width() / width_; }
  // The view's width without rounding errors. While the view only moves, this width stays the same,
  // and so do the widths of the pixel columns that are computed from it.
  double steady_width() const { return steady_width_; }
  bool shows_all() const;

  double ToX(double time) const { return left_ + (time - view_.begin) / ns_per_px(); }
  double ToTime(double x) const { return view_.begin + (x - left_) * ns_per_px(); }

  void SetView(Span view);
  void Fit();
  void ZoomAt(double x, double factor);  // factor > 1: zooms in
  void PanPixels(double dx);             // dx > 0: to later times
  // Returns a view with this span in its middle. The span fills `share` of the view's width.
  Span Around(double begin, double end, double share = 0.8) const;

 private:
  Span Clamp(Span view) const;
  void Show(Span view);

  Span extent_{0, 1};
  Span view_{0, 1};
  double steady_width_ = 1;
  double left_ = 0, width_ = 1;
};

// Undo and redo of views, or of other comparable values. Consecutive steps with the same `gesture`,
// if it is not 0, are undone together.
template <class View>
class History {
 public:
  static constexpr size_t kMax = 100;

  void Push(const View& before, uint64_t gesture = 0) {
    redo_.clear();
    if (gesture && gesture == last_gesture_) return;
    last_gesture_ = gesture;
    if (!undo_.empty() && undo_.back() == before) return;
    undo_.push_back(before);
    if (undo_.size() > kMax) undo_.erase(undo_.begin());
  }
  bool CanUndo() const { return !undo_.empty(); }
  bool CanRedo() const { return !redo_.empty(); }
  // Undo() and Redo() take the current view and return the view to show instead.
  View Undo(const View& now) { return Step(undo_, redo_, now); }
  View Redo(const View& now) { return Step(redo_, undo_, now); }
  void Clear() {
    undo_.clear();
    redo_.clear();
    last_gesture_ = 0;
  }

 private:
  View Step(std::vector<View>& from, std::vector<View>& onto, const View& now) {
    if (from.empty()) return now;
    View to = from.back();
    from.pop_back();
    onto.push_back(now);
    last_gesture_ = 0;
    return to;
  }

  std::vector<View> undo_, redo_;
  uint64_t last_gesture_ = 0;
};

// Locks a touchpad gesture to the direction of its first pixels, so that a vertical zoom does not
// also pan a little, and a horizontal pan does not zoom.
class AxisLock {
 public:
  enum class Axis : uint8_t { kUndecided, kHorizontal, kVertical };
  // Adds a movement. Returns the axis as soon as it is clear, which is after 4 px.
  Axis Add(double dx, double dy);
  void Reset();
  Axis axis() const { return axis_; }

 private:
  double sum_x_ = 0, sum_y_ = 0;
  Axis axis_ = Axis::kUndecided;
};

}  // namespace vramscope::ui::timeline
