#include "tests/profiler/inference/stripped.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profiler/base/hash_map.h"

namespace vramscope::testing {
namespace {

using recording::Action;
using recording::Annotation;
using recording::EntryIndex;
using recording::History;
using recording::kNoEntry;
using recording::Labels;
using recording::Recording;
using trace::Category;
using trace::EventIndex;
using trace::EventKind;
using trace::Phase;
using trace::SliceKind;
using trace::Trace;

struct Frame {
  std::string function, file;
  uint32_t line = 0;
};

constexpr char kTorch[] = "/usr/lib/python3/site-packages/torch/";

class Stripper {
 public:
  Stripper(const Trace& trace, const StripOptions& options) : t_(trace), o_(options) {}

  Stripped Run() {
    FindWindow();
    Slices();
    r_.source = "a run without its categories";
    const EventIndex count = t_.events.size();
    std::vector<uint32_t> rows(t_.allocations.size(), UINT32_MAX);
    Older(rows);
    for (EventIndex e = 0; e < count && e < end_; ++e) {
      Follow(e);
      if (e < begin_) continue;
      Entry(e, rows);
    }
    Finish();
    return std::move(out_);
  }

 private:
  void FindWindow() {
    begin_ = 0;
    end_ = t_.events.size();
    for (const trace::Marker& m : t_.markers) {
      if (t_.String(m.name) == trace::kMarkerTrainingEnd && !o_.teardown) end_ = m.event;
    }
    for (uint32_t s = 0; s < t_.slices.size(); ++s) {
      if (t_.slices.kind[s] != SliceKind::kStep) continue;
      if (static_cast<int>(t_.slices.number[s]) == o_.first_step) begin_ = t_.slices.begin_event[s];
      if (static_cast<int>(t_.slices.number[s]) == o_.last_step) end_ = t_.slices.end_event[s];
    }
    begin_ += static_cast<EventIndex>((end_ - begin_) * o_.skip);
    end_ = begin_ + static_cast<EventIndex>((end_ - begin_) * o_.cut);
    first_ns_ = t_.events.time_ns[begin_];
  }

  void Slices() {
    slice_of_.assign(t_.events.size(), UINT32_MAX);
    for (uint32_t s = 0; s < t_.slices.size(); ++s) {
      slice_of_[t_.slices.begin_event[s]] = s;
      if (t_.slices.end_event[s] != trace::kNoEvent) slice_of_[t_.slices.end_event[s]] = s;
    }
    if (!o_.annotations) return;
    for (uint32_t s = 0; s < t_.slices.size(); ++s) {
      std::string name;
      if (t_.slices.kind[s] == SliceKind::kStep) {
        name = fmt::format("ProfilerStep#{}", t_.slices.number[s]);
      } else if (t_.slices.kind[s] == SliceKind::kPhase) {
        name = fmt::format("## {} ##", trace::Name(t_.slices.phase(s)));
      } else {
        continue;
      }
      if (t_.slices.end_event[s] <= begin_ || t_.slices.begin_event[s] >= end_) continue;
      // Uses made-up times, which differ for all events, so that the order of events is kept.
      const auto at = [&](EventIndex e) {
        return e <= begin_ ? 0 : static_cast<int64_t>(std::min(e, end_) - begin_) * 1000;
      };
      r_.annotations.push_back(
          {Intern(name), at(t_.slices.begin_event[s]), at(t_.slices.end_event[s]), 0});
    }
  }

