#include "profiler/program/labels.h"

#include <absl/container/btree_map.h>

#include <algorithm>
#include <array>
#include <map>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/program/steps.h"
#include "profiler/trace/counters.h"
#include "profiler/trace/missing_gradients.h"

namespace vramscope::program {
namespace {

using recording::Action;
using recording::EntryIndex;
using recording::History;
using recording::Labels;
using recording::Recording;
using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;
using trace::StringId;

// Finds the position of one device's n-th request among the entries of all devices.
class Requests {
 public:
  explicit Requests(const Recording& recording) : entries_(recording.entries) {
    for (EntryIndex i = 0; i < entries_.size(); ++i) {
      const Action action = entries_.action[i];
      if (action == Action::kAlloc || action == Action::kFreeRequested)
        of_device_[entries_.DeviceOf(i)].push_back(i);
    }
  }

  // Returns the position after the given number of requests. If the last request is a free that
  // completes directly after its request, the position is after the completion.
  EntryIndex After(uint8_t device, uint64_t requests) const {
    const std::vector<EntryIndex>& rows = of_device_[device];
    if (requests == 0 || rows.empty()) return 0;
    EntryIndex i = rows[std::min<uint64_t>(requests, rows.size()) - 1];
    const EntryIndex request = i++;
    if (entries_.action[request] == Action::kFreeRequested && i < entries_.size() &&
        entries_.action[i] == Action::kFreeCompleted &&
        entries_.address[i] == entries_.address[request])
      ++i;
    return i;
  }
  uint64_t Count(uint8_t device) const { return of_device_[device].size(); }

 private:
  const recording::EntryTable& entries_;
  std::array<std::vector<EntryIndex>, 256> of_device_;
};

// The begin or end of a step, micro-batch or phase. Boundaries are sorted by edge. At the same
// edge, ends come before begins, and inner ends before outer ends.
struct Boundary {
  Edge edge;
  int order = 0;
  Event event;
};

Event Of(EventKind kind, uint64_t id = 0) {
  Event event;
  event.kind = kind;
  event.id = id;
  return event;
}

std::vector<Boundary> Boundaries(const Steps& steps) {
  std::vector<Boundary> out;
  for (const StepSpan& step : steps.steps) {
    out.push_back({step.begin, 3, Of(EventKind::kStepBegin, step.number)});
    out.push_back({step.end, 2, Of(EventKind::kStepEnd)});
    for (const MicroBatchSpan& part : step.micro_batches) {
      out.push_back({part.begin, 4, Of(EventKind::kMicroBatchBegin, part.number)});
      out.push_back({part.end, 1, Of(EventKind::kMicroBatchEnd)});
    }
  }
  for (const PhaseSpan& span : steps.phases) {
    Event begin = Of(EventKind::kPhaseBegin);
    begin.detail = static_cast<uint8_t>(span.phase);
    out.push_back({span.begin, 5, begin});
    out.push_back({span.end, 0, Of(EventKind::kPhaseEnd)});
  }
  std::stable_sort(out.begin(), out.end(), [](const Boundary& x, const Boundary& y) {
    return std::tuple(x.edge, x.order) < std::tuple(y.edge, y.order);
  });
  return out;
}

class Labeller {
 public:
  Labeller(Recording& recording, const History& history, const Marks& marks, bool virtual_clock,
           const LabelOptions& options)
      : recording_(recording),
        history_(history),
        marks_(marks),
        options_(options),
        requests_(recording),
        boundaries_(Boundaries(FindSteps(marks))) {
    const uint32_t rows = history.allocations.size();
    labels_.category.assign(rows, Category::kUnknown);
    labels_.rule.assign(rows, 0);
    labels_.op.assign(rows, {});
    labels_.module.assign(rows, {});
    blocks_.resize(rows);
    // If recording began in the middle of the program, some blocks are older than the recording.
    // Later marks may set their categories.
    for (uint32_t row = 0; row < history.older; ++row)
      live_[history.allocations.device[row]][history.allocations.address[row]] = row;
    Places();
    if (virtual_clock) VirtualTimes();
  }

