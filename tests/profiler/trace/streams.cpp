// Generates streams of events: random ones, and ones with the structure of training.
#include "tests/profiler/trace/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/event_fields.h"

namespace vramscope::trace::testing {

Stream RandomStream(uint64_t seed, size_t events) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return n == 0 ? 0 : random() % n; };
  const auto extreme = [&]() -> uint64_t {
    switch (below(6)) {
      case 0:
        return 0;
      case 1:
        return UINT64_MAX;
      case 2:
        return uint64_t{1} << below(64);
      case 3:
        return random();
      default:
        return below(1u << 20);
    }
  };
  Stream s;
  s.info.producer = "test";
  s.info.title = fmt::format("random {}", seed);
  s.info.backend = static_cast<Backend>(below(4));
  s.info.measured = below(2) == 0;
  s.info.device.key = "gpu";
  s.info.device.memory_bytes = extreme();
  s.info.model = {"m", below(1000), below(1000), extreme(), 3};
  s.info.start_unix_ns = static_cast<int64_t>(random());
  s.info.source = below(2) == 0 ? "a recording" : "";
  s.info.alloc_conf = below(2) == 0 ? "max_split_size_mb:64" : "";
  if (below(2) == 0) s.info.statistics = {{"num_ooms", 2}, {"x", -1}};
  s.info.content = static_cast<Content>(below(2));
  s.info.has_times = below(2) == 0;
  s.strings = {"", std::string(kMarkerRecordingBegin)};
  const bool has_stacks = seed % 4 != 0;
  std::vector<uint64_t> live, requested, segments;
  uint64_t next_allocation = 0, next_segment = 0;
  int steps = 0, micro_batches = 0, phases = 0;
  std::map<uint32_t, int> modules, ops, annotations;
  std::vector<Event> expandable;
  int64_t time = static_cast<int64_t>(below(2) == 0 ? 0 : random() >> 2) * (below(2) == 0 ? 1 : -1);
  const auto string = [&]() -> StringId {
    if (below(20) == 0) s.strings.push_back(fmt::format("string {}", s.strings.size()));
    return {static_cast<uint32_t>(below(s.strings.size()))};
  };
  const auto stack = [&]() -> StackId {
    StackTable& t = s.stacks;
    if (!has_stacks || below(3) == 0) return {};
    if (below(10) == 0) {
      for (uint64_t n = below(3); n > 0; --n) {
        t.function.push_back(string());
        t.file.push_back(string());
        t.line.push_back(static_cast<uint32_t>(extreme()));
      }
      for (uint64_t n = t.frame_count() == 0 ? 0 : below(20); n > 0; --n)
        t.frames.push_back(static_cast<uint32_t>(below(t.frame_count())));
      t.first.push_back(static_cast<uint32_t>(t.frames.size()));
    }
    return {static_cast<uint32_t>(below(t.size()))};
  };
  // Adds the fields that a recorder adds: the stack and, in most streams, user metadata and compile
  // contexts.
  const auto entry = [&](Event& e) {
    e.stack = stack();
    if (seed % 5 == 0) return;
    if (below(2) == 0) e.user_metadata = string();
    if (below(4) == 0) e.compile_context = string();
  };
  const auto rule = [&] { return static_cast<uint8_t>(below(3) == 0 ? random() : 0); };
  const auto take = [&](std::vector<uint64_t>& from) {
    const size_t at = below(from.size());
    const uint64_t id = from[at];
    from[at] = from.back();
    from.pop_back();
    return id;
  };
  while (s.events.size() < events) {
    Event e;
    if (below(3) != 0) time += static_cast<int64_t>(below(uint64_t{1} << below(30)));
    e.time_ns = time;
    e.kind = static_cast<EventKind>(1 + below(28));
    if (!IsKnown(e.kind)) continue;
    const auto thread = static_cast<uint32_t>(below(3) == 0 ? below(3) : 0);
    switch (e.kind) {
      case EventKind::kAlloc:
        e.id = next_allocation++;
        live.push_back(e.id);
        e.address = below(8) == 0 ? extreme() : below(1u << 24) * 512;
        e.bytes = below(8) == 0 ? extreme() : below(1u << 24);
        e.bytes_rounded = below(8) == 0 ? extreme() : (e.bytes + 511) / 512 * 512;
        e.stream = static_cast<uint32_t>(below(9) == 0 ? extreme() : 0);
        e.device = static_cast<uint8_t>(below(2));
        e.pool = static_cast<Pool>(below(2));
        e.category = static_cast<Category>(below(kCategoryCount));
        e.detail = rule();
        e.name = string();
        e.module = string();
        entry(e);
        break;
      case EventKind::kFreeRequested:
        if (live.empty()) continue;
        e.id = take(live);
        entry(e);
        requested.push_back(e.id);
        break;
      case EventKind::kFreeCompleted:
        if (below(4) == 0 && !live.empty()) {
          e.id = take(live);  // the free has no recorded request
        } else {
          if (requested.empty()) continue;
          e.id = take(requested);
        }
        entry(e);
        break;
      case EventKind::kRetag:
        if (live.empty()) continue;
        e.id = live[below(live.size())];
        e.category = static_cast<Category>(below(kCategoryCount));
        e.detail = rule();
        e.name = string();
        break;
      case EventKind::kSegmentAlloc:
        e.id = next_segment++;
        e.address = below(1u << 12) << 21;
        e.bytes = below(1u << 25);
        e.device = static_cast<uint8_t>(below(2));
        e.pool = static_cast<Pool>(below(2));
        e.mempool = static_cast<uint32_t>(below(9) == 0 ? extreme() : 0);
        e.detail = below(3) == 0;
        entry(e);
        if (e.detail != 0)
          expandable.push_back(e);
        else
          segments.push_back(e.id);
        break;
      case EventKind::kSegmentFree:
        if (segments.empty()) continue;
        e.id = take(segments);
        entry(e);
        break;
      case EventKind::kSegmentMap:
      case EventKind::kSegmentUnmap: {
        if (expandable.empty()) continue;
        const Event& within = expandable[below(expandable.size())];
        const uint64_t from = below(within.bytes + 1);
        e.id = within.id;
        e.address = within.address + from;
        e.bytes = below(within.bytes - from + 1);
        e.stream = within.stream;
        e.pool = within.pool;
        entry(e);
        break;
      }
      case EventKind::kAnnotationBegin:
        e.thread = thread;
        e.name = string();
        ++annotations[thread];
        break;
      case EventKind::kAnnotationEnd:
        if (annotations[thread] == 0) continue;
        e.thread = thread;
        --annotations[thread];
        break;
      case EventKind::kPhaseBegin:
        e.detail = static_cast<uint8_t>(below(kPhaseCount));
        e.id = rule();
        ++phases;
        break;
      case EventKind::kPhaseEnd:
        if (phases-- == 0) {
          phases = 0;
          continue;
        }
        break;
      case EventKind::kStepBegin:
        e.id = below(INT32_MAX);
        e.detail = rule();
        ++steps;
        break;
      case EventKind::kStepEnd:
        if (steps == 0) continue;
        --steps;
        break;
      case EventKind::kMicroBatchBegin:
        e.id = below(100);
        ++micro_batches;
        break;
      case EventKind::kMicroBatchEnd:
        if (micro_batches == 0) continue;
        --micro_batches;
        break;
      case EventKind::kModuleBegin:
        e.thread = thread;
        e.name = string();
        ++modules[thread];
        break;
      case EventKind::kModuleEnd:
        if (modules[thread] == 0) continue;
        e.thread = thread;
        --modules[thread];
        break;
      case EventKind::kOpBegin:
        e.thread = thread;
        e.name = string();
        e.module = string();
        ++ops[thread];
        break;
      case EventKind::kOpEnd:
        if (ops[thread] == 0) continue;
        e.thread = thread;
        --ops[thread];
        break;
      default:
        e.id = extreme();
        e.address = extreme();
        e.bytes = extreme();
        e.bytes_rounded = extreme();
        e.name = string();
        e.module = string();
        e.category = static_cast<Category>(below(kCategoryCount));
        e.detail = static_cast<uint8_t>(random());
        e.stream = static_cast<uint32_t>(extreme());
        e.thread = thread;
        e.device = static_cast<uint8_t>(random());
        e.pool = static_cast<Pool>(below(2));
        entry(e);
    }
    s.events.push_back(e);
  }
  for (size_t n = events / 3; n > 0; --n) {
    Activity a;
    a.kind = static_cast<ActivityKind>(below(kActivityKindCount));
    a.begin_ns =
        below(8) == 0 ? static_cast<int64_t>(extreme()) : s.events[below(s.events.size())].time_ns;
    a.end_ns = static_cast<int64_t>(static_cast<uint64_t>(a.begin_ns) + below(1u << 20));
    if (a.end_ns < a.begin_ns) a.end_ns = INT64_MAX;
    a.device = static_cast<uint8_t>(below(2));
    a.from = static_cast<MemorySpace>(below(kMemorySpaceCount));
    a.to = static_cast<MemorySpace>(below(kMemorySpaceCount));
    a.stream = static_cast<uint32_t>(below(4) == 0 ? extreme() : below(8));
    a.thread = static_cast<uint32_t>(below(3));
    a.name = string();
    a.op = string();
    a.module = string();
    a.correlation = below(4) == 0 ? extreme() : s.activities.size();
    a.address = below(4) == 0 ? extreme() : 0;
    a.bytes = extreme();
    s.activities.push_back(a);
  }
  return s;
}

