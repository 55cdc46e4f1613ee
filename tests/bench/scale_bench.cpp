// What a large trace takes: to open, to hold, to draw.
//
//   scale_bench --write MILLIONS STREAMS F.trace            makes one of so many events
//   QT_QPA_PLATFORM=offscreen scale_bench F.trace [ROUNDS]  opens it and draws it
//
// A third of the events of a trace with streams are activities. Times are of the processor (of all
// threads) and, where it says so, of the clock; bytes those of the heap behind each stage.
#include <malloc.h>
#include <sys/resource.h>

#include <QGuiApplication>
#include <QImage>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/allocator_events.h"
#include "profiler/trace/event_source.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/raster/raster_renderer.h"

namespace vramscope::ui::timeline {
namespace {

double HeapMb() {
  malloc_trim(0);
  const auto info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / 1e6;
}

double CpuMs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// One run after another, each of which frees what it took.
int Write(double millions, int streams, const std::string& path) {
  const auto run = testing::MakeSyntheticTrace(
      {.layers = 48, .steps = 40, .ops_per_module = 4, .activities = {.streams = streams}});
  const trace::Trace& t = *run;
  const double rows = static_cast<double>(t.events.size()) + t.activities.size();
  const int copies = std::max(1, static_cast<int>(std::lround(millions * 1e6 / rows)));
  auto writer = trace::TraceWriter::ToFile(path);
  if (!writer.ok()) return 1;
  (*writer)->Begin(t.info);
  (*writer)->Strings(0, t.strings);
  const int64_t length = t.end_ns() - t.begin_ns() + 1'000'000;
  std::mt19937 random(1);  // times with the scatter of a measured run
  const auto scatter = [&](int64_t within) {
    return within > 0 ? static_cast<int64_t>(random() % static_cast<uint64_t>(within + 1)) : 0;
  };
  uint32_t steps = 0;
  for (uint32_t i = 0; i < t.slices.size(); ++i)
    steps += t.slices.kind[i] == trace::SliceKind::kStep;
  for (int copy = 0; copy < copies; ++copy) {
    const auto shift = [&](trace::Event e) {
      e.time_ns += copy * length;
      const trace::Subject subject = trace::SubjectOf(e.kind);
      if (subject == trace::Subject::kBlock)
        e.id += static_cast<uint64_t>(copy) * t.allocations.size();
      if (subject == trace::Subject::kSegment)
        e.id += static_cast<uint64_t>(copy) * t.segments.size();
      if (e.kind == trace::EventKind::kStepBegin) e.id += static_cast<uint64_t>(copy) * steps;
      return e;
    };
    std::vector<trace::Event> events;
    trace::EventSource source(t);
    for (trace::EventIndex i = 0; i < t.events.size(); ++i) {
      events.push_back(shift(source.At(i)));
      if (i + 1 < t.events.size())
        events.back().time_ns += scatter((t.events.time_ns[i + 1] - t.events.time_ns[i]) / 2);
    }
    const auto free = [&](trace::EventKind kind, uint64_t id) {
      trace::Event e;
      e.kind = kind;
      e.id = id;
      e.time_ns = t.end_ns();
      events.push_back(shift(e));
    };
    for (uint32_t a = 0; a < t.allocations.size(); ++a) {
      if (t.allocations.free_event[a] != trace::kNoEvent) continue;
      free(trace::EventKind::kFreeRequested, a);
      free(trace::EventKind::kFreeCompleted, a);
    }
    for (uint32_t s = 0; s < t.segments.size(); ++s)
      if (t.segments.free_event[s] == trace::kNoEvent) free(trace::EventKind::kSegmentFree, s);
    (*writer)->Events(events);
    std::vector<trace::Activity> activities;
    for (uint32_t i = 0; i < t.activities.size(); ++i) {
      trace::Activity a = t.activities.Row(i);
      a.begin_ns += copy * length + scatter((a.end_ns - a.begin_ns) / 3);
      a.end_ns += copy * length;
      if (a.correlation != 0) a.correlation += static_cast<uint64_t>(copy) << 32;
      activities.push_back(a);
    }
    (*writer)->Activities(activities);
  }
  (*writer)->End(true, "");
  const absl::Status closed = (*writer)->Close();
  if (!closed.ok()) std::fprintf(stderr, "%s\n", closed.ToString().c_str());
  return closed.ok() ? 0 : 1;
}

struct Watch {
  double cpu = CpuMs();
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  double Wall() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - at).count();
  }
};

