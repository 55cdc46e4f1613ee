#include "ui/timeline/model/lane_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ui/timeline/model/canvas_state.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

constexpr float kMargin = 12;
constexpr float kTop = 8;
constexpr float kBottom = 8;
// Minimum height that the stretching lanes get together. If the canvas is too low for it, the stack
// scrolls.
constexpr float kLeastStretch = 92;
constexpr float kLeastScrolled = 80;  // minimum height that pinned lanes leave to the other lanes
constexpr float kLeastHeight = 12, kMostHeight = 4000;
constexpr float kHeightStep = 1.25f;
constexpr float kLeastThumb = 24;
// Limits for settings that are read from a file. No user needs more.
constexpr size_t kMostSettings = 512, kLongestKey = 128;

// A lane while Arrange() distributes the height.
struct Slot {
  const Lane* lane = nullptr;
  LaneWants wants;
  LaneSetting setting;
  int rows = 1;
  bool below = false;  // may lie below the visible part of the stack, so its height is not counted
  bool gone = false;
  float body = 0;

  bool stretches() const { return wants.share > 0 && setting.height <= 0 && !setting.folded; }
  float Fixed() const {
    float height = wants.title + wants.gap;
    if (setting.folded && wants.title > 0) return height;
    if (setting.height > 0) return height + setting.height;
    return stretches() ? height : height + static_cast<float>(rows) * wants.row_height;
  }
};

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

float Flexible(const std::vector<Slot>& slots, float height) {
  for (const Slot& slot : slots)
    if (!slot.below && !slot.gone) height -= slot.Fixed();
  return height;
}

float Wanted(const std::vector<Slot>& slots) {
  float wanted = 0;
  for (const Slot& slot : slots)
    if (slot.stretches() && !slot.below && !slot.gone) wanted += slot.wants.least;
  return wanted;
}

// Shrinks lanes by their concessions. If several lanes can shrink, the lowest one shrinks first.
void MakeConcessions(std::vector<Slot>& slots, float height) {
  struct Offer {
    Slot* slot;
    Concession concession;
  };
  std::vector<Offer> offers;
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot)
    if (slot->setting.height <= 0 && !slot->setting.pinned)
      for (const Concession& c : slot->wants.concessions) offers.push_back({&*slot, c});
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.concession.until > b.concession.until;
  });
  for (const auto& [slot, c] : offers) {
    const auto short_of_room = [&, &c = c] {  // clang cannot capture a structured binding
      return Flexible(slots, height) < std::min(Wanted(slots) * c.until, c.most);
    };
    if (c.rows > 0) {
      while (slot->rows > c.rows && short_of_room()) --slot->rows;
    } else if (short_of_room()) {
      (c.rows == Concession::kGone ? slot->gone : slot->below) = true;
    }
  }
}

void ShareOut(std::vector<Slot>& slots, float rest) {
  float shares = 0;
  Slot* last = nullptr;
  for (Slot& slot : slots) {
    slot.body = slot.setting.height > 0 ? slot.setting.height
                                        : static_cast<float>(slot.rows) * slot.wants.row_height;
    if (slot.wants.title > 0 && slot.setting.folded) slot.body = 0;
    if (!slot.stretches() || slot.gone) continue;
    slot.body = slot.wants.least;
    if (slot.below) continue;
    shares += slot.wants.share;
    last = &slot;
  }
  float left = rest;
  for (Slot& slot : slots) {
    if (!slot.stretches() || slot.gone || slot.below) continue;
    slot.body = &slot == last ? left : std::round(rest * slot.wants.share / shares);
    left -= slot.body;
  }
}

}  // namespace

void Lane::HitTest(const CanvasState&, const LanePlace&, double, double, Hit*) const {}
Tooltip Lane::Tip(const CanvasState& state, const Hit& hit) const {
  return TooltipOfThing(state, hit);
}

LaneSetting LaneSettings::Of(std::string_view key) const {
  const auto it = lanes.find(key);
  return it == lanes.end() ? LaneSetting{} : it->second;
}

std::string LaneSettings::ToText() const {
  std::string text;
  for (const auto& [key, lane] : lanes) {
    text += fmt::format("lane\t{}\t{}{}{}\t{}\n", key, lane.folded ? "f" : "",
                        lane.pinned ? "p" : "", lane.hidden ? "h" : "", std::lround(lane.height));
  }
  for (const std::string& key : order) text += fmt::format("order\t{}\n", key);
  return text;
}

LaneSettings LaneSettings::FromText(std::string_view text) {
  LaneSettings out;
  for (std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> parts = Split(line, '\t');
    if (parts.size() < 2 || parts[1].empty() || parts[1].size() > kLongestKey) continue;
    if (parts[0] == "order" && out.order.size() < kMostSettings) {
      if (std::find(out.order.begin(), out.order.end(), parts[1]) == out.order.end())
        out.order.emplace_back(parts[1]);
    }
    int height = 0;
    if (parts[0] != "lane" || parts.size() != 4 || out.lanes.size() >= kMostSettings ||
        std::from_chars(parts[3].data(), parts[3].data() + parts[3].size(), height).ec !=
            std::errc())
      continue;
    LaneSetting lane;
    lane.folded = parts[2].find('f') != std::string_view::npos;
    lane.pinned = parts[2].find('p') != std::string_view::npos;
    lane.hidden = parts[2].find('h') != std::string_view::npos;
    if (height > 0) lane.height = std::clamp(static_cast<float>(height), kLeastHeight, kMostHeight);
    if (!(lane == LaneSetting{})) out.lanes.emplace(parts[1], lane);
  }
  return out;
}