namespace {

// Runs the "model" and collects what a recorder would report.
class Trainer : public allocator::SegmentObserver {
 public:
  explicit Trainer(const TrainingOptions& options)
      : options_(options), allocator_(allocator::Settings{}, this) {
    stream_.info.producer = "test";
    stream_.info.title = "training";
    stream_.info.measured = true;
    stream_.info.device.key = "gpu";
    stream_.info.device.memory_bytes = uint64_t{24} << 30;
    stream_.strings = {""};
    // Reserves memory for the events in advance, so that a benchmark does not measure how the
    // vector grows.
    stream_.events.reserve(std::min<size_t>(options.max_events, 1u << 20));
  }

  Stream Run() {
    Begin(EventKind::kPhaseBegin, Phase::kSetup);
    for (int l = 0; l < options_.layers; ++l)
      for (const uint64_t size : {kHidden * kHidden, kHidden * kHidden / 7, 2 * kHidden * kMlp,
                                  kHidden * kMlp, kHidden, kHidden})
        parameters_.push_back(Alloc("aten::empty", size * 4, Category::kParameter));
    End(EventKind::kPhaseEnd);
    for (int step = 0; step < options_.steps && !Full(); ++step) Step(step);
    if (stream_.events.size() > options_.max_events) stream_.events.resize(options_.max_events);
    return std::move(stream_);
  }