  Labels Label() {
    uint32_t mark = 0;
    for (EntryIndex i = 0; i <= recording_.entries.size(); ++i) {
      for (; mark < marks_.rows.size() && places_[mark] <= i; ++mark) {
        At({mark, false}, i);
        Apply(marks_.rows[mark], i, mark);
        At({mark, true}, i);
      }
      if (i < recording_.entries.size()) Entry(i);
    }
    // Scopes that are open when the marks end get no end event.
    Settle();
    return std::move(labels_);
  }

 private:
  struct Block {
    Category category = Category::kUnknown, unsaved = Category::kUnknown;
    uint32_t saved = 0;
    bool retagged = false;
    bool was_saved = false;
    bool gone = false;
    Phase phase = Phase::kNone;
    int32_t phase_number = 0;
  };

  static bool SetsUp(Phase phase) { return phase == Phase::kSetup || phase == Phase::kLoad; }

  void Places() {
    EntryIndex least = 0;
    uint64_t beyond = 0;
    for (const Mark& mark : marks_.rows) {
      least = std::max(least, requests_.After(mark.device, mark.requests));
      places_.push_back(least);
      beyond += mark.requests > requests_.Count(mark.device);
    }
    if (beyond > 0)
      recording_.warnings.push_back(
          beyond == 1
              ? i18n::English("{} mark is after the end of the recorded history", beyond)
              : i18n::English("{} marks are after the end of the recorded history", beyond));
    times_.resize(marks_.rows.size());
    const int64_t origin = recording_.start_unix_ns;
    for (size_t i = 0; i < times_.size(); ++i) times_[i] = marks_.rows[i].time_ns - origin;
  }

  void VirtualTimes() {
    recording::EntryTable& e = recording_.entries;
    const int64_t origin = marks_.rows.empty() ? 0 : marks_.rows.front().time_ns;
    int64_t last_time = 0;
    EntryIndex last = 0;
    const auto until = [&](EntryIndex end, int64_t time) {
      time = std::max(time, last_time);
      const int64_t steps = static_cast<int64_t>(end - last) + 1;
      for (EntryIndex i = last; i < end; ++i)
        e.time_ns[i] = last_time + (time - last_time) / steps * (i - last + 1);
      last = end;
      last_time = time;
    };
    for (size_t i = 0; i < times_.size(); ++i) {
      times_[i] = marks_.rows[i].time_ns - origin;
      until(places_[i], times_[i]);
    }
    until(e.size(), last_time);
    recording_.has_times = true;
  }

  void Place(EntryIndex at, uint32_t mark, Event event) {
    event.time_ns = mark < times_.size() ? times_[mark] : 0;
    labels_.placed.push_back({at, event});
  }

  void At(Edge edge, EntryIndex at) {
    for (; boundary_ < boundaries_.size() && boundaries_[boundary_].edge <= edge; ++boundary_) {
      const Event& event = boundaries_[boundary_].event;
      if (event.kind == EventKind::kPhaseBegin) {
        phase_ = static_cast<Phase>(event.detail);
        if (!SetsUp(phase_)) ++phase_number_;
      } else if (event.kind == EventKind::kPhaseEnd) {
        if (!SetsUp(phase_)) ++phase_number_;
        phase_ = Phase::kNone;
      } else if (event.kind == EventKind::kStepEnd) {
        in_step_ = false;
      } else if (event.kind == EventKind::kStepBegin && event.id == 0) {
        Place(at, edge.mark, MarkerOf(trace::kMarkerTrainingBegin));
      }
      if (event.kind == EventKind::kStepBegin) in_step_ = true;
      Place(at, edge.mark, event);
      if (event.kind == EventKind::kStepEnd) last_step_end_ = labels_.placed.size();
    }
  }

  Event MarkerOf(std::string_view text) {
    Event event = Of(EventKind::kMarker);
    event.name = Text(text);
    return event;
  }

  StringId Text(std::string_view text) {
    const auto [it, added] = texts_.try_emplace(
        std::string(text),
        static_cast<uint32_t>(recording_.strings.size() + labels_.strings.size()));
    if (added) labels_.strings.emplace_back(text);
    return StringId{it->second};
  }
  StringId NameOf(uint64_t number) {
    if (number >= marks_.names.size()) return {};
    if (name_ids_.size() < marks_.names.size()) name_ids_.resize(marks_.names.size());
    StringId& id = name_ids_[number];
    if (id.value == 0) id = Text(marks_.names[number]);
    return id;
  }

