#include "tests/profiler/agreement/random_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "profiler/allocator/caching_allocator.h"

namespace vramscope::agreement {
namespace {

using allocator::Block;
using allocator::CachingAllocator;
using allocator::Segment;
using trace::Category;
using trace::Event;
using trace::EventKind;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// The events, which all devices share, and the state needed to generate them.
struct Script {
  std::mt19937_64 random;
  std::vector<Event> events;
  int64_t now = 0;
  uint64_t allocations = 0, segments = 0;

  uint64_t Below(uint64_t n) { return random() % n; }
  Event& Put(EventKind kind, uint8_t device = 0) {
    // Times differ by whole microseconds, because a snapshot has no finer resolution.
    now += static_cast<int64_t>(1000 * (1 + Below(5)));
    Event e;
    e.kind = kind;
    e.time_ns = now;
    e.device = device;
    return events.emplace_back(e);
  }
};

class Device final : public allocator::SegmentObserver {
 public:
  Device(Script& script, uint8_t number, const RandomDevicesOptions& options, bool expandable)
      : script_(script), number_(number), options_(options) {
    allocator::Settings settings;
    settings.first_address = 0x7f00'0000'0000;
    settings.device_memory_bytes = options.device_memory_bytes;
    settings.conf.expandable_segments = expandable;
    allocator_ = std::make_unique<CachingAllocator>(settings, this);
  }