  void OnSegmentAlloc(const allocator::Segment& segment) override {
    Event& e = Push(EventKind::kSegmentAlloc);
    e.id = segments_++;
    e.address = segment.address;
    e.bytes = segment.bytes;
    e.pool = segment.pool;
    e.stream = segment.stream;
  }
  void OnSegmentFree(const allocator::Segment&) override {}
  void OnOutOfMemory(uint64_t, uint64_t) override {}

 private:
  static constexpr uint64_t kHidden = 896, kMlp = 4864, kTokens = 2 * 512, kHeads = 14;
  struct Block {
    uint64_t id = 0, address = 0;
  };

  bool Full() const { return stream_.events.size() >= options_.max_events; }

  StringId Intern(const std::string& text) {
    const auto [at, added] = ids_.try_emplace(text, static_cast<uint32_t>(stream_.strings.size()));
    if (added) stream_.strings.push_back(text);
    return {at->second};
  }
  Event& Push(EventKind kind) {
    // Between two events, the host needs a few hundred nanoseconds to some microseconds.
    const double scatter = options_.jitter == 0 ? 1 : jitter_(random_);
    time_ += static_cast<int64_t>(700.0 * scatter);
    Event e;
    e.kind = kind;
    e.time_ns = time_;
    e.thread = thread_;
    stream_.events.push_back(e);
    return stream_.events.back();
  }
  void Begin(EventKind kind, Phase phase) { Push(kind).detail = static_cast<uint8_t>(phase); }
  void End(EventKind kind) { Push(kind); }
  void ModuleBegin(const std::string& name) {
    module_ = Intern(name);
    Push(EventKind::kModuleBegin).name = module_;
  }
  void ModuleEnd() {
    Push(EventKind::kModuleEnd).name = module_;
    module_ = {};
  }

