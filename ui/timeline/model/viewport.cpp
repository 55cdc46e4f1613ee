#include "ui/timeline/model/viewport.h"

#include <algorithm>
#include <cmath>

namespace vramscope::ui::timeline {

void Viewport::SetPixels(double left, double width) {
  left_ = left;
  width_ = std::max(width, 1.0);
}

bool Viewport::shows_all() const {
  double slack = extent_.width() * 1e-6;
  return view_.begin <= extent_.begin + slack && view_.end >= extent_.end - slack;
}

Span Viewport::Clamp(Span view) const {
  double widest = std::max(extent_.width(), kMinSpanNs);
  double width = std::clamp(view.width(), kMinSpanNs, widest);
  if (width != view.width()) {
    double middle = (view.begin + view.end) / 2;
    view = {middle - width / 2, middle + width / 2};
  }
  if (view.begin < extent_.begin) view = {extent_.begin, extent_.begin + width};
  if (view.end > extent_.begin + widest) {
    view = {extent_.begin + widest - width, extent_.begin + widest};
  }
  return view;
}

void Viewport::Show(Span view) {
  // Ignore tiny changes of the width, because the begin and end of the view are rounded when it
  // moves.
  constexpr double kRounding = 1e-9;
  view_ = view;
  if (std::abs(view.width() - steady_width_) > kRounding * steady_width_)
    steady_width_ = view.width();
}

void Viewport::SetExtent(double begin, double end) {
  extent_ = {begin, std::max(end, begin + 1)};
  Show(Clamp(view_));
}

void Viewport::ReplaceExtent(double begin, double end) {
  end = std::max(end, begin + 1);
  bool all = shows_all();
  double old_width = extent_.width();
  double width = end - begin;
  if (all && width <= old_width && width > old_width / 2) {
    // If the new run is only slightly shorter, keep the scale and leave the rest empty, so that the
    // user can compare the curves by eye.
    extent_ = {begin, begin + old_width};
    Show(extent_);
    return;
  }
  extent_ = {begin, end};
  Show(all ? extent_ : Clamp(view_));
}

void Viewport::SetView(Span view) { Show(Clamp(view)); }
void Viewport::Fit() { Show(extent_); }

void Viewport::ZoomAt(double x, double factor) {
  double fraction = std::clamp((x - left_) / width_, 0.0, 1.0);
  double time = view_.begin + fraction * view_.width();
  double width =
      std::clamp(view_.width() / factor, kMinSpanNs, std::max(extent_.width(), kMinSpanNs));
  SetView({time - fraction * width, time - fraction * width + width});
}

void Viewport::PanPixels(double dx) {
  double shift = dx * ns_per_px();
  shift = std::clamp(shift, extent_.begin - view_.begin, extent_.end - view_.end);
  Show({view_.begin + shift, view_.end + shift});
}

Span Viewport::Around(double begin, double end, double share) const {
  double width = std::max(end - begin, kMinSpanNs * share) / share;
  double middle = (begin + end) / 2;
  return Clamp({middle - width / 2, middle + width / 2});
}

AxisLock::Axis AxisLock::Add(double dx, double dy) {
  sum_x_ += std::abs(dx);
  sum_y_ += std::abs(dy);
  if (axis_ == Axis::kUndecided && std::max(sum_x_, sum_y_) >= 4) {
    axis_ = sum_x_ > sum_y_ ? Axis::kHorizontal : Axis::kVertical;
  }
  return axis_;
}

void AxisLock::Reset() {
  sum_x_ = sum_y_ = 0;
  axis_ = Axis::kUndecided;
}

}  // namespace vramscope::ui::timeline
