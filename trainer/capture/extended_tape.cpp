#include "trainer/capture/extended_tape.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdlib>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/base/hash_map.h"

namespace vramscope::trainer {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Phase;

constexpr int kExecuted = 4;
constexpr int kFirst = 0, kMiddle = 1, kLateMiddle = 2, kLast = 3;  // indexes of the executed units
constexpr uint64_t kNone = ExtendedTape::kNone;

// A name relative to a unit: it names layer `layer`, or something in it, in the unit that is
// `delta` units further.
struct Name {
  int delta = 0;
  int layer = -1;  // -1: the name contains no layer, and `text` is the whole name
  uint32_t text = 0;
  auto operator<=>(const Name&) const = default;
};

// An allocation, relative to a unit.
struct Reference {
  bool in_stack = false;
  bool backward = false;
  int delta = 0;
  uint64_t key = 0;  // for an allocation outside of the layers, its row
  auto operator<=>(const Reference&) const = default;
};

// Returns the fields that, besides names and allocations, must be equal in both middle units.
auto Tie(const Event& e) {
  return std::tie(e.kind, e.bytes, e.category, e.detail, e.thread, e.stream);
}
auto Tie(const TapeWork& w) {
  return std::tie(w.move, w.duration_ns, w.reported, w.waits, w.call.kind);
}
auto Tie(const trace::Activity& a) {
  return std::tie(a.kind, a.thread, a.stream, a.from, a.to, a.bytes);
}

struct Item {
  std::optional<TapeWork> work;  // unset: the item is an event
  Event event;
  Name name, module;
  Name op, call;  // names of the work
  Reference reference;
  size_t group = 0;  // > 0: the first of this many frees in order of address

  bool operator==(const Item& other) const {
    if (std::tie(name, module, op, call, reference, group) !=
            std::tie(other.name, other.module, other.op, other.call, other.reference,
                     other.group) ||
        work.has_value() != other.work.has_value()) {
      return false;
    }
    if (!work) return Tie(event) == Tie(other.event);
    return Tie(*work) == Tie(*other.work) && Tie(work->what) == Tie(other.work->what);
  }
};

// The tape's sections, in order: what precedes the layers, and the units in forward and backward.
struct Stretch {
  int unit;
  bool backward, in_stack;
};
constexpr Stretch kStretches[] = {
    {kFirst, false, false},     {kFirst, false, true}, {kMiddle, false, true},
    {kLateMiddle, false, true}, {kLast, false, true},  {kLast, true, true},
    {kLateMiddle, true, true},  {kMiddle, true, true}, {kFirst, true, true}};
constexpr size_t kStretchCount = std::size(kStretches);

bool OfAllocation(EventKind kind) {
  return kind == EventKind::kAlloc || kind == EventKind::kRetag ||
         kind == EventKind::kFreeRequested || kind == EventKind::kFreeCompleted;
}

class Extender {
 public:
  Extender(const Tape& tape, const std::vector<std::string>& strings,
           const std::vector<std::vector<std::string>>& units)
      : tape_(tape), strings_(strings), units_(units), count_(units.size()) {}

  std::optional<ExtendedTape> Make() {
    if (count_ < kExecuted + 1 || strings_.empty()) return std::nullopt;
    LocateNames();
    if (!Cut() || !Identify() || !Collect()) return std::nullopt;
    if (items_[2] != items_[3] || items_[6] != items_[7]) return std::nullopt;
    if (!Reaches(items_[2]) || !Reaches(items_[6]) || !Write()) return std::nullopt;
    return std::move(out_);
  }

 private:
  size_t Whole(int executed) const {
    return executed <= kMiddle ? static_cast<size_t>(executed) : count_ - kExecuted + executed;
  }

  // --- names

  void LocateNames() {
    located_.resize(strings_.size());
    for (uint32_t id = 0; id < strings_.size(); ++id) {
      located_[id] = {0, -1, id};
      for (int unit = 0; unit < kExecuted; ++unit) {
        const std::vector<std::string>& layers = units_[Whole(unit)];
        for (size_t layer = 0; layer < layers.size(); ++layer) {
          const std::string& path = layers[layer];
          const std::string& text = strings_[id];
          if (!text.starts_with(path) || (text.size() > path.size() && text[path.size()] != '.'))
            continue;
          located_[id] = {unit, static_cast<int>(layer), Rest(text.substr(path.size()))};
        }
      }
    }
  }
  uint32_t Rest(const std::string& text) {
    const auto [it, is_new] = rest_ids_.try_emplace(text, static_cast<uint32_t>(rests_.size()));
    if (is_new) rests_.push_back(text);
    return it->second;
  }
  // Returns the executed unit that a name belongs to, or -1.
  int UnitOf(trace::StringId id) const {
    if (id.value >= located_.size() || located_[id.value].layer < 0) return -1;
    return located_[id.value].delta;
  }
  Name Seen(trace::StringId id, int unit) const {
    if (id.value >= located_.size()) return {};
    Name name = located_[id.value];
    if (name.layer >= 0) name.delta -= unit;
    return name;
  }