  void Alloc() {
    static constexpr uint64_t kSizes[] = {700, 40'000, kMiB, 3 * kMiB, 12 * kMiB, 30 * kMiB};
    const uint64_t around = kSizes[script_.Below(std::size(kSizes))];
    const uint64_t bytes = around / 2 + script_.Below(around);
    const auto stream = static_cast<uint32_t>(script_.Below(options_.streams));
    const auto mempool = static_cast<uint32_t>(script_.Below(options_.mempools)) << 16;
    alloc_stream_ = stream;
    const absl::StatusOr<Block> block = allocator_->Malloc(bytes, stream, mempool);
    if (!block.ok()) return;  // OnOutOfMemory has added the event
    Event& e = script_.Put(EventKind::kAlloc, number_);
    e.id = script_.allocations++;
    e.category = static_cast<Category>(script_.Below(trace::kCategoryCount));
    e.pool = block->pool;
    e.stream = stream;
    e.address = block->address;
    e.bytes = bytes;
    e.bytes_rounded = block->bytes_rounded;
    live_[block->address] = e.id;
    addresses_.push_back(block->address);
  }

  void Free() {
    if (addresses_.empty()) return;
    std::swap(addresses_[script_.Below(addresses_.size())], addresses_.back());
    const uint64_t address = addresses_.back();
    addresses_.pop_back();
    script_.Put(EventKind::kFreeRequested).id = live_.at(address);
    EXPECT_TRUE(allocator_->RequestFree(address).ok());
    if (script_.Below(4) == 0) {
      pending_.push_back(address);
    } else {
      Complete(address);
    }
  }

  void CompleteOne() {
    if (pending_.empty()) return;
    const uint64_t address = pending_.front();
    pending_.erase(pending_.begin());
    Complete(address);
  }

  void Retag() {
    if (addresses_.empty()) return;
    Event& e = script_.Put(EventKind::kRetag);
    e.id = live_.at(addresses_[script_.Below(addresses_.size())]);
    e.category = static_cast<Category>(script_.Below(trace::kCategoryCount));
  }

  void EmptyCache() { allocator_->EmptyCache(); }

  // ---- SegmentObserver
  void OnSegmentAlloc(const Segment& segment) override {
    Event& e = script_.Put(EventKind::kSegmentAlloc, number_);
    e.id = script_.segments;
    segment_ids_[segment.address] = script_.segments++;
    e.address = segment.address;
    e.bytes = segment.bytes;
    e.pool = segment.pool;
    e.stream = segment.stream;
    e.mempool = segment.mempool;
    e.detail = segment.expandable;
  }
  void OnSegmentFree(const Segment& segment) override {
    script_.Put(EventKind::kSegmentFree).id = segment_ids_.at(segment.address);
  }
  void OnSegmentMap(const Segment& segment, uint64_t address, uint64_t bytes) override {
    Mapped(EventKind::kSegmentMap, segment, address, bytes);
  }
  void OnSegmentUnmap(const Segment& segment, uint64_t address, uint64_t bytes) override {
    Mapped(EventKind::kSegmentUnmap, segment, address, bytes);
  }
  void OnOutOfMemory(uint64_t bytes, uint64_t free) override {
    Event& e = script_.Put(EventKind::kOutOfMemory, number_);
    e.bytes = bytes;
    e.bytes_rounded = free;
    e.stream = alloc_stream_;
  }
  void OnFreeCompleted(const Block& block) override {
    script_.Put(EventKind::kFreeCompleted).id = live_.at(block.address);
    live_.erase(block.address);
    std::erase(pending_, block.address);
  }

 private:
  void Complete(uint64_t address) {
    script_.Put(EventKind::kFreeCompleted).id = live_.at(address);
    live_.erase(address);
    EXPECT_TRUE(allocator_->CompleteFree(address).ok());
  }
  void Mapped(EventKind kind, const Segment& segment, uint64_t address, uint64_t bytes) {
    Event& e = script_.Put(kind, number_);
    e.id = segment_ids_.at(segment.address);
    e.address = address;
    e.bytes = bytes;
    e.pool = segment.pool;
    e.stream = segment.stream;
  }

  Script& script_;
  const uint8_t number_;
  const RandomDevicesOptions& options_;
  std::unique_ptr<CachingAllocator> allocator_;
  uint32_t alloc_stream_ = 0;          // the stream of the last allocation
  std::map<uint64_t, uint64_t> live_;  // address -> allocation
  std::vector<uint64_t> addresses_;    // addresses of the blocks that the program has allocated
  std::vector<uint64_t> pending_;
  std::map<uint64_t, uint64_t> segment_ids_;
};

}  // namespace

RandomDevices MakeRandomDevices(const RandomDevicesOptions& options) {
  Script script;
  script.random.seed(options.seed);
  std::vector<std::unique_ptr<Device>> devices;
  for (size_t i = 0; i < options.devices.size(); ++i)
    devices.push_back(
        std::make_unique<Device>(script, options.devices[i], options,
                                 options.expandable && (i % 2 == 0 || options.all_alike)));
  const int begin = options.older ? options.requests / 4 : 0;
  const int step = std::max(1, (options.requests - begin) / 4);
  bool in_step = false;
  for (int i = 0; i < options.requests; ++i) {
    if (i == begin && options.older) script.Put(EventKind::kMarker).name = {1};
    if (i >= begin && (i - begin) % step == 0) {
      if (in_step) script.Put(EventKind::kStepEnd);
      script.Put(EventKind::kStepBegin).id = static_cast<uint64_t>((i - begin) / step);
      in_step = true;
    }
    Device& device = *devices[script.Below(devices.size())];
    const uint64_t dice = i < begin ? 0 : script.Below(20);
    if (dice < 9) {
      device.Alloc();
    } else if (dice < 15) {
      device.Free();
    } else if (dice < 17) {
      device.Retag();
    } else if (dice < 19) {
      device.CompleteOne();
    } else {
      device.EmptyCache();
    }
  }
  if (in_step) script.Put(EventKind::kStepEnd);

  trace::TraceBuilder builder;
  trace::TraceInfo info;
  info.producer = "test";
  info.backend = trace::Backend::kImported;
  info.measured = true;
  info.start_unix_ns = 1'700'000'000'000'000'000;
  if (options.expandable && options.all_alike) info.alloc_conf = "expandable_segments:True";
  builder.SetInfo(info);
  const std::vector<std::string> strings = {"", std::string(trace::kMarkerRecordingBegin)};
  absl::Status status = builder.AddStrings(0, strings);
  EXPECT_TRUE(status.ok()) << status;
  status = builder.AddEvents(script.events);
  EXPECT_TRUE(status.ok()) << status;
  return {builder.Finish(true, ""), std::move(script.events)};
}

}  // namespace vramscope::agreement
