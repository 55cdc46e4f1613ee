// Measures the time and memory needed to open, keep and draw a large trace.
//
//   scale_bench --write MILLIONS STREAMS F.trace            writes a trace of that many events
//   QT_QPA_PLATFORM=offscreen scale_bench F.trace [ROUNDS]  opens it and draws it
//   scale_bench --outline F.trace FROM TO                   reads the index, then the part of
//                                                           the trace from FROM to TO, which are
//                                                           fractions of its length
//
// If STREAMS is not 0, a third of the events are activities. A file with 3500 million events has 10
// GB. Unless marked as wall-clock times, times are CPU times of all threads. Bytes are the size of
// the heap after each stage.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QGuiApplication>
#include <QImage>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/outline.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/bench/long_run.h"
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

int Write(double millions, int streams, const std::string& path) {
  bench::LongRun run(streams);
  const auto copies = std::max(1L, std::lround(millions * 1e6 / run.rows_a_copy()));
  auto writer = trace::TraceWriter::ToFile(path);
  if (!writer.ok()) return 1;
  (*writer)->Begin(run.info());
  (*writer)->Strings(0, run.strings());
  std::vector<trace::Event> events;
  std::vector<trace::Activity> activities;
  for (long copy = 0; copy < copies; ++copy) {
    run.Next(&events, &activities);
    (*writer)->Events(events);
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

// Draws most of the trace, then a tenth of that, then a tenth of that tenth, and so on. Does this
// twice. In the first pass, the view moves back and forth by a twentieth of its width at each zoom
// level. In the second pass, its width changes by a twentieth, so that everything is queried again.
void Frames(const std::shared_ptr<const TimelineData>& data, int width, int height, int rounds) {
  TimelineModel model;
  model.SetAnimations(false);
  model.Resize(static_cast<float>(width), static_cast<float>(height), 1);
  model.SetData(data, false, 0);
  RasterRenderer renderer(&model.crew());
  QImage image(width, height, QImage::Format_RGB32);
  DrawList list;
  const double duration = data->duration_ns();
  for (const bool moved : {true, false}) {
    for (int level = 0; level < 7; ++level) {
      const double part = 0.6 * duration * std::pow(10.0, -level);
      std::vector<double> all, scene, wall;
      uint32_t lanes = 0;
      for (int round = 0; round < rounds; ++round) {
        const double middle = duration / 2 + (moved ? part * 0.05 * (round % 2) : 0);
        const double reach = part / 2 * (moved ? 1 : 1 + 0.05 * (round % 2));
        model.SetRange(Span{middle - reach, middle + reach});
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
          "%s %4dx%4d 1e-%d of it, %2u lanes: median %6.2f ms (lanes %6.2f), max %6.2f; by the "
          "clock %6.2f\n",
          moved ? "moved" : "wider", width, height, level, lanes, all[all.size() / 2],
          scene[scene.size() / 2], all.back(), wall[wall.size() / 2]);
    }
  }
}

// Drops the file from the system's page cache.
void Forget(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  if (file < 0) return;
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

int LookAt(const std::string& path, double from, double to) {
  double heap = HeapMb();
  for (const char* stage : {"outline, from the disk", "outline, again"}) {
    if (std::string_view(stage).ends_with("disk")) Forget(path);
    const Watch watch;
    const auto outline = trace::ReadOutline(path);
    if (!outline.ok()) {
      std::fprintf(stderr, "%s\n", outline.status().ToString().c_str());
      return 1;
    }
    Stage(stage, watch, heap);
    if (std::string_view(stage).ends_with("disk"))
      std::printf("%.2f GB, %llu events, %llu activities, %zu batches, %zu steps and phases\n",
                  static_cast<double>(outline->file_bytes) / 1e9,
                  static_cast<unsigned long long>(outline->events),
                  static_cast<unsigned long long>(outline->activities), outline->batches.size(),
                  outline->steps_and_phases.size());
  }
  const auto outline = trace::ReadOutline(path);
  const auto length = static_cast<double>(outline->end_ns() - outline->begin_ns());
  HeapMb();
  const Watch watch;
  const auto part = trace::ReadTraceFile(path, {.memory_limit = uint64_t{1} << 40,
                                                .from_ns = static_cast<int64_t>(length * from),
                                                .to_ns = static_cast<int64_t>(length * to)});
  if (!part.ok()) {
    std::fprintf(stderr, "%s\n", part.status().ToString().c_str());
    return 1;
  }
  Stage("part", watch, heap);
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("%u events, %u activities in it; %.1f MB resident at most\n", (*part)->events.size(),
              (*part)->activities.size(), static_cast<double>(use.ru_maxrss) / 1e3);
  return 0;
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
  if (words.size() == 4 && words[0] == "--outline")
    return vramscope::ui::timeline::LookAt(words[1], std::atof(words[2].c_str()),
                                           std::atof(words[3].c_str()));
  if (words.size() == 1 || words.size() == 2)
    return vramscope::ui::timeline::Open(
        words[0], words.size() == 2 ? std::max(1, std::atoi(words[1].c_str())) : 9);
  std::fprintf(stderr,
               "usage: scale_bench F.trace [ROUNDS] | --write MILLIONS STREAMS F.trace | "
               "--outline F.trace FROM TO\n");
  return 2;
}