  void Apply(const Mark& mark, EntryIndex at, uint32_t number) {
    Thread& thread = threads_[mark.thread];
    switch (mark.kind) {
      case MarkKind::kModule:
        OpenModule(thread, mark, at, number);
        break;
      case MarkKind::kModuleEnd:
        if (thread.modules.empty()) break;
        thread.modules.pop_back();
        CloseSlice(EventKind::kModuleEnd, mark, at, number);
        break;
      case MarkKind::kForward:
        // Module calls that an exception ended have no end mark. The next forward closes them.
        if (backward_ > 0) break;
        for (; !thread.modules.empty(); thread.modules.pop_back())
          CloseSlice(EventKind::kModuleEnd, mark, at, number);
        break;
      case MarkKind::kBackward:
        ++backward_;
        backward_module_ = {};
        outer_modules_ = thread.modules.size();
        break;
      case MarkKind::kBackwardEnd:
        LeaveBackwardModule(at, number);
        if (backward_ > 0) --backward_;
        break;
      case MarkKind::kBackwardModule:
        LeaveBackwardModule(at, number);
        backward_module_ = NameOf(mark.a);
        if (backward_module_.value != 0) {
          Event event = Of(EventKind::kModuleBegin);
          event.name = backward_module_;
          event.thread = backward_thread_ = mark.thread;
          Place(at, number, event);
          thread.modules.push_back(backward_module_);
        }
        break;
      case MarkKind::kRange: {
        Event event = Of(EventKind::kAnnotationBegin);
        event.name = NameOf(mark.a);
        event.thread = mark.thread;
        Place(at, number, event);
        ++thread.ranges;
        break;
      }
      case MarkKind::kRangeEnd:
        if (thread.ranges == 0) break;
        --thread.ranges;
        CloseSlice(EventKind::kAnnotationEnd, mark, at, number);
        break;
      case MarkKind::kCounter:
        Counter(mark, at, number);
        break;
      case MarkKind::kMissingGradients: {
        Event event = MarkerOf(trace::MissingGradientsMarker(mark.b, mark.a));
        event.bytes = std::min<uint64_t>(mark.c, INT64_MAX);
        Place(at, number, event);
        break;
      }
      case MarkKind::kMadeAs:
        made_as_.push_back(mark.a > 0 && mark.a < static_cast<uint64_t>(trace::kCategoryCount)
                               ? static_cast<Category>(mark.a)
                               : Category::kUnknown);
        break;
      case MarkKind::kMadeAsEnd:
        if (!made_as_.empty()) made_as_.pop_back();
        break;
      case MarkKind::kTag:
        Tag(mark, at, number);
        break;
      case MarkKind::kHeld:
        Kept(mark);
        break;
      case MarkKind::kSaved:
        Saved(mark, at, number);
        break;
      case MarkKind::kReleased:
        Released(mark, at, number);
        break;
      default:
        break;
    }
    last_thread_ = mark.thread;
  }

  void Counter(const Mark& mark, EntryIndex at, uint32_t number) {
    if (mark.c > UINT8_MAX || mark.b > INT64_MAX) return;
    Event event = MarkerOf(trace::CounterMarker(marks_.Name(mark.a)));
    event.bytes = mark.b;
    event.device = static_cast<uint8_t>(mark.c);
    event.thread = mark.thread;
    Place(at, number, event);
  }

  struct Thread {
    std::vector<StringId> modules;
    uint32_t ranges = 0;
  };

  void OpenModule(Thread& thread, const Mark& mark, EntryIndex at, uint32_t number) {
    Event event = Of(EventKind::kModuleBegin);
    event.name = NameOf(mark.a);
    event.thread = mark.thread;
    Place(at, number, event);
    thread.modules.push_back(event.name);
  }
  void CloseSlice(EventKind kind, const Mark& mark, EntryIndex at, uint32_t number) {
    Event event = Of(kind);
    event.thread = mark.thread;
    Place(at, number, event);
  }
  // Closes the module for which backward runs. Modules recomputed in it are closed already.
  void LeaveBackwardModule(EntryIndex at, uint32_t number) {
    if (backward_module_.value == 0) return;
    Thread& thread = threads_[backward_thread_];
    if (!thread.modules.empty()) {
      thread.modules.pop_back();
      Event event = Of(EventKind::kModuleEnd);
      event.thread = backward_thread_;
      Place(at, number, event);
    }
    backward_module_ = {};
  }

