// The stack of lanes, from top to bottom. It stores the lanes' order and heights, the scroll
// position, and which lanes are folded, pinned or hidden. The head (lanes without a title) and the
// pinned lanes stay at the top. The other lanes scroll if they do not fit.
//
//   LaneStack stack;
//   stack.SetLanes(MakeLanes(data));
//   state.layout = stack.Arrange(state, width, height);
//   if (stack.Change(LaneAction::kFold, "blocks")) Relayout();
//   settings = stack.settings()->ToText();              // LaneSettings::FromText does the reverse
//
// For use by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ui/timeline/model/lane.h"

namespace vramscope::ui::timeline {

struct LaneSetting {
  bool folded = false;  // if the lane is folded by default, true means unfolded
  bool pinned = false, hidden = false;
  float height = 0;  // height of the body; 0: the default
  friend bool operator==(const LaneSetting&, const LaneSetting&) = default;
};

// The user's changes, by lane key. There may be keys of lanes that the current trace does not have.
// If the settings are empty, all lanes have the defaults.
struct LaneSettings {
  std::map<std::string, LaneSetting, std::less<>> lanes;
  std::vector<std::string> order;  // order of all lanes; empty until the user moves a lane
  LaneSetting Of(std::string_view key) const;
  bool empty() const { return lanes.empty() && order.empty(); }
  // Convert to and from the text of a settings file. FromText() ignores invalid entries.
  std::string ToText() const;
  static LaneSettings FromText(std::string_view text);
  friend bool operator==(const LaneSettings&, const LaneSettings&) = default;
};

struct Layout {
  float width = 0, height = 0;
  float plot_left = 0, plot_width = 0;
  std::vector<LanePlace> lanes;  // lanes from top to bottom, including those that are not visible
  // The part of the stack that scrolls is between scroll_top and the canvas's lower edge. It is
  // scrolled down by `scroll` pixels, at most by `scroll_most`.
  float scroll_top = 0, scroll = 0, scroll_most = 0;
  Rect scroll_bar, scroll_thumb;  // empty when everything fits

  // Returns the place of a lane. For an unknown key, returns a place that is not visible.
  const LanePlace& operator[](std::string_view key) const;
  // Returns the visible lane whose body or title is at y, or null if y is between lanes.
  const LanePlace* At(double y) const;
  float data_top() const;     // the lower edge of the overview, where the cursor line starts
  float data_bottom() const;  // the lower edge of the lowest visible lane, within the canvas
};

enum class LaneAction : uint8_t {
  kFold,    // folds or unfolds the lane
  kPin,     // pins or unpins the lane
  kHide,    // hides the lane or shows it again
  kMoveUp,  // moves the lane above the previous visible lane that can be moved
  kMoveDown,
  kHigher,
  kLower,
  kNaturalHeight,
  kShowAll,  // shows all hidden lanes again
  kReset,    // restores the defaults of all lanes
};

class LaneStack {
 public:
  LaneStack();
  void SetLanes(std::vector<std::unique_ptr<const Lane>> lanes);
  const std::vector<std::unique_ptr<const Lane>>& lanes() const { return lanes_; }
  const Lane* Find(std::string_view key) const;

  const std::shared_ptr<const LaneSettings>& settings() const { return settings_; }
  void SetSettings(std::shared_ptr<const LaneSettings> settings) { settings_ = settings; }

  Layout Arrange(const CanvasState& state, float width, float height);
  // Returns false if the action changes nothing. `layout`: the result of the last Arrange().
  bool Change(LaneAction action, std::string_view key, const Layout& layout);
  // Sets the height of a lane. 0 restores the default height. Stretching lanes above the lane keep
  // their height, so that its lower edge follows the mouse exactly.
  void SetHeight(std::string_view key, float height, const Layout& layout);
  // Moves the lane before the lane `before`, which must be movable. An empty `before` means the
  // end.
  bool MoveBefore(std::string_view key, std::string_view before);
  void ScrollTo(float scroll) { scroll_ = scroll; }  // Arrange() clamps it to the valid range

 private:
  std::vector<const Lane*> Ordered() const;
  template <class Edit>
  void EditSettings(Edit edit);

  std::vector<std::unique_ptr<const Lane>> lanes_;
  std::shared_ptr<const LaneSettings> settings_;
  float scroll_ = 0;
};

}  // namespace vramscope::ui::timeline
