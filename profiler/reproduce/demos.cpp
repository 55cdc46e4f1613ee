#include "profiler/reproduce/demos.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/trace/trace.h"

namespace vramscope::reproduce {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

struct Fragmentation {
  bool fails = false;
  uint64_t free = 0, largest_hole = 0;
};

constexpr uint64_t kAsked = 2 * kGiB;

// Allocates and frees blocks for long sequences. Allocates small blocks in their place, and frees
// every other one of these.
absl::StatusOr<Fragmentation> Fragment(std::string_view conf) {
  allocator::Settings settings;
  settings.device_memory_bytes = 24 * kGiB;
  absl::StatusOr<run::AllocConf> parsed = run::ParseAllocConf(conf);
  if (!parsed.ok()) return parsed.status();
  settings.conf = *parsed;
  allocator::CachingAllocator allocator(settings, nullptr);
  std::vector<uint64_t> large, small;
  const auto take = [&](uint64_t bytes, std::vector<uint64_t>& into) -> absl::Status {
    const absl::StatusOr<allocator::Block> block = allocator.Malloc(bytes, 0);
    if (block.ok()) into.push_back(block->address);
    return block.status();
  };
  for (int i = 0; i < 5; ++i) {
    if (absl::Status status = take(4 * kGiB, large); !status.ok()) return status;
  }
  for (uint64_t address : large) {
    if (absl::Status status = allocator.Free(address); !status.ok()) return status;
  }
  for (int i = 0; i < 80; ++i) {
    if (absl::Status status = take((i % 2 == 0 ? 200 : 280) * kMiB, small); !status.ok())
      return status;
  }
  for (size_t i = 0; i < small.size(); i += 2) {
    if (absl::Status status = allocator.Free(small[i]); !status.ok()) return status;
  }
  // Also allocates the rest of the GPU's memory, so that only free blocks are left for the final
  // request.
  while (allocator.stats().reserved + kAsked <= settings.device_memory_bytes) {
    if (absl::Status status = take(kGiB, small); !status.ok()) return status;
  }
  Fragmentation out;
  out.free = allocator.stats().reserved - allocator.stats().allocated;
  for (const auto& segment : allocator.Snapshot()) {
    for (const auto& block : segment.blocks) {
      if (!block.live) out.largest_hole = std::max(out.largest_hole, block.block.bytes_rounded);
    }
  }
  out.fails = !allocator.Malloc(kAsked, 0).ok();
  return out;
}

absl::StatusOr<Quantities> FragmentationDemo() {
  const absl::StatusOr<Fragmentation> plain = Fragment("");
  if (!plain.ok()) return plain.status();
  const absl::StatusOr<Fragmentation> remedied = Fragment("max_split_size_mb:512");
  if (!remedied.ok()) return remedied.status();
  return Quantities{{{"fragmentation_fails", plain->fails ? 1.0 : 0.0},
                     {"fragmentation_fails_with_max_split_size", remedied->fails ? 1.0 : 0.0},
                     {"fragmentation_asked", static_cast<double>(kAsked)},
                     {"fragmentation_free", static_cast<double>(plain->free)},
                     {"fragmentation_largest_hole", static_cast<double>(plain->largest_hole)}}};
}

// Runs six steps. Each frees its activations, but its loss is kept in a list.
absl::StatusOr<Quantities> LeakDemo() {
  constexpr uint64_t kKept = 8 * kMiB;
  constexpr int kSteps = 6, kLayers = 4;
  using trace::EventKind;
  trace::TraceBuilder builder;
  if (absl::Status status = builder.AddStrings(
          1, std::vector<std::string>{"layers", "loss", "aten::mm", "aten::nll_loss"});
      !status.ok())
    return status;
  std::vector<trace::Event> events;
  uint64_t next = 0;
  const auto add = [&](EventKind kind) -> trace::Event& {
    events.push_back({});
    events.back().kind = kind;
    events.back().time_ns = static_cast<int64_t>(events.size());
    return events.back();
  };
  const auto alloc = [&](uint64_t bytes, uint32_t module, uint32_t op) {
    trace::Event& event = add(EventKind::kAlloc);
    event.id = next;
    event.bytes = event.bytes_rounded = bytes;
    event.address = (uint64_t{1} << 40) + next * kGiB;
    event.category = trace::Category::kActivation;
    event.module = {module};
    event.name = {op};
    return next++;
  };
  for (int step = 0; step < kSteps; ++step) {
    add(EventKind::kStepBegin).id = static_cast<uint64_t>(step);
    std::vector<uint64_t> layers;
    for (int layer = 0; layer < kLayers; ++layer) layers.push_back(alloc(32 * kMiB, 1, 3));
    alloc(kKept, 2, 4);
    for (uint64_t id : layers) {
      add(EventKind::kFreeRequested).id = id;
      add(EventKind::kFreeCompleted).id = id;
    }
    add(EventKind::kStepEnd).id = static_cast<uint64_t>(step);
  }
  if (absl::Status status = builder.AddEvents(events); !status.ok()) return status;
  const std::shared_ptr<const trace::Trace> trace = builder.Finish(true, "");
  const explain::CallSites sites = explain::FindCallSites(*trace);
  const explain::Leaks leaks = explain::FindLeaks(*trace, sites);
  const bool found = leaks.known && !leaks.leaks.empty() &&
                     leaks.leaks.front().bytes_per_step == static_cast<double>(kKept);
  return Quantities{{{"leak_found", found ? 1.0 : 0.0},
                     {"leak_bytes", leaks.bytes_per_step},
                     {"leak_true_bytes", static_cast<double>(kKept)}}};
}

}  // namespace

absl::StatusOr<Quantities> Demonstrate(std::string_view name) {
  if (name == "fragmentation") return FragmentationDemo();
  if (name == "leak") return LeakDemo();
  return absl::NotFoundError(i18n::Format("no demonstration is called \"{}\"", name.substr(0, 40)));
}

}  // namespace vramscope::reproduce