  // Updates the open slices.
  void Follow(EventIndex e) {
    const uint32_t s = slice_of_[e];
    if (s == UINT32_MAX) return;
    switch (t_.events.kind[e]) {
      case EventKind::kOpBegin:
      case EventKind::kModuleBegin:
      case EventKind::kPhaseBegin:
      case EventKind::kStepBegin:
        open_.push_back(s);
        break;
      case EventKind::kOpEnd:
      case EventKind::kModuleEnd:
      case EventKind::kPhaseEnd:
      case EventKind::kStepEnd:
        open_.erase(std::remove(open_.begin(), open_.end(), s), open_.end());
        break;
      default:
        break;
    }
  }
  Phase OpenPhase() const {
    for (size_t i = open_.size(); i-- > 0;) {
      if (t_.slices.kind[open_[i]] == SliceKind::kPhase) return t_.slices.phase(open_[i]);
    }
    return Phase::kNone;
  }
  int OpenStep() const {
    for (const uint32_t s : open_) {
      if (t_.slices.kind[s] == SliceKind::kStep) return static_cast<int>(t_.slices.number[s]);
    }
    return -1;
  }

  void Older(std::vector<uint32_t>& rows) {
    std::vector<uint32_t> older;
    for (uint32_t a = 0; a < t_.allocations.size(); ++a) {
      if (t_.allocations.alloc_event[a] < begin_ && t_.allocations.free_event[a] >= begin_) {
        older.push_back(a);
      }
    }
    std::sort(older.begin(), older.end(), [&](uint32_t a, uint32_t b) {
      return t_.allocations.address[a] < t_.allocations.address[b];
    });
    for (const uint32_t a : older) {
      rows[a] = AddAllocation(a, kNoEntry, {});
      Category category = t_.allocations.birth_category[a];
      for (uint32_t i = 0; i < t_.retags.size() && t_.retags.event[i] < begin_; ++i) {
        if (t_.retags.allocation[i].value == a) category = t_.retags.to[i];
      }
      out_.birth.back() = category;
    }
    h_.older = static_cast<uint32_t>(older.size());
    for (uint32_t s = 0; s < t_.segments.size(); ++s) {
      if (t_.segments.alloc_event[s] >= begin_ || t_.segments.free_event[s] < begin_) continue;
      h_.start_segments.push_back({.address = t_.segments.address[s],
                                   .bytes = t_.segments.bytes[s],
                                   .pool = t_.segments.pool[s]});
    }
    std::sort(h_.start_segments.begin(), h_.start_segments.end(),
              [](const auto& x, const auto& y) { return x.address < y.address; });
  }

  uint32_t AddAllocation(uint32_t a, EntryIndex entry, trace::StackId stack) {
    History::Allocations& h = h_.allocations;
    h.alloc.push_back(entry);
    h.free_requested.push_back(kNoEntry);
    h.free_completed.push_back(kNoEntry);
    h.address.push_back(t_.allocations.address[a]);
    h.requested.push_back(t_.allocations.bytes[a]);
    h.bytes.push_back(t_.allocations.bytes_rounded[a]);
    h.stream.push_back(0);
    h.device.push_back(0);
    h.pool.push_back(t_.allocations.pool[a]);
    h.stack.push_back(stack);
    h.bytes_known.push_back(true);
    out_.birth.push_back(t_.allocations.birth_category[a]);
    return h.size() - 1;
  }

