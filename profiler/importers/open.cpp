#include "profiler/importers/open.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/i18n.h"
#include "profiler/importers/html_snapshot.h"
#include "profiler/importers/importer.h"
#include "profiler/importers/pickle.h"
#include "profiler/trace/input.h"
#include "profiler/trace/one_device.h"

namespace vramscope::importers {
namespace {

using TracePtr = std::shared_ptr<const trace::Trace>;

absl::StatusOr<TracePtr> OneDevice(const TracePtr& trace, uint8_t device) {
  const std::vector<uint8_t> devices = trace::DevicesOf(*trace);
  if (!devices.empty() && std::ranges::find(devices, device) == devices.end())
    return absl::OutOfRangeError(i18n::Format("the file has no data for device {} (available: {})",
                                              device, fmt::join(devices, ", ")));
  return trace::OfDevice(trace, device);
}

// Puts the name of the file before the message, because readers report only the position in it.
absl::Status In(const std::string& name, const absl::Status& status) {
  const std::string message(status.message());
  if (message.find(name) != std::string::npos) return status;
  absl::Status in(status.code(), fmt::format("'{}': {}", name, message));
  status.ForEachPayload(
      [&in](absl::string_view type, const absl::Cord& value) { in.SetPayload(type, value); });
  return in;
}

absl::Status NothingKnown(const std::string& name, std::string_view head) {
  if (const std::string_view why = WhyNoSnapshotInHtml(head); !why.empty())
    return absl::InvalidArgumentError(i18n::Format("'{}' is {}", name, why));
  const std::string kind = trace::LooksLike(head);
  return absl::InvalidArgumentError(
      kind.empty()
          ? i18n::Format("'{}' is not a trace, a CUDA memory snapshot or a Kineto trace: its "
                         "first bytes match none of these formats",
                         name)
          : i18n::Format(
                "'{}' is not a trace, a CUDA memory snapshot or a Kineto trace: it looks like {}",
                name, kind));
}

}  // namespace

bool IsRefused(const absl::Status& status) {
  return status.GetPayload(kRefusedPayload).has_value();
}

absl::StatusOr<TracePtr> OpenTraceFile(const std::string& path, const OpenOptions& options) {
  absl::StatusOr<std::unique_ptr<trace::InputStream>> input = trace::InputStream::Open(path);
  if (!input.ok()) return input.status();
  return OpenTraceStream(*std::move(input), "", path, options);
}

absl::StatusOr<TracePtr> OpenTraceStream(std::unique_ptr<trace::InputStream> input,
                                         std::string head, const std::string& path,
                                         const OpenOptions& options) {
  const std::string name = trace::DisplayName(path);
  size_t have = head.size();
  head.resize(std::max(have, kSniffBytes));
  while (have < head.size()) {
    absl::StatusOr<size_t> n = input->Read(head.data() + have, head.size() - have);
    if (!n.ok() && have == 0) return n.status();
    if (!n.ok() || *n == 0) break;  // the reader will report the damage
    have += *n;
  }
  head.resize(have);

  const std::string title = path == "-" ? name : std::filesystem::path(path).filename().string();
  const ImporterEntry* const importer = FindImporter(head);
  if (importer == nullptr) return NothingKnown(name, head);
  ImportRequest request{std::move(input), head, path, title, options};
  absl::StatusOr<TracePtr> trace = importer->read(request);
  if (trace.ok() && options.device) trace = OneDevice(*trace, *options.device);
  if (!trace.ok()) return In(name, trace.status());
  return trace;
}

}  // namespace vramscope::importers