  Block Alloc(const std::string& op, uint64_t bytes, Category category) {
    auto block = allocator_.Malloc(bytes, 0);
    if (!block.ok()) std::abort();
    Event& e = Push(EventKind::kAlloc);
    e.id = allocations_++;
    e.address = block->address;
    e.bytes = bytes;
    e.bytes_rounded = block->bytes_rounded;
    e.pool = block->pool;
    e.name = Intern(op);
    e.module = module_;
    e.category = category;
    return {e.id, e.address};
  }
  void Free(Block block) {
    if (!allocator_.Free(block.address).ok()) std::abort();
    Push(EventKind::kFreeRequested).id = block.id;
    Push(EventKind::kFreeCompleted).id = block.id;
  }
  // Runs one operator. It allocates its output and, if `scratch` is not 0, temporary memory.
  Block Op(const std::string& name, uint64_t bytes, Category category = Category::kTemporary,
           uint64_t scratch = 0) {
    Event& begin = Push(EventKind::kOpBegin);
    begin.name = Intern(name);
    begin.module = module_;
    const Block out = Alloc(name, bytes, category);
    if (scratch > 0) Free(Alloc(name, scratch, Category::kWorkspace));
    Push(EventKind::kOpEnd).name = Intern(name);
    return out;
  }
  void Save(Block block) {
    Event& e = Push(EventKind::kRetag);
    e.id = block.id;
    e.category = Category::kActivation;
    e.name = Intern("saved for backward");
    saved_.push_back(block);
  }

  void Step(int step) {
    Push(EventKind::kStepBegin).id = static_cast<uint64_t>(step);
    Begin(EventKind::kPhaseBegin, Phase::kForward);
    const uint64_t row = kTokens * kHidden * 4, wide = kTokens * kMlp * 4;
    const uint64_t scores = 2 * kHeads * 512 * 512 * 4;
    for (int l = 0; l < options_.layers && !Full(); ++l) {
      const std::string layer = fmt::format("model.layers.{}", l);
      ModuleBegin(layer + ".input_layernorm");
      Save(Op("aten::to", row));
      const Block squares = Op("aten::pow", row);
      const Block mean = Op("aten::mean", kTokens * 4, Category::kTemporary, 4096);
      Free(squares);
      Save(Op("aten::rsqrt", kTokens * 4));
      Free(mean);
      ModuleEnd();
      ModuleBegin(layer + ".self_attn");
      for (const uint64_t size : {row, row / 7, row / 7}) {
        const Block out = Op("aten::addmm", size);
        Save(Op("aten::contiguous", size));
        Free(out);
      }
      const Block raw = Op("aten::bmm", scores);
      Save(Op("aten::_softmax", scores));
      Free(raw);
      Save(Op("aten::bmm", row));
      Save(Op("aten::addmm", row));
      ModuleEnd();
      ModuleBegin(layer + ".mlp");
      Save(Op("aten::mm", wide));
      Save(Op("aten::silu", wide));
      Save(Op("aten::mm", wide));
      Save(Op("aten::mul", wide));
      const Block down = Op("aten::mm", row);
      Save(Op("aten::add", row));
      Free(down);
      ModuleEnd();
    }
    End(EventKind::kPhaseEnd);
    Begin(EventKind::kPhaseBegin, Phase::kBackward);
    thread_ = 1;
    std::vector<Block> gradients;
    size_t parameter = parameters_.size();
    Block flowing = Op("NllLossBackward0", row);
    while (!saved_.empty() && !Full()) {
      static const char* const kNodes[] = {"MmBackward0", "MulBackward0", "SoftmaxBackward0",
                                           "AddmmBackward0"};
      const Block next = Op(kNodes[saved_.size() % 4], saved_.size() % 3 == 0 ? wide : row,
                            Category::kAutogradDetail);
      if (saved_.size() % 3 == 0 && parameter > 0) {
        --parameter;
        const Block gradient =
            Op("aten::mm", parameter % 6 < 2 ? kHidden * kHidden * 4 : kHidden * kMlp * 4,
               Category::kAutogradDetail);
        Event& e = Push(EventKind::kRetag);
        e.id = gradient.id;
        e.category = Category::kGradient;
        e.name = Intern("gradient accumulated");
        gradients.push_back(gradient);
      }
      Free(flowing);
      Free(saved_.back());
      saved_.pop_back();
      flowing = next;
    }
    Free(flowing);
    thread_ = 0;
    End(EventKind::kPhaseEnd);
    Begin(EventKind::kPhaseBegin, Phase::kOptimizer);
    for (const Block& gradient : gradients) {
      const Block update = Op("aten::_foreach_addcdiv_", kHidden * kMlp * 4);
      Free(update);
      Free(gradient);
      if (Full()) break;
    }
    for (const Block& block : saved_)
      (void)allocator_.Free(block.address);  // the run was stopped in the middle of a step
    saved_.clear();
    End(EventKind::kPhaseEnd);
    End(EventKind::kStepEnd);
  }