  void Entry(EventIndex e, std::vector<uint32_t>& rows) {
    const EventKind kind = t_.events.kind[e];
    const uint64_t id = t_.events.id[e];
    const EntryIndex at = r_.entries.size();
    if (kind == EventKind::kRetag) {
      out_.retags.push_back({at, rows[id], t_.events.category[e], 0});
      return;
    }
    Action action;
    uint64_t address = 0, bytes = 0;
    trace::StackId stack;
    switch (kind) {
      case EventKind::kAlloc:
        action = Action::kAlloc;
        stack = Stack(e, static_cast<uint32_t>(id));
        rows[id] = AddAllocation(static_cast<uint32_t>(id), at, stack);
        break;
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
        action =
            kind == EventKind::kFreeRequested ? Action::kFreeRequested : Action::kFreeCompleted;
        stack = Stack(e, UINT32_MAX);
        (kind == EventKind::kFreeRequested ? h_.allocations.free_requested
                                           : h_.allocations.free_completed)[rows[id]] = at;
        break;
      case EventKind::kSegmentAlloc:
      case EventKind::kSegmentFree:
        action = kind == EventKind::kSegmentAlloc ? Action::kSegmentAlloc : Action::kSegmentFree;
        address = t_.segments.address[id];
        bytes = t_.segments.bytes[id];
        break;
      default:
        return;
    }
    uint32_t row = UINT32_MAX;
    if (action != Action::kSegmentAlloc && action != Action::kSegmentFree) {
      row = rows[id];
      address = t_.allocations.address[id];
      bytes = t_.allocations.bytes[id];
    }
    r_.entries.action.push_back(action);
    r_.entries.address.push_back(address);
    r_.entries.bytes.push_back(bytes);
    r_.entries.time_ns.push_back(o_.annotations ? static_cast<int64_t>(e - begin_) * 1000
                                                : t_.events.time_ns[e] - first_ns_);
    r_.entries.stack.push_back(stack);
    r_.entries.stream.push_back(0);
    h_.allocation_of_entry.push_back(row);
    out_.phase.push_back(OpenPhase());
    out_.step.push_back(OpenStep());
  }

  trace::StringId Intern(const std::string& text) {
    const auto [it, added] = strings_.try_emplace(text, r_.strings.size());
    if (added) r_.strings.push_back(text);
    return {it->second};
  }
  trace::StackId InternStack(const std::vector<Frame>& frames) {
    if (frames.empty()) return {};
    trace::StackTable& table = r_.stacks;
    std::vector<uint32_t> rows;
    for (const Frame& f : frames) {
      const auto key = std::tuple(f.function, f.file, f.line);
      const auto [it, added] = frames_.try_emplace(key, table.frame_count());
      if (added) {
        table.function.push_back(Intern(f.function));
        table.file.push_back(Intern(f.file));
        table.line.push_back(f.line);
      }
      rows.push_back(it->second);
    }
    const auto [it, added] = stacks_.try_emplace(rows, table.size());
    if (added) {
      table.frames.insert(table.frames.end(), rows.begin(), rows.end());
      table.first.push_back(static_cast<uint32_t>(table.frames.size()));
    }
    return {it->second};
  }