  // Whether a module is being recomputed within the backward pass.
  bool Recomputes() {
    const Thread& thread = threads_[last_thread_];
    return thread.modules.size() >
           (backward_module_.value != 0 ? 1u : 0u) + (last_thread_ == 0 ? outer_modules_ : 0u);
  }

  // No two devices share an address. Searches the mark's device first: it usually has the block.
  uint32_t BlockAt(const Mark& mark, uint64_t address) const {
    const uint32_t row = BlockAt(live_[mark.device], address);
    for (uint32_t device = 0; row == UINT32_MAX && device < live_.size(); ++device)
      if (const uint32_t other = BlockAt(live_[device], address); other != UINT32_MAX) return other;
    return row;
  }

  uint32_t BlockAt(const absl::btree_map<uint64_t, uint32_t>& live, uint64_t address) const {
    auto it = live.upper_bound(address);
    if (it == live.begin()) return UINT32_MAX;
    --it;
    const uint32_t row = it->second;
    const uint64_t bytes = std::max<uint64_t>(history_.allocations.bytes[row], 1);
    return address - it->first < bytes ? row : UINT32_MAX;
  }

  static bool Weak(Category category) {
    return category == Category::kUnknown || category == Category::kTemporary ||
           category == Category::kAutogradDetail;
  }

  // Gives the category of a tensor to its block. The category applies from the block's allocation
  // on. If the block already has another category, the new category applies from this mark on.
  void Tag(const Mark& mark, EntryIndex at, uint32_t number) {
    if (mark.a == 0 || mark.a >= static_cast<uint64_t>(trace::kCategoryCount)) return;
    const auto category = static_cast<Category>(mark.a);
    const uint32_t row = BlockAt(mark, mark.b);
    if (row == UINT32_MAX) return;
    Block& block = blocks_[row];
    if (block.category == category) return;
    if (category == Category::kInput && !Weak(block.category)) return;
    const bool weak = Weak(block.category) || block.category == Category::kInput;
    block.unsaved = category;
    if (weak && !block.retagged) {
      labels_.category[row] = block.category = category;
      return;
    }
    Retag(row, category, "tensor seen", at, number);
  }

  // Called for a tensor that the program keeps outside of modules. If its block has no category, it
  // is a buffer: averages of parameters, data kept on the GPU, or copies made by a library.
  void Kept(const Mark& mark) {
    const uint32_t row = BlockAt(mark, mark.a);
    if (row == UINT32_MAX || blocks_[row].category != Category::kUnknown) return;
    blocks_[row].unsaved = blocks_[row].category = labels_.category[row] = Category::kBuffer;
  }

  void Saved(const Mark& mark, EntryIndex at, uint32_t number) {
    const uint32_t row = BlockAt(mark, mark.a);
    if (row == UINT32_MAX) return;
    saved_[mark.b] = row;
    Block& block = blocks_[row];
    block.was_saved = true;
    if (block.saved++ > 0 || !Weak(block.category)) return;
    block.unsaved = block.category == Category::kUnknown ? Category::kTemporary : block.category;
    Retag(row, Category::kActivation, "saved for backward", at, number);
  }

  void Released(const Mark& mark, EntryIndex at, uint32_t number) {
    const auto saved = saved_.find(mark.a);
    if (saved == saved_.end()) return;
    const uint32_t row = saved->second;
    saved_.erase(saved);
    Block& block = blocks_[row];
    if (block.gone || --block.saved > 0 || block.category != Category::kActivation) return;
    Retag(row, block.unsaved, "released by backward", at, number);
  }

  void Retag(uint32_t row, Category category, std::string_view why, EntryIndex at,
             uint32_t number) {
    Block& block = blocks_[row];
    block.category = category;
    block.retagged = true;
    Event event = Of(EventKind::kRetag, row);
    event.category = category;
    event.name = Text(why);
    Place(at, number, event);
  }

  void Gone(uint32_t row, absl::btree_map<uint64_t, uint32_t>& live) {
    blocks_[row].gone = true;
    const auto at = live.find(history_.allocations.address[row]);
    if (at != live.end() && at->second == row) live.erase(at);
  }

