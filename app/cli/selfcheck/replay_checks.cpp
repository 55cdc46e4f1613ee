#include "app/cli/selfcheck/subject.h"
#include "profiler/replay/replay.h"

namespace vramscope::cli::selfcheck {

void CheckReplay(const Subject& s) {
  s.Begin("replay under its own settings is the recording");
  const Answer exact = s.Ask("replay", {});
  if (exact.exit_code == kBadInput) return s.report.Skip(exact.error);
  const Json& r = exact.json;
  s.report.Equal("exit status", exact.exit_code, int{kDone});
  s.report.Equal("differences", At(r, "differences"), 0);
  s.report.Equal("addresses: matched, total", At(r, "addresses", "matched"),
                 At(r, "addresses", "total"));
  s.report.Equal("segments: matched, total", At(r, "segments", "matched"),
                 At(r, "segments", "total"));
  s.report.Equal("segment frees: matched, total", At(r, "segment_frees", "matched"),
                 At(r, "segment_frees", "total"));
  s.report.Equal("state at the end is equal", At(r, "end_state_equal"), true);
  s.report.Equal("reserved at most: replay, info", At(r, "recorded", "reserved_peak"),
                 At(s.of_device, "reserved"));
  s.report.Equal("allocated at most: replay, info", At(r, "recorded", "allocated_peak"),
                 At(s.of_device, "allocated"));

  // The same settings, said: a what-if that changes nothing.
  const Answer said =
      s.Ask("replay", {"--alloc-conf", replay::RecordedConf(*s.trace), "--keep-older"});
  if (said.exit_code == kBadInput) return;
  for (const char* key :
       {"reserved_peak", "allocated_peak", "driver_calls", "retries", "out_of_memory"}) {
    const std::string name(key);
    s.report.Equal(name + ": own settings said, own settings", At(said.json, "what_if", key),
                   At(said.json, "own_settings", key));
  }
  s.report.Equal("reserved at most: own settings, info",
                 At(said.json, "own_settings", "reserved_peak"), At(s.of_device, "reserved"));
}

}  // namespace vramscope::cli::selfcheck