  // --- stretches

  bool Cut() {
    const std::vector<Event>& events = tape_.events;
    size_t stretch = 1;
    bool backward = false;
    for (size_t i = 0; i < events.size() && stretch < kStretchCount; ++i) {
      const Event& e = events[i];
      if (e.kind == EventKind::kPhaseBegin && static_cast<Phase>(e.detail) == Phase::kBackward) {
        if (stretch != 5) return false;
        backward = true;
      }
      const bool of_module = e.kind == EventKind::kModuleBegin;
      const bool names_module = e.kind == EventKind::kOpBegin || e.kind == EventKind::kAlloc;
      if (backward ? !(of_module || names_module) : !of_module) continue;
      const int unit = UnitOf(of_module ? e.name : e.module);
      if (unit < 0 || kStretches[stretch].backward != backward) continue;
      if (kStretches[stretch].unit != unit) continue;
      begins_[stretch] = i;
      // If this event is in a backward node and in modules, the section begins with the begin
      // events of this node and these modules.
      while (backward && (events[begins_[stretch] - 1].kind == EventKind::kOpBegin ||
                          events[begins_[stretch] - 1].kind == EventKind::kModuleBegin)) {
        --begins_[stretch];
      }
      ++stretch;
    }
    begins_[kStretchCount] = events.size();
    return stretch == kStretchCount;
  }

  // --- allocations

  bool Identify() {
    out_.places.resize(tape_.end_allocation - tape_.first_allocation);
    using Key = std::tuple<uint64_t, Name, Name, uint32_t>;
    std::map<Key, uint32_t> keys[2];
    for (size_t s = 0; s < kStretchCount; ++s) {
      const Stretch& stretch = kStretches[s];
      std::map<std::tuple<uint64_t, Name, Name>, uint32_t> alike;
      for (size_t i = begins_[s]; i < begins_[s + 1]; ++i) {
        const Event& e = tape_.events[i];
        if (e.kind != EventKind::kAlloc) continue;
        if (e.id < tape_.first_allocation || e.id >= tape_.end_allocation) return false;
        ExtendedTape::Place& place = out_.places[e.id - tape_.first_allocation];
        place.in_stack = stretch.in_stack;
        place.backward = stretch.backward;
        place.unit = stretch.unit;
        const Name name = Seen(e.name, stretch.unit), module = Seen(e.module, stretch.unit);
        const uint32_t before = alike[{e.bytes, name, module}]++;
        auto& known = keys[stretch.backward];
        place.key =
            known.try_emplace({e.bytes, name, module, before}, static_cast<uint32_t>(known.size()))
                .first->second;
      }
    }
    for (int backward = 0; backward < 2; ++backward) {
      out_.rows[backward].assign(count_, std::vector<uint64_t>(keys[backward].size(), kNone));
    }
    return true;
  }

  // --- items