  void Entry(EntryIndex i) {
    const uint32_t row = history_.allocation_of_entry[i];
    if (row >= blocks_.size()) return;
    auto& live = live_[recording_.entries.DeviceOf(i)];
    for (; displaced_ < history_.displaced.size() &&
           history_.allocations.free_completed[history_.displaced[displaced_]] <= i;
         ++displaced_)
      Gone(history_.displaced[displaced_], live);
    if (recording_.entries.action[i] == Action::kAlloc) {
      Block& block = blocks_[row];
      block.category = block.unsaved = labels_.category[row] = Birth();
      block.phase = phase_;
      block.phase_number = phase_number_;
      labels_.module[row] = Module();
      if (i < options_.operators.size()) labels_.op[row] = options_.operators[i];
      live[history_.allocations.address[row]] = row;
    } else if (history_.allocations.free_completed[row] == i) {
      Gone(row, live);
      // A block without a category that is freed in the same phase is a temporary.
      if (labels_.category[row] == Category::kUnknown && !blocks_[row].retagged &&
          blocks_[row].phase_number == phase_number_)
        labels_.category[row] = Category::kTemporary;
    }
  }

  Category Birth() {
    if (!made_as_.empty()) return made_as_.back();
    switch (phase_) {
      case Phase::kNone:
        return in_step_ ? Category::kTemporary : Category::kUnknown;
      case Phase::kSetup:
        return Category::kUnknown;
      case Phase::kLoad:  // what is loaded before training is parameters
        return in_step_ || last_step_end_ > 0 ? Category::kTemporary : Category::kUnknown;
      case Phase::kData:
        return Category::kInput;
      case Phase::kBackward:
        return Recomputes() ? Category::kTemporary : Category::kAutogradDetail;
      default:
        return Category::kTemporary;
    }
  }

  StringId Module() {
    const Thread& thread = threads_[last_thread_];
    if (backward_ > 0 && !Recomputes()) return backward_module_;
    return thread.modules.empty() ? StringId{} : thread.modules.back();
  }

  // Assigns the categories that are known only after the last mark, and marks the end of training.
  void Settle() {
    for (uint32_t row = 0; row < blocks_.size(); ++row) {
      const Block& block = blocks_[row];
      if (block.was_saved || block.retagged || !Weak(labels_.category[row])) continue;
      if (history_.allocations.free_requested[row] == recording::kNoEntry &&
          history_.allocations.requested[row] == options_.blas_workspace_bytes &&
          options_.blas_workspace_bytes > 0)
        labels_.category[row] = Category::kWorkspace;
    }
    if (last_step_end_ > 0) {
      Event end = MarkerOf(trace::kMarkerTrainingEnd);
      const Labels::Placed& last = labels_.placed[last_step_end_ - 1];
      end.time_ns = last.event.time_ns;
      labels_.placed.insert(labels_.placed.begin() + static_cast<ptrdiff_t>(last_step_end_),
                            {last.at, end});
    }
  }

  Recording& recording_;
  const History& history_;
  const Marks& marks_;
  const LabelOptions options_;
  const Requests requests_;
  const std::vector<Boundary> boundaries_;
  Labels labels_;
  std::vector<EntryIndex> places_;  // the entry that follows each mark
  std::vector<int64_t> times_;      // indexed by mark
  std::vector<Block> blocks_;       // indexed by allocation of the history
  // Keyed by the number under which autograd saved a tensor: the tensor's allocation.
  base::HashMap<uint64_t, uint32_t> saved_;
  std::array<absl::btree_map<uint64_t, uint32_t>, 256> live_;
  std::map<uint32_t, Thread> threads_;
  base::HashMap<std::string, uint32_t> texts_;
  std::vector<StringId> name_ids_;
  size_t boundary_ = 0, displaced_ = 0, last_step_end_ = 0;
  Phase phase_ = Phase::kNone;
  int32_t phase_number_ = 0;
  bool in_step_ = false;
  std::vector<Category> made_as_;
  uint32_t backward_ = 0, backward_thread_ = 0, last_thread_ = 0;
  size_t outer_modules_ = 0;
  StringId backward_module_;
};

}  // namespace

Labels LabelsFromMarks(Recording& recording, const History& history, const Marks& marks,
                       bool virtual_clock, const LabelOptions& options) {
  return Labeller(recording, history, marks, virtual_clock, options).Label();
}

}  // namespace vramscope::program