  const TrainingOptions options_;
  allocator::CachingAllocator allocator_;
  Stream stream_;
  std::map<std::string, uint32_t> ids_;
  std::mt19937_64 random_{42};
  std::lognormal_distribution<double> jitter_{0.0, options_.jitter * 2};
  int64_t time_ = 0;
  uint64_t allocations_ = 0, segments_ = 0;
  uint32_t thread_ = 0;
  StringId module_;
  std::vector<Block> parameters_, saved_;
};

}  // namespace

Stream TrainingStream(const TrainingOptions& options) { return Trainer(options).Run(); }

namespace {

// Returns rows [first, last) of a table, with all frames up to the highest that they use.
StackIncrement Increment(const StackTable& t, uint32_t first_frame, uint32_t first, uint32_t last) {
  StackIncrement out;
  out.first_frame = first_frame;
  out.first_stack = first;
  const auto begin = t.frames.begin() + t.first[first], end = t.frames.begin() + t.first[last];
  out.frames.assign(begin, end);
  for (uint32_t i = first; i < last; ++i) out.lengths.push_back(t.first[i + 1] - t.first[i]);
  uint32_t frames = first_frame;
  for (const uint32_t frame : out.frames) frames = std::max(frames, frame + 1);
  if (last == t.size()) frames = t.frame_count();
  const auto copy = [&](const auto& from, auto& to) {
    to.assign(from.begin() + first_frame, from.begin() + frames);
  };
  copy(t.function, out.function);
  copy(t.file, out.file);
  copy(t.line, out.line);
  return out;
}

}  // namespace

void Play(const Stream& stream, EventSink& sink, size_t piece, bool complete) {
  sink.Begin(stream.info);
  uint32_t strings = 0, frames = 0, stacks = 1;
  const auto send_strings = [&](uint32_t need) {
    need = std::min(need, static_cast<uint32_t>(stream.strings.size()));
    if (need <= strings) return;
    sink.Strings(strings, std::span(stream.strings).subspan(strings, need - strings));
    strings = need;
  };
  const auto send_stacks = [&](uint32_t need) {
    if (need <= stacks) return;
    const StackIncrement increment = Increment(stream.stacks, frames, stacks, need);
    for (size_t i = 0; i < increment.function.size(); ++i)
      send_strings(std::max(increment.function[i].value, increment.file[i].value) + 1);
    sink.Stacks(increment);
    frames += static_cast<uint32_t>(increment.function.size());
    stacks = need;
  };
  const size_t pieces = (stream.events.size() + piece - 1) / piece;
  std::span<const Activity> later = stream.activities;
  const auto send_activities = [&](size_t count) {
    count = std::min(count, later.size());
    if (count == 0) return;
    uint32_t need = strings;
    for (const Activity& a : later.first(count))
      need = std::max({need, a.name.value + 1, a.op.value + 1, a.module.value + 1});
    send_strings(need);
    sink.Activities(later.first(count));
    later = later.subspan(count);
  };
  for (size_t at = 0; at < stream.events.size(); at += piece) {
    const auto events =
        std::span(stream.events).subspan(at, std::min(piece, stream.events.size() - at));
    uint32_t need = strings, need_stacks = stacks;
    for (const Event& e : events) {
      need = std::max({need, e.name.value + 1, e.module.value + 1, e.user_metadata.value + 1,
                       e.compile_context.value + 1});
      need_stacks = std::max(need_stacks, e.stack.value + 1);
    }
    send_strings(need);
    send_stacks(need_stacks);
    sink.Events(events);
    send_activities(stream.activities.size() / pieces);
  }
  send_activities(later.size());
  send_strings(static_cast<uint32_t>(stream.strings.size()));
  send_stacks(stream.stacks.size());
  sink.End(complete, complete ? "" : "stopped");
}

std::shared_ptr<const Trace> Build(const Stream& stream) {
  BuilderSink sink;
  Play(stream, sink);
  if (!sink.status().ok()) {
    std::fprintf(stderr, "%s\n", std::string(sink.status().message()).c_str());
    std::abort();
  }
  return sink.Trace();
}

}  // namespace vramscope::trace::testing