const LanePlace& Layout::operator[](std::string_view key) const {
  static const LanePlace kNone;
  for (const LanePlace& place : lanes)
    if (place.visible && place.lane->key() == key) return place;
  return kNone;
}

const LanePlace* Layout::At(double y) const {
  for (const LanePlace& place : lanes) {
    if (!place.visible || y < place.clip.y || y >= place.clip.bottom()) continue;
    if (y >= place.top() && y < place.bottom()) return &place;
  }
  return nullptr;
}

float Layout::data_top() const { return (*this)["ruler"].body.y; }

float Layout::data_bottom() const {
  float bottom = data_top();
  for (const LanePlace& place : lanes)
    if (place.visible) bottom = std::max(bottom, place.body.bottom());
  return scroll_most > 0 ? std::min(bottom, height) : bottom;
}

LaneStack::LaneStack() : settings_(std::make_shared<const LaneSettings>()) {}

void LaneStack::SetLanes(std::vector<std::unique_ptr<const Lane>> lanes) {
  lanes_ = std::move(lanes);
}

const Lane* LaneStack::Find(std::string_view key) const {
  for (const auto& lane : lanes_)
    if (lane->key() == key) return lane.get();
  return nullptr;
}

// Returns the lanes in the order of the settings. A lane that the settings lack follows its
// predecessor in lanes_.
std::vector<const Lane*> LaneStack::Ordered() const {
  std::vector<const Lane*> out;
  for (const std::string& key : settings_->order)
    if (const Lane* lane = Find(key)) out.push_back(lane);
  const Lane* before = nullptr;
  for (const auto& lane : lanes_) {
    if (std::find(out.begin(), out.end(), lane.get()) == out.end()) {
      const auto at = std::find(out.begin(), out.end(), before);
      out.insert(before == nullptr ? out.begin() : at + 1, lane.get());
    }
    before = lane.get();
  }
  return out;
}

Layout LaneStack::Arrange(const CanvasState& state, float width, float height) {
  Layout layout;
  layout.width = width;
  layout.height = height;
  layout.plot_left = kMargin;
  layout.plot_width = std::max(width - 2 * kMargin, 1.0f);

  std::vector<Slot> slots;
  for (const Lane* lane : Ordered()) {
    Slot slot{.lane = lane, .wants = lane->Wants(state), .setting = settings_->Of(lane->key())};
    if (slot.wants.rows <= 0) continue;
    if (slot.wants.title <= 0) slot.setting = {};
    slot.setting.folded ^= slot.wants.folded;
    slot.gone = slot.setting.hidden;
    const int all = slot.wants.rows;
    slot.rows = slot.wants.at_first > 0 ? std::min(all, slot.wants.at_first) : all;
    if (slot.setting.height > 0 && slot.wants.row_height > 0)
      slot.rows = std::clamp(static_cast<int>(slot.setting.height / slot.wants.row_height), 1, all);
    slots.push_back(std::move(slot));
  }
  // First come the lanes of the head, then pinned lanes, then all others.
  const auto rest = std::stable_partition(slots.begin(), slots.end(),
                                          [](const Slot& s) { return s.wants.title <= 0; });
  std::stable_partition(rest, slots.end(), [](const Slot& s) { return s.setting.pinned; });

  const float room = height - kTop - kBottom;
  MakeConcessions(slots, room);
  ShareOut(slots, std::max(Flexible(slots, room), kLeastStretch));

  float y = kTop;
  bool scrolls = false;
  for (Slot& slot : slots) {
    LanePlace place;
    place.lane = slot.lane;
    place.visible = !slot.gone;
    place.folded = slot.setting.folded;
    if (slot.gone) {
      layout.lanes.push_back(place);
      continue;
    }
    const bool stays =
        slot.wants.title <= 0 || (!scrolls && slot.setting.pinned &&
                                  y + slot.wants.title + slot.body < height - kLeastScrolled);
    place.pinned = slot.setting.pinned;
    place.stretches = slot.stretches();
    if (!stays && !scrolls) {
      scrolls = true;
      layout.scroll_top = y;
    }
    place.scrolls = scrolls;
    if (slot.wants.title > 0)
      place.title = {layout.plot_left, y, layout.plot_width, slot.wants.title};
    y += slot.wants.title;
    place.body = {layout.plot_left, y, layout.plot_width, slot.body};
    if (layout.plot_width > 4 * slot.wants.label) {
      place.body.x += slot.wants.label;
      place.body.w -= slot.wants.label;
    }
    y += slot.body + slot.wants.gap;
    place.rows = slot.rows;
    place.row_height = slot.body / static_cast<float>(slot.rows);
    layout.lanes.push_back(place);
  }
  if (!scrolls) layout.scroll_top = y;
  layout.scroll_most = scrolls ? std::max(std::ceil(y + kBottom - height), 0.0f) : 0;
  scroll_ = layout.scroll = std::clamp(scroll_, 0.0f, layout.scroll_most);
  for (LanePlace& place : layout.lanes) {
    const float top = place.scrolls ? layout.scroll_top : 0;
    place.clip = {0, top, width, (place.scrolls ? height : layout.scroll_top) - top};
    if (!place.scrolls) continue;
    place.title.y -= layout.scroll;
    place.body.y -= layout.scroll;
  }
  if (layout.scroll_most > 0) {
    const float shown = height - layout.scroll_top;
    const float all = shown + layout.scroll_most;
    layout.scroll_bar = {width - kMargin + 3, layout.scroll_top, kMargin - 6, shown - 2};
    const float thumb = std::max(layout.scroll_bar.h * shown / all, kLeastThumb);
    layout.scroll_thumb = {
        layout.scroll_bar.x,
        layout.scroll_bar.y + (layout.scroll_bar.h - thumb) * layout.scroll / layout.scroll_most,
        layout.scroll_bar.w, thumb};
  }
  return layout;
}