void Stage(const char* name, const Watch& since, double& heap) {
  const double cpu = CpuMs() - since.cpu, wall = since.Wall(), now = HeapMb();
  std::printf("%-22s %8.0f ms cpu %8.0f ms wall %+9.1f MB\n", name, cpu, wall, now - heap);
  heap = now;
}

// All frames of a way through the trace: most of it, a tenth of that, ... each panned by a
// twentieth of the view, forth and back, so that every frame asks anew.
void Frames(const std::shared_ptr<const TimelineData>& data, int width, int height, int rounds) {
  TimelineModel model;
  model.SetAnimations(false);
  model.Resize(static_cast<float>(width), static_cast<float>(height), 1);
  model.SetData(data, false, 0);
  RasterRenderer renderer(&model.crew());
  QImage image(width, height, QImage::Format_RGB32);
  DrawList list;
  const double duration = data->duration_ns();
  for (int level = 0; level < 7; ++level) {
    const double part = 0.6 * duration * std::pow(10.0, -level);
    std::vector<double> all, scene, wall;
    uint32_t lanes = 0;
    for (int round = 0; round < rounds; ++round) {
      const double middle = duration / 2 + part * 0.05 * (round % 2);
      model.SetRange(Span{middle - part / 2, middle + part / 2});
      model.ZoomToSelection(0);
      model.SetRange(std::nullopt);
      const Watch watch;
      lanes = model.BuildData(renderer.measure(), &list).lanes;
      const double laid_out = CpuMs();
      renderer.Render(list, &image);
      scene.push_back(laid_out - watch.cpu);
      all.push_back(CpuMs() - watch.cpu);
      wall.push_back(watch.Wall());
    }
    for (auto* times : {&all, &scene, &wall}) std::sort(times->begin(), times->end());
    std::printf(
        "frame %4dx%4d 1e-%d of it, %2u lanes: median %6.2f ms (lanes %6.2f), max %6.2f; by the "
        "clock %6.2f\n",
        width, height, level, lanes, all[all.size() / 2], scene[scene.size() / 2], all.back(),
        wall[wall.size() / 2]);
  }
}

int Open(const std::string& path, int rounds) {
  double heap = HeapMb();
  Watch whole;
  Watch watch;
  auto trace = trace::ReadTraceFile(path, {.memory_limit = uint64_t{1} << 40});
  if (!trace.ok()) {
    std::fprintf(stderr, "%s\n", trace.status().ToString().c_str());
    return 1;
  }
  std::printf("%u events, %u activities, %u allocations, %u slices\n", (*trace)->events.size(),
              (*trace)->activities.size(), (*trace)->allocations.size(), (*trace)->slices.size());
  Stage("tables", watch, heap);
  watch = {};
  auto curves = std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(**trace));
  Stage("curves", watch, heap);
  watch = {};
  const auto data = TimelineData::Build(*trace, curves);
  Stage("indexes", watch, heap);
  std::printf("%-22s %8.0f ms cpu %8.0f ms wall %9.1f MB held", "all", CpuMs() - whole.cpu,
              whole.Wall(), heap);
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf(", %.1f MB resident at most\n", static_cast<double>(use.ru_maxrss) / 1e3);
  Frames(data, 1680, 1050, rounds);
  Frames(data, 1920, 2700, rounds);
  return 0;
}

}  // namespace
}  // namespace vramscope::ui::timeline

int main(int argc, char** argv) {
  QGuiApplication app(argc, argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "--write")
    return vramscope::ui::timeline::Write(std::atof(words[1].c_str()), std::atoi(words[2].c_str()),
                                          words[3]);
  if (words.size() == 1 || words.size() == 2)
    return vramscope::ui::timeline::Open(
        words[0], words.size() == 2 ? std::max(1, std::atoi(words[1].c_str())) : 9);
  std::fprintf(stderr, "usage: scale_bench F.trace [ROUNDS] | --write MILLIONS STREAMS F.trace\n");
  return 2;
}
