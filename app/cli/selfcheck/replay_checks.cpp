#include <fmt/format.h>

#include "app/cli/selfcheck/subject.h"
#include "profiler/base/i18n.h"
#include "profiler/recording/recording.h"
#include "profiler/replay/replay.h"
#include "profiler/run/units.h"

namespace vramscope::cli::selfcheck {
namespace {

// Returns what the file lacks for an exact replay, or "" if it lacks nothing.
std::string WhyNotExact(const Subject& s, const Json& replayed) {
  if (const Json& agree = At(replayed, "settings_that_agree"); agree.is_string()) {
    const std::string settings = agree.get<std::string>();
    return i18n::English(
        "the file does not contain the allocator's settings; a replay with {} matches the "
        "recording in every decision",
        settings.empty() ? "PyTorch's defaults" : settings);
  }
  uint64_t left_out = 0;
  for (const trace::Marker& marker : s.trace->markers) {
    const std::string_view name = s.trace->String(marker.name);
    left_out += name == recording::kMarkerOther || name.starts_with(recording::kMarkerLeftOut);
  }
  if (left_out == 0) return "";
  return i18n::English(
      "the replay leaves out {} of the file: the kind of entry is unknown, or no block matches the "
      "entry",
      left_out == 1 ? i18n::English("{} entry", left_out) : i18n::English("{} entries", left_out));
}

}  // namespace

void CheckReplay(const Subject& s) {
  s.Begin(TEXT_MARK("a replay with the recorded settings reproduces the recording"));
  const Answer exact = s.Ask("replay", {});
  if (exact.exit_code == kBadInput) return s.report.Skip(exact.error);
  const Json& r = exact.json;
  if (At(r, "differences") != 0)
    if (std::string why = WhyNotExact(s, r); !why.empty()) return s.report.Skip(std::move(why));
  s.report.Equal(TEXT_MARK("the command exits with status 0"), exact.exit_code, int{kDone});
  s.report.Equal(TEXT_MARK("the replay has no differences from the recording"),
                 At(r, "differences"), 0);
  s.report.Equal(TEXT_MARK("the replay matches all recorded addresses"),
                 At(r, "addresses", "matched"), At(r, "addresses", "total"));
  s.report.Equal(TEXT_MARK("the replay matches all recorded segments"),
                 At(r, "segments", "matched"), At(r, "segments", "total"));
  s.report.Equal(TEXT_MARK("the replay matches all recorded frees of segments"),
                 At(r, "segment_frees", "matched"), At(r, "segment_frees", "total"));
  s.report.Equal(TEXT_MARK("the replay ends in the same state as the recording"),
                 At(r, "end_state_equal"), true);
  s.report.Equal(TEXT_MARK("`replay` and `info` report the same peak of reserved memory"),
                 At(r, "recorded", "reserved_peak"), At(s.of_device, "reserved"));
  s.report.Equal(TEXT_MARK("`replay` and `info` report the same peak of allocated memory"),
                 At(r, "recorded", "allocated_peak"), At(s.of_device, "allocated"));

  // A replay with the recorded settings must change nothing.
  const Answer what_if =
      s.Ask("replay", {"--alloc-conf", replay::RecordedConf(*s.trace), "--keep-older"});
  if (what_if.exit_code == kBadInput) return;
  for (const char* key :
       {"reserved_peak", "allocated_peak", "driver_calls", "retries", "out_of_memory"}) {
    const std::string name(key);
    s.report.Equal(
        name + ": " + TEXT_MARK("a what-if replay with the recorded settings changes nothing"),
        At(what_if.json, "what_if", key), At(what_if.json, "own_settings", key));
  }
  s.report.Equal(TEXT_MARK("a replay with the recorded settings has the peak of reserved memory "
                           "that `info` reports"),
                 At(what_if.json, "own_settings", "reserved_peak"), At(s.of_device, "reserved"));
}

}  // namespace vramscope::cli::selfcheck
