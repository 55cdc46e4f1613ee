#include "app/cli/device_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/format.h"
#include "app/cli/summary.h"
#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::cli {

using explain::DeviceMemory;

namespace {

std::string BytesText(int64_t bytes) {
  return bytes < 0 ? SignedBytes(bytes) : run::FormatBytes(static_cast<uint64_t>(bytes));
}

}  // namespace

Json DeviceMemoryJson(const trace::Trace& trace, const DeviceMemory& memory) {
  Json json = {{"device", memory.device},
               {"at", ContextJson(trace, memory.context)},
               {"total", memory.total == 0 ? Json() : Json(memory.total)},
               {"used", memory.used},
               {"asked_ns", memory.asked_ns ? Json(*memory.asked_ns) : Json()},
               {"remainder", Json()},
               {"parts", Json::array()}};
  for (const DeviceMemory::Part& part : memory.parts) {
    if (part.what == DeviceMemory::What::kRemainder) json["remainder"] = part.bytes;
    json["parts"].push_back({{"name", std::string(explain::Name(part.what))},
                             {"bytes", part.bytes},
                             {"source", std::string(explain::Name(part.source))},
                             {"about", part.about}});
  }
  return json;
}

std::string DeviceMemoryText(const DeviceMemory& memory) {
  if (memory.parts.empty()) return "";
  Table table({{memory.of_host ? i18n::Text("Host memory") : i18n::Text("GPU memory")},
               {i18n::Text("Bytes"), Table::kRight},
               {""},
               {i18n::Text("Source")}});
  for (const DeviceMemory::Part& part : memory.parts)
    table.Row({i18n::Text(explain::Name(part.what)), BytesText(part.bytes),
               i18n::Text(explain::Name(part.source)), i18n::Text(part.about)});
  table.Row({i18n::Text("total"), BytesText(memory.used), "",
             memory.total == 0 ? "" : i18n::Format("of {}", run::FormatBytes(memory.total))});
  return table.Text();
}

Json HostMemoryJson(const trace::Trace& trace) {
  const analysis::HostMemory host = analysis::HostMemoryOf(trace);
  if (!host.recorded) return Json();
  return {{"peak", host.peak}, {"peak_ns", host.peak_ns}, {"sites", HostSitesJson(host)}};
}

std::string LargestText(const analysis::HostMemory& host) {
  return Printable(i18n::Format("largest: {}", analysis::SiteText(host.sites.front())));
}

Json HostSitesJson(const analysis::HostMemory& host) {
  constexpr size_t kMost = 10;
  Json sites = Json::array();
  for (size_t i = 0; i < std::min(kMost, host.sites.size()); ++i) {
    const analysis::HostMemory::Site& site = host.sites[i];
    const bool known = !site.file.empty();
    sites.push_back({{"name", site.name},
                     {"file", known ? Json(site.file) : Json()},
                     {"line", known ? Json(site.line) : Json()},
                     {"function", known ? Json(site.function) : Json()},
                     {"op", site.op},
                     {"kind", trace::Name(site.space)},
                     {"bytes", site.bytes},
                     {"count", site.count}});
  }
  return sites;
}

}  // namespace vramscope::cli