  // `allocation`: UINT32_MAX for a free.
  trace::StackId Stack(EventIndex, uint32_t allocation) {
    const std::string op =
        allocation == UINT32_MAX ? "" : std::string(t_.String(t_.allocations.op[allocation]));
    if (o_.frames == Frames::kNone) return {};
    if (o_.frames == Frames::kOurs) {
      if (allocation == UINT32_MAX) return {};
      std::string path(t_.String(t_.allocations.module[allocation]));
      std::vector<Frame> frames;
      if (!op.empty()) frames.push_back({op, path});
      while (!path.empty()) {
        const size_t dot = path.rfind('.');
        const std::string part = path.substr(dot == std::string::npos ? 0 : dot + 1);
        path.resize(dot == std::string::npos ? 0 : dot);
        frames.push_back({part, path});
      }
      return InternStack(frames);
    }
    const bool cpp = o_.frames == Frames::kPythonCpp;
    const Phase phase = OpenPhase();
    std::vector<Frame> frames;
    if (cpp) Native(op, frames);
    for (size_t i = open_.size(); i-- > 0;) {
      const uint32_t s = open_[i];
      if (t_.slices.kind[s] == SliceKind::kOp && cpp) {
        Native(std::string(t_.String(t_.slices.name[s])), frames);
      } else if (t_.slices.kind[s] == SliceKind::kModule) {
        const uint32_t line = 10 + static_cast<uint32_t>(t_.slices.depth[s]);
        frames.push_back({"forward", "/home/someone/model.py", line});
        frames.push_back({"_call_impl", std::string(kTorch) + "nn/modules/module.py", 1790});
      }
    }
    switch (phase) {
      case Phase::kBackward:
        if (!frames.empty() && frames.back().function == "_call_impl") {
          frames.push_back({"recompute_fn", std::string(kTorch) + "utils/checkpoint.py", 1130});
        }
        if (cpp) frames.push_back({"torch::autograd::Engine::thread_main(graph)", "??"});
        return InternStack(frames);  // autograd's thread has Python frames only for recomputation
      case Phase::kLoss:
        frames.push_back({"cross_entropy", std::string(kTorch) + "nn/functional.py", 3458});
        break;
      case Phase::kOptimizer:
        frames.push_back({"step", std::string(kTorch) + "optim/adamw.py", 243});
        frames.push_back({"wrapper", std::string(kTorch) + "optim/optimizer.py", 533});
        break;
      case Phase::kZeroGrad:
        frames.push_back({"zero_grad", std::string(kTorch) + "optim/optimizer.py", 1060});
        break;
      case Phase::kSetup: {
        const bool buffer =
            allocation != UINT32_MAX && t_.allocations.category[allocation] == Category::kBuffer;
        const std::string file = std::string(kTorch) + "nn/modules/module.py";
        frames.push_back({"convert", file, 1369});
        frames.push_back({"_apply", file, buffer ? 1017u : 957u});
        frames.push_back({"_apply", file, 930});
        frames.push_back({"to", file, 1371});
        break;
      }
      default:
        break;
    }
    frames.push_back({"main", "/home/someone/train.py", 20 + static_cast<uint32_t>(phase)});
    return InternStack(frames);
  }
  static void Native(const std::string& op, std::vector<Frame>& frames) {
    if (op.starts_with("aten::")) {
      frames.push_back({"at::_ops::" + op.substr(6) + "::call(at::Tensor const&)", "??"});
    } else if (op.find("AccumulateGrad") != std::string::npos) {
      frames.push_back({"torch::autograd::AccumulateGrad::apply(variable_list&&)", "??"});
    } else if (op.find("Backward") != std::string::npos && op.find(':') == std::string::npos) {
      frames.push_back({"torch::autograd::generated::" + op + "::apply(variable_list&&)", "??"});
    }
  }

  void Finish() {
    // A recording has its annotations in the order of their begins. Slices that are older than the
    // recording all begin at 0 and keep their order.
    std::stable_sort(
        r_.annotations.begin(), r_.annotations.end(),
        [](const Annotation& a, const Annotation& b) { return a.begin_ns < b.begin_ns; });
    out_.recording = std::move(r_);
    out_.history = std::move(h_);
  }