  bool Collect() {
    auto work = tape_.works.begin();
    auto sorted = tape_.sorted.begin();
    for (size_t s = 0; s < kStretchCount; ++s) {
      const int unit = kStretches[s].unit;
      for (size_t i = begins_[s]; i < begins_[s + 1]; ++i) {
        for (; work != tape_.works.end() && work->first <= i; ++work) Work(s, *work);
        if (sorted != tape_.sorted.end() && sorted->first == i) {
          if (!Group(s, i, sorted->frees, unit)) return false;
          i += 2 * sorted->frees - 1;
          ++sorted;
          continue;
        }
        Item item;
        if (!Make(tape_.events[i], unit, &item)) return false;
        items_[s].push_back(item);
      }
    }
    for (; work != tape_.works.end(); ++work) Work(kStretchCount - 1, *work);
    return true;
  }
  void Work(size_t stretch, const TapeWork& work) {
    const int unit = kStretches[stretch].unit;
    Item item;
    item.work = work;
    item.name = Seen(work.what.name, unit);
    item.module = Seen(work.what.module, unit);
    item.op = Seen(work.what.op, unit);
    item.call = Seen(work.call.name, unit);
    items_[stretch].push_back(std::move(item));
  }
  bool Make(const Event& e, int unit, Item* item) const {
    item->event = e;
    item->name = Seen(e.name, unit);
    item->module = Seen(e.module, unit);
    if (!OfAllocation(e.kind)) return true;
    if (e.id < tape_.first_allocation || e.id >= tape_.end_allocation) return false;
    const uint64_t row = e.id - tape_.first_allocation;
    const ExtendedTape::Place& place = out_.places[row];
    item->reference = place.in_stack ? Reference{true, place.backward, place.unit - unit, place.key}
                                     : Reference{false, false, 0, row};
    return true;
  }
  // Adds a group of frees. Sorts them, so that their order does not depend on addresses.
  bool Group(size_t stretch, size_t first, size_t frees, int unit) {
    if (first + 2 * frees > begins_[stretch + 1]) return false;
    std::vector<Item> requested;
    for (size_t i = first; i < first + 2 * frees; ++i) {
      Item item;
      const bool request = (i - first) % 2 == 0;
      const Event& e = tape_.events[i];
      if (e.kind != (request ? EventKind::kFreeRequested : EventKind::kFreeCompleted) ||
          !Make(e, unit, &item)) {
        return false;
      }
      if (request) requested.push_back(item);
    }
    std::sort(requested.begin(), requested.end(),
              [](const Item& a, const Item& b) { return a.reference < b.reference; });
    requested.front().group = frees;
    items_[stretch].insert(items_[stretch].end(), requested.begin(), requested.end());
    return true;
  }
  // Returns whether a unit refers only to itself and its neighbours, so that it can be copied.
  static bool Reaches(const std::vector<Item>& items) {
    return std::all_of(items.begin(), items.end(), [](const Item& item) {
      return std::abs(item.reference.delta) <= 1 && std::abs(item.name.delta) <= 1 &&
             std::abs(item.module.delta) <= 1;
    });
  }

  // --- the whole tape

  bool Write() {
    bool written = true;
    for (size_t s = 0; s < kStretchCount && written; ++s) {
      const Stretch& stretch = kStretches[s];
      if (stretch.unit == kFirst || stretch.unit == kLast) {
        written = WriteStretch(s, Whole(stretch.unit));
      } else if (stretch.unit == (stretch.backward ? kLateMiddle : kMiddle)) {
        // Writes the two middle units and all omitted units between them.
        for (size_t i = 1; i + 1 < count_ && written; ++i) {
          written = WriteStretch(s, stretch.backward ? count_ - 1 - i : i);
        }
      }
    }
    for (ExtendedTape::Place& place : out_.places) {
      if (place.in_stack) place.row = out_.rows[place.backward][Whole(place.unit)][place.key];
    }
    out_.tape.end_allocation = next_row_;
    out_.tape.skipped.assign(next_row_, false);
    return written;
  }

  bool WriteStretch(size_t s, size_t unit) {
    const std::vector<Item>& items = items_[s];
    for (size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      if (item.work) {
        TapeWork work = *item.work;
        work.first = out_.tape.events.size();
        if (!Rename(item.name, unit, &work.what.name) ||
            !Rename(item.module, unit, &work.what.module) ||
            !Rename(item.op, unit, &work.what.op) || !Rename(item.call, unit, &work.call.name)) {
          return false;
        }
        out_.tape.works.push_back(std::move(work));
      } else if (item.group > 0) {
        if (!WriteGroup(std::span(items).subspan(i, item.group), unit)) return false;
        i += item.group - 1;
      } else {
        Event e = item.event;
        if (!Rename(item.name, unit, &e.name) || !Rename(item.module, unit, &e.module))
          return false;
        if (e.kind == EventKind::kAlloc) {
          e.id = next_row_++;
          if (item.reference.in_stack)
            out_.rows[item.reference.backward][unit][item.reference.key] = e.id;
          else
            out_.places[item.reference.key].row = e.id;
        } else if (OfAllocation(e.kind)) {
          if (!Find(item.reference, unit, &e.id)) return false;
        }
        out_.tape.events.push_back(e);
      }
    }
    return true;
  }

