// The lanes of the canvas, from top to bottom: in which order, which are folded, pinned, hidden,
// how high, how far scrolled. The head (lanes without a title) and what is pinned stay at the top;
// the rest scrolls when it does not fit.
//
//   LaneStack stack;
//   stack.SetLanes(MakeLanes(data));
//   state.layout = stack.Arrange(state, width, height);
//   if (stack.Change(LaneAction::kFold, "blocks")) Relayout();
//   settings = stack.settings()->ToText();              // and back: LaneSettings::FromText
//
// One thread.
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
  bool folded = false;  // or, of a lane that comes folded, unfolded
  bool pinned = false, hidden = false;
  float height = 0;  // of the body; 0: its own
  friend bool operator==(const LaneSetting&, const LaneSetting&) = default;
};

// What the user made of the stack, by the lanes' keys: it holds for lanes that are not there now,
// too. Without any: every lane as it comes.
struct LaneSettings {
  std::map<std::string, LaneSetting, std::less<>> lanes;
  std::vector<std::string> order;  // of those that were there when one was moved; empty: none was
  LaneSetting Of(std::string_view key) const;
  bool empty() const { return lanes.empty() && order.empty(); }
  // For settings files. What cannot be read is left out.
  std::string ToText() const;
  static LaneSettings FromText(std::string_view text);
  friend bool operator==(const LaneSettings&, const LaneSettings&) = default;
};

struct Layout {
  float width = 0, height = 0;
  float plot_left = 0, plot_width = 0;
  std::vector<LanePlace> lanes;  // from top to bottom; those that are not visible, too
  // What scrolls: from scroll_top to the canvas' lower edge, by `scroll` of at most `scroll_most`.
  float scroll_top = 0, scroll = 0, scroll_most = 0;
  Rect scroll_bar, scroll_thumb;  // empty when all fits

  // Not visible when there is none.
  const LanePlace& operator[](std::string_view key) const;
  // The visible lane at y (title included); null between lanes.
  const LanePlace* At(double y) const;
  float data_top() const;     // below the overview: where the cursor line starts
  float data_bottom() const;  // of the lowest visible lane, within the canvas
};

enum class LaneAction : uint8_t {
  kFold,    // or unfold
  kPin,     // or unpin
  kHide,    // or show again
  kMoveUp,  // past the next lane in sight that can be moved
  kMoveDown,
  kHigher,
  kLower,
  kNaturalHeight,
  kShowAll,  // that are hidden
  kReset,    // everything as it comes
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
  // False: nothing that this can change now. `layout`: as arranged last.
  bool Change(LaneAction action, std::string_view key, const Layout& layout);
  // Lanes above that stretch keep what they have, so that its lower edge comes where it is put.
  // 0: its own height.
  void SetHeight(std::string_view key, float height, const Layout& layout);
  // To stand before the movable lane `before`; empty: last.
  bool MoveBefore(std::string_view key, std::string_view before);
  void ScrollTo(float scroll) { scroll_ = scroll; }  // kept within what there is by Arrange

 private:
  std::vector<const Lane*> Ordered() const;
  template <class Edit>
  void EditSettings(Edit edit);

  std::vector<std::unique_ptr<const Lane>> lanes_;
  std::shared_ptr<const LaneSettings> settings_;
  float scroll_ = 0;
};

}  // namespace vramscope::ui::timeline
