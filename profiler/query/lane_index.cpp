#include "profiler/query/lane_index.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/query/lane_data.h"

namespace vramscope::query {
struct LaneIndex::Impl {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<Lane> lanes;
  std::vector<LaneData> data;
};

LaneIndex::LaneIndex(std::shared_ptr<const trace::Trace> trace) : impl_(std::make_unique<Impl>()) {
  impl_->trace = std::move(trace);
  const trace::SliceTable& s = impl_->trace->slices;
  using Key = std::tuple<trace::SliceKind, uint32_t, uint32_t>;
  std::map<Key, uint32_t> counts;
  const auto key = [&s](uint32_t i) { return Key{s.kind[i], s.thread[i], s.depth[i]}; };
  for (uint32_t i = 0; i < s.size(); ++i) ++counts[key(i)];
  std::map<Key, LaneData*> lane_of;
  impl_->data.resize(counts.size());
  for (const auto& [k, count] : counts) {
    LaneData& data = impl_->data[impl_->lanes.size()];
    data.Reserve(count);
    lane_of[k] = &data;
    const auto& [kind, thread, depth] = k;
    impl_->lanes.push_back({.kind = kind, .thread = thread, .depth = depth, .slices = count});
  }
  for (uint32_t i = 0; i < s.size(); ++i) {
    const bool phase = s.kind[i] == trace::SliceKind::kPhase;
    lane_of[key(i)]->Add(s.begin_ns[i], s.end_ns[i], i,
                         phase ? static_cast<uint8_t>(s.number[i]) : uint8_t{0});
  }
  for (LaneData& data : impl_->data) data.Build();
}

LaneIndex::~LaneIndex() = default;
LaneIndex::LaneIndex(LaneIndex&&) noexcept = default;
LaneIndex& LaneIndex::operator=(LaneIndex&&) noexcept = default;

std::span<const Lane> LaneIndex::lanes() const { return impl_->lanes; }

LaneView LaneIndex::Query(uint32_t lane, int64_t begin_ns, int64_t end_ns, int columns,
                          double min_rect_columns) const {
  if (columns <= 0 || end_ns <= begin_ns || lane >= impl_->data.size()) return {};
  return impl_->data[lane].Query(begin_ns, end_ns, columns, min_rect_columns);
}

void LaneIndex::Ask(uint32_t lane, const TimeGrid& grid, double min_rect_columns,
                    LaneView* view) const {
  if (grid.columns <= 0 || lane >= impl_->data.size()) return void(*view = {});
  impl_->data[lane].Ask(grid, min_rect_columns, view);
}

std::optional<uint32_t> LaneIndex::At(uint32_t lane, int64_t time_ns) const {
  if (lane >= impl_->data.size()) return std::nullopt;
  return impl_->data[lane].At(time_ns);
}

size_t LaneIndex::MemoryBytes() const {
  size_t bytes = 0;
  for (const LaneData& data : impl_->data) bytes += data.MemoryBytes();
  return bytes;
}

}  // namespace vramscope::query