  const Trace& t_;
  const StripOptions o_;
  Stripped out_;
  Recording r_;
  History h_;
  EventIndex begin_ = 0, end_ = 0;
  int64_t first_ns_ = 0;
  std::vector<uint32_t> slice_of_;  // indexed by event
  std::vector<uint32_t> open_;
  base::HashMap<std::string, uint32_t> strings_{{"", 0}};
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> frames_;
  std::map<std::vector<uint32_t>, uint32_t> stacks_;
};

}  // namespace

Stripped Strip(const Trace& trace, const StripOptions& options) {
  return Stripper(trace, options).Run();
}

double Confusion::Total(const Matrix& m) {
  double total = 0;
  for (const auto& row : m) {
    for (const double v : row) total += v;
  }
  return total;
}
double Confusion::Right(const Matrix& m) {
  double right = 0;
  for (int c = 0; c < trace::kCategoryCount; ++c) right += m[c][c];
  const double total = Total(m);
  return total == 0 ? 1 : right / total;
}
bool Confusion::Exact(const Matrix& m, Category category) {
  const auto c = static_cast<size_t>(category);
  for (size_t other = 0; other < m.size(); ++other) {
    if (other != c && (m[c][other] != 0 || m[other][c] != 0)) return false;
  }
  return true;
}
std::string Confusion::Table(const Matrix& m) {
  std::vector<size_t> used;
  for (size_t c = 0; c < m.size(); ++c) {
    double sum = 0;
    for (size_t other = 0; other < m.size(); ++other) sum += m[c][other] + m[other][c];
    if (sum > 0) used.push_back(c);
  }
  std::string text = fmt::format("{:<16}", "truth \\ inferred");
  for (const size_t c : used) text += fmt::format("{:>16}", trace::Name(static_cast<Category>(c)));
  text += '\n';
  for (const size_t row : used) {
    text += fmt::format("{:<16}", trace::Name(static_cast<Category>(row)));
    for (const size_t c : used) {
      text += m[row][c] == 0 ? fmt::format("{:>16}", "-")
                             : fmt::format("{:>16.3f}", m[row][c] / (1 << 20));
    }
    text += '\n';
  }
  return text;
}

Confusion Compare(const Stripped& truth, const Labels& labels) {
  const History::Allocations& h = truth.history.allocations;
  const Recording& r = truth.recording;
  std::vector<Category> is = truth.birth, inferred = labels.category;
  std::vector<bool> alive(h.size());
  Confusion confusion;
  Confusion::Matrix now{};
  double live = 0, peak = -1;
  const auto add = [&](uint32_t a, double sign) {
    const double bytes = sign * static_cast<double>(h.bytes[a]);
    now[static_cast<size_t>(is[a])][static_cast<size_t>(inferred[a])] += bytes;
    live += bytes;
  };
  const auto change = [&](std::vector<Category>& of, uint32_t a, Category to) {
    if (alive[a]) add(a, -1);
    of[a] = to;
    if (alive[a]) add(a, +1);
  };
  for (uint32_t a = 0; a < truth.history.older; ++a) {
    alive[a] = true;
    add(a, +1);
  }
  size_t next_truth = 0, next_label = 0;
  for (EntryIndex i = 0; i < r.entries.size(); ++i) {
    for (; next_truth < truth.retags.size() && truth.retags[next_truth].at <= i; ++next_truth) {
      change(is, truth.retags[next_truth].allocation, truth.retags[next_truth].category);
    }
    for (; next_label < labels.retags.size() && labels.retags[next_label].at <= i; ++next_label) {
      change(inferred, labels.retags[next_label].allocation, labels.retags[next_label].category);
    }
    // The peak is updated after the category changes that directly follow an allocation, so the
    // peak has the new categories.
    if (live > peak) {
      peak = live;
      confusion.peak = now;
    }
    if (i > 0) {
      const double dt = static_cast<double>(r.entries.time_ns[i] - r.entries.time_ns[i - 1]) * 1e-9;
      for (size_t t = 0; t < now.size(); ++t) {
        for (size_t s = 0; s < now.size(); ++s) confusion.time[t][s] += now[t][s] * dt;
      }
    }
    const uint32_t a = truth.history.allocation_of_entry[i];
    if (a == UINT32_MAX) continue;
    if (r.entries.action[i] == Action::kAlloc) {
      alive[a] = true;
      add(a, +1);
    } else if (h.free_completed[a] == i) {
      add(a, -1);
      alive[a] = false;
    }
  }
  if (live > peak) confusion.peak = now;
  return confusion;
}

double PhasesRight(const Stripped& truth, const Labels& labels) {
  std::vector<Phase> inferred(truth.phase.size(), Phase::kNone);
  for (const Labels::PhaseRange& r : labels.phases) {
    std::fill(inferred.begin() + r.begin, inferred.begin() + r.end, r.phase);
  }
  uint64_t right = 0, all = 0;
  const auto same = [](Phase a, Phase b) {
    const auto fold = [](Phase p) { return p == Phase::kLoss ? Phase::kForward : p; };
    return fold(a) == fold(b);
  };
  for (size_t i = 0; i < inferred.size(); ++i) {
    if (truth.phase[i] == Phase::kNone) continue;
    ++all;
    right += same(truth.phase[i], inferred[i]);
  }
  return all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace vramscope::testing
