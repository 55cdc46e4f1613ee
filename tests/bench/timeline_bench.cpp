// Measures frames and queries of the timeline at 1080p, with a synthetic run of more than a million
// events.
//
//   QT_QPA_PLATFORM=offscreen timeline_bench
//
// Targets: 1 ms for a query, and 8 ms for a frame of the raster renderer.
#include <benchmark/benchmark.h>

#include <QGuiApplication>
#include <QImage>
#include <cmath>
#include <cstdlib>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/raster/raster_renderer.h"

namespace vramscope::ui::timeline {
namespace {

constexpr int kWidth = 1920, kHeight = 1080;
constexpr int kTall = 2700;  // a height at which sixty lanes are visible

const std::shared_ptr<const TimelineData>& Data() {
  static const std::shared_ptr<const TimelineData> data = TimelineData::Build(
      testing::MakeSyntheticTrace({.layers = 48, .steps = 180, .ops_per_module = 4}));
  return data;
}

TimelineModel& Model() {
  static TimelineModel* model = [] {
    auto* m = new TimelineModel;
    m->SetAnimations(false);
    m->Resize(kWidth, kHeight, 1);
    m->SetData(Data(), false, 0);
    return m;
  }();
  return *model;
}

// Shows most of the trace (level 0), a tenth of that (level 1) and so on, around its middle.
// `beside` moves the view slightly, so that the last frame's results cannot be reused.
void ZoomTo(TimelineModel& model, int64_t level, bool beside = false) {
  const double duration = model.state().data->duration_ns();
  const double width = 0.6 * duration * std::pow(10.0, -static_cast<double>(level));
  const double middle = duration / 2 + (beside ? 0.05 * width : 0);
  model.SetRange(Span{middle - width / 2, middle + width / 2});
  model.ZoomToSelection(0);
  model.SetRange(std::nullopt);
}

void BM_Frame(benchmark::State& state) {
  RasterRenderer renderer(&Model().crew());
  QImage image(kWidth, kHeight, QImage::Format_RGB32);
  DrawList data, overlay;
  SceneCounts counts;
  bool beside = false;
  for (auto _ : state) {
    ZoomTo(Model(), state.range(0), beside = !beside);
    counts = Model().BuildData(renderer.measure(), &data);
    renderer.Render(data, &image);
  }
  state.counters["events"] = static_cast<double>(Data()->trace().events.size());
  state.counters["rects"] = counts.block_rects + counts.slices;
  state.counters["labels"] = counts.labels;
}
BENCHMARK(BM_Frame)
    ->DenseRange(0, 5)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// Measures only how long the draw list takes: all queries of a frame, and the layout.
void BM_Scene(benchmark::State& state) {
  const RasterRenderer renderer(&Model().crew());
  DrawList data;
  bool beside = false;
  for (auto _ : state) {
    ZoomTo(Model(), state.range(0), beside = !beside);
    Model().BuildData(renderer.measure(), &data);
  }
}
BENCHMARK(BM_Scene)
    ->DenseRange(0, 5)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// A trace with allocator events and sixty streams of kernels, with their launches and idle gaps.
// $VRAMSCOPE_BENCH_STEPS sets the number of steps; 200 steps have 2.6 M events and activities.
TimelineModel& ManyLanes() {
  static TimelineModel* model = [] {
    const char* steps = std::getenv("VRAMSCOPE_BENCH_STEPS");
    auto* m = new TimelineModel;
    m->SetAnimations(false);
    m->Resize(kWidth, kTall, 1);
    m->SetData(TimelineData::Build(
                   testing::MakeSyntheticTrace({.layers = 48,
                                                .steps = steps != nullptr ? std::atoi(steps) : 200,
                                                .ops_per_module = 4,
                                                .activities = {.streams = 56}})),
               false, 0);
    return m;
  }();
  return *model;
}

void BM_FrameOfManyLanes(benchmark::State& state) {
  TimelineModel& model = ManyLanes();
  RasterRenderer renderer(&model.crew());
  QImage image(kWidth, kTall, QImage::Format_RGB32);
  DrawList data;
  SceneCounts counts;
  bool beside = false;
  for (auto _ : state) {
    ZoomTo(model, state.range(0), beside = !beside);
    counts = model.BuildData(renderer.measure(), &data);
    renderer.Render(data, &image);
  }
  const trace::Trace& t = model.state().data->trace();
  state.counters["events"] = static_cast<double>(t.events.size());
  state.counters["activities"] = static_cast<double>(t.activities.size());
  state.counters["lanes"] = counts.lanes;
  state.counters["rects"] = counts.activities + counts.block_rects + counts.slices;
}
BENCHMARK(BM_FrameOfManyLanes)
    ->DenseRange(0, 5)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_HoverFrame(benchmark::State& state) {
  ZoomTo(Model(), 2);
  RasterRenderer renderer(&Model().crew());
  QImage image(kWidth, kHeight, QImage::Format_RGB32);
  DrawList overlay;
  double x = 0;
  for (auto _ : state) {
    x = std::fmod(x + 37, kWidth);
    Model().Move({.x = x, .y = 700}, 0);
    Model().ShowTooltip();
    Model().BuildOverlay(renderer.measure(), &overlay);
    renderer.Render(overlay, &image);
  }
}
BENCHMARK(BM_HoverFrame)->Unit(benchmark::kMillisecond);

void BM_CurveQuery(benchmark::State& state) {
  ZoomTo(Model(), state.range(0));
  const Span v = Model().state().viewport.view();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Data()->curve_index().Query(Data()->ToTrace(v.begin), Data()->ToTrace(v.end), kWidth));
  }
}
BENCHMARK(BM_CurveQuery)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

void BM_BlockQuery(benchmark::State& state) {
  ZoomTo(Model(), state.range(0));
  const Span v = Model().state().viewport.view();
  query::BlockIndex::Options options;
  options.cell_px = 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Data()->block_index().Query(Data()->ToTrace(v.begin), Data()->ToTrace(v.end), 0,
                                    Data()->address_axis().size(), kWidth, 300, options));
  }
}
BENCHMARK(BM_BlockQuery)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

void BM_LaneQueries(benchmark::State& state) {
  ZoomTo(Model(), state.range(0));
  const Span v = Model().state().viewport.view();
  auto lanes = static_cast<uint32_t>(Data()->lane_index().lanes().size());
  for (auto _ : state) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      benchmark::DoNotOptimize(Data()->lane_index().Query(lane, Data()->ToTrace(v.begin),
                                                          Data()->ToTrace(v.end), kWidth, 2));
    }
  }
  state.counters["lanes"] = lanes;
}
BENCHMARK(BM_LaneQueries)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

void BM_Build(benchmark::State& state) {
  auto trace = Data()->shared_trace();
  for (auto _ : state) benchmark::DoNotOptimize(TimelineData::Build(trace));
}
BENCHMARK(BM_Build)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace vramscope::ui::timeline

int main(int argc, char** argv) {
  QGuiApplication app(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