template <class Edit>
void LaneStack::EditSettings(Edit edit) {
  auto next = std::make_shared<LaneSettings>(*settings_);
  edit(*next);
  std::erase_if(next->lanes, [](const auto& entry) { return entry.second == LaneSetting{}; });
  settings_ = std::move(next);
}

void LaneStack::SetHeight(std::string_view key, float height, const Layout& layout) {
  EditSettings([&](LaneSettings& s) {
    for (const LanePlace& place : layout.lanes) {
      if (place.lane->key() == key || height <= 0) break;
      if (place.visible && place.stretches && !place.folded)
        s.lanes[std::string(place.lane->key())].height = std::round(place.body.h);
    }
    LaneSetting& lane = s.lanes[std::string(key)];
    lane.height = height <= 0 ? 0 : std::clamp(std::round(height), kLeastHeight, kMostHeight);
    if (height > 0 && layout[key].folded) lane.folded = !lane.folded;
  });
}

bool LaneStack::MoveBefore(std::string_view key, std::string_view before) {
  if (key == before || Find(key) == nullptr) return false;
  std::vector<std::string> order;
  for (const Lane* lane : Ordered())
    if (lane->key() != key) order.emplace_back(lane->key());
  const auto at = std::find(order.begin(), order.end(), before);
  if (!before.empty() && at == order.end()) return false;
  order.insert(at, std::string(key));
  std::vector<std::string> was;
  for (const Lane* lane : Ordered()) was.emplace_back(lane->key());
  if (order == was) return false;
  EditSettings([&](LaneSettings& s) { s.order = std::move(order); });
  return true;
}

bool LaneStack::Change(LaneAction action, std::string_view key, const Layout& layout) {
  const auto before = settings_;
  const LanePlace& place = layout[key];
  const auto flip = [&](bool LaneSetting::*flag) {
    EditSettings([&](LaneSettings& s) {
      LaneSetting& lane = s.lanes[std::string(key)];
      lane.*flag = !(lane.*flag);
    });
  };
  const bool of_a_lane = action != LaneAction::kShowAll && action != LaneAction::kReset;
  // A lane of the head has no title and no settings, so change nothing.
  if (of_a_lane && (Find(key) == nullptr || (place.visible && place.title.empty()))) return false;
  switch (action) {
    case LaneAction::kFold:
      flip(&LaneSetting::folded);
      break;
    case LaneAction::kPin:
      flip(&LaneSetting::pinned);
      break;
    case LaneAction::kHide:
      flip(&LaneSetting::hidden);
      break;
    case LaneAction::kMoveUp:
    case LaneAction::kMoveDown: {
      std::vector<std::string_view> movable;
      for (const LanePlace& p : layout.lanes)
        if (p.visible && !p.title.empty() && p.pinned == place.pinned)
          movable.push_back(p.lane->key());
      const auto at = std::find(movable.begin(), movable.end(), key);
      if (at == movable.end()) return false;
      if (action == LaneAction::kMoveUp) return at != movable.begin() && MoveBefore(key, *(at - 1));
      if (at + 1 == movable.end()) return false;
      // Move the lane down by moving the next lane before it.
      return MoveBefore(*(at + 1), key);
    }
    case LaneAction::kHigher:
    case LaneAction::kLower:
      if (!place.visible || place.body.empty()) return false;
      SetHeight(
          key,
          action == LaneAction::kHigher ? place.body.h * kHeightStep : place.body.h / kHeightStep,
          layout);
      break;
    case LaneAction::kNaturalHeight:
      SetHeight(key, 0, layout);
      break;
    case LaneAction::kShowAll:
      EditSettings([](LaneSettings& s) {
        for (auto& [name, lane] : s.lanes) lane.hidden = false;
      });
      break;
    case LaneAction::kReset:
      EditSettings([](LaneSettings& s) { s = {}; });
      break;
  }
  return !(*before == *settings_);
}

}  // namespace vramscope::ui::timeline