  // Writes a group of frees. If it frees an allocation in both middle units, it also frees the
  // matching allocation of every unit between them.
  bool WriteGroup(std::span<const Item> items, size_t unit) {
    const size_t first = out_.tape.events.size();
    std::vector<std::pair<bool, uint64_t>> of_middle[2];
    const auto free = [&](Event e, uint64_t row) {
      if (row == kNone) return false;
      e.id = row;
      e.kind = EventKind::kFreeRequested;
      out_.tape.events.push_back(e);
      e.kind = EventKind::kFreeCompleted;
      out_.tape.events.push_back(e);
      return true;
    };
    const int base = unit == 0 ? kFirst : kLast;
    for (const Item& item : items) {
      const Reference& reference = item.reference;
      const int executed = base + reference.delta;
      if (!IsCopied(unit) && reference.in_stack &&
          (executed == kMiddle || executed == kLateMiddle)) {
        of_middle[executed - kMiddle].push_back({reference.backward, reference.key});
        continue;
      }
      uint64_t row = kNone;
      if (!Find(reference, unit, &row) || !free(item.event, row)) return false;
    }
    if (of_middle[0] != of_middle[1]) return false;
    for (const auto& [backward, key] : of_middle[0]) {
      for (size_t i = 1; i + 1 < count_; ++i) {
        if (!free(items.front().event, out_.rows[backward][i][key])) return false;
      }
    }
    out_.tape.sorted.push_back({first, (out_.tape.events.size() - first) / 2});
    return true;
  }

  bool IsCopied(size_t unit) const { return unit != 0 && unit != count_ - 1; }
  // Returns the unit of the whole model that is `delta` units further than `unit`. Returns nullopt
  // if `unit` is the first or last, and the four executed units do not show which unit of the whole
  // model is meant.
  std::optional<size_t> Other(size_t unit, int delta) const {
    if (IsCopied(unit)) return unit + static_cast<size_t>(delta);
    const int executed = (unit == 0 ? kFirst : kLast) + delta;
    const bool middle = executed == kMiddle || executed == kLateMiddle;
    if (middle && std::abs(delta) > 1) return std::nullopt;
    return Whole(executed);
  }

  bool Find(const Reference& reference, size_t unit, uint64_t* row) const {
    if (!reference.in_stack) {
      *row = out_.places[reference.key].row;
    } else if (const std::optional<size_t> other = Other(unit, reference.delta)) {
      *row = out_.rows[reference.backward][*other][reference.key];
    } else {
      return false;
    }
    return *row != kNone;
  }

  bool Rename(const Name& name, size_t unit, trace::StringId* id) {
    const bool of_layer = name.layer >= 0;
    const std::optional<size_t> other = of_layer ? Other(unit, name.delta) : 0;
    if (!other) return false;
    uint32_t& known = renamed_[{name.text, name.layer, *other}];
    if (known == 0) {
      const std::vector<std::string>& layers = units_[*other];
      const auto layer = static_cast<size_t>(name.layer);
      if (of_layer && layer >= layers.size()) return false;
      out_.strings.push_back(of_layer ? layers[layer] + rests_[name.text] : strings_[name.text]);
      known = static_cast<uint32_t>(out_.strings.size());
    }
    *id = {known - 1};
    return true;
  }

  const Tape& tape_;
  const std::vector<std::string>& strings_;
  const std::vector<std::vector<std::string>>& units_;
  const size_t count_;
  std::vector<Name> located_;  // indexed by string id; `delta` is the executed unit
  std::vector<std::string> rests_;
  base::HashMap<std::string, uint32_t> rest_ids_;
  // These values are new string ids plus 1; 0 means that there is no new string yet.
  base::HashMap<std::tuple<uint32_t, int, size_t>, uint32_t> renamed_;
  std::array<size_t, kStretchCount + 1> begins_{};
  std::vector<Item> items_[kStretchCount];
  uint64_t next_row_ = 0;
  ExtendedTape out_;
};

}  // namespace

uint64_t ExtendedTape::RowOf(uint64_t row, size_t from, size_t to) const {
  const Place& place = places[row];
  if (!place.in_stack) return place.row;
  const size_t count = rows[0].size();
  const int executed = from <= 1 ? static_cast<int>(from)
                                 : static_cast<int>(from + kExecuted) - static_cast<int>(count);
  const int64_t unit = static_cast<int64_t>(to) + place.unit - executed;
  if (unit < 0 || unit >= static_cast<int64_t>(count)) return kNone;
  return rows[place.backward][static_cast<size_t>(unit)][place.key];
}

std::optional<ExtendedTape> Extend(const Tape& tape, const std::vector<std::string>& strings,
                                   const std::vector<std::vector<std::string>>& units) {
  return Extender(tape, strings, units).Make();
}

}  // namespace vramscope::trainer
