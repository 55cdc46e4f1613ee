#include "app/cli/releases_json.h"

#include <algorithm>
#include <string>

namespace vramscope::cli {
namespace {

constexpr size_t kMost = 1000;  // maximum number of listed releases

}  // namespace

Json ReleasesJson(const replay::Releases& releases) {
  Json list = Json::array();
  for (size_t i = 0; i < std::min(releases.all.size(), kMost); ++i) {
    const replay::Release& r = releases.all[i];
    list.push_back({{"cause", std::string(replay::Name(r.cause))},
                    {"evidence", std::string(replay::Name(r.evidence))},
                    {"first", r.first},
                    {"last", r.last},
                    {"bytes", r.bytes},
                    {"count", r.count},
                    {"reserved", r.reserved},
                    {"asked", r.asked}});
  }
  return {{"headline", releases.headline},
          {"empty_cache", releases.empty_cache_calls},
          {"card_full", releases.gpu_full},
          {"collection", releases.collections},
          {"releases", std::move(list)}};
}

Json GpuJson(const replay::Capacity& gpu) {
  if (gpu.source == replay::Capacity::Source::kUnknown) return nullptr;
  return {{"bytes", gpu.bytes},
          {"source", std::string(replay::Name(gpu.source))},
          {"inferred", gpu.inferred()},
          {"at_least", gpu.at_least},
          {"less_than", gpu.less_than == 0 ? Json() : Json(gpu.less_than)},
          {"seen", gpu.seen},
          {"evidence", gpu.evidence.empty() ? Json() : Json(gpu.evidence)}};
}

}  // namespace vramscope::cli
