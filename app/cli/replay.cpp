// `replay FILE [--alloc-conf S]`: compares the recorded decisions of the caching allocator with the
// model, and shows what other settings would have changed.
#include "profiler/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/releases_json.h"
#include "app/cli/summary.h"
#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/replay/releases.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/device_file.h"
#include "profiler/run/units.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::cli::replay_command {
namespace {

struct Options {
  std::string file, alloc_conf, device_memory;
  double memory_fraction = 0;
  RangeOptions range;
  bool has_alloc_conf = false, keep = false, json = false;
};

// The results for one device. `exact` has no value if segments were not recorded.
struct Results {
  uint8_t device = 0;
  std::shared_ptr<const trace::Trace> trace;  // trace of one device
  std::optional<replay::Replayed> exact;
  std::string why_not_exact;
  std::optional<replay::Baseline> base;     // replayed under the recorded settings
  std::optional<replay::Replayed> what_if;  // replayed under the requested settings
  replay::Releases releases;
  // Returns the replay to compare with `what_if`. Both replays start from the same state.
  const replay::Replayed& own() const {
    return what_if->older_unchanged ? base->own : base->of_settings();
  }
  // Returns whether the exit status is kNo. With recorded settings, it is kNo if a decision
  // differs. With other settings, it is kNo if the run runs out of memory.
  bool no() const {
    return what_if.has_value() ? what_if->out_of_memory > 0 : exact->differences > 0;
  }
};

bool AsksWhatIf(const Options& o) {
  return o.has_alloc_conf || !o.device_memory.empty() || o.memory_fraction != 0;
}

Json Pair(uint64_t matched, uint64_t total) { return {{"matched", matched}, {"total", total}}; }

void AddExact(const trace::Trace& trace, const replay::Replayed& r, Json& json) {
  json["addresses"] = Pair(r.addresses_equal, r.addresses_total);
  json["segments"] = Pair(r.segment_allocs_equal, r.segment_allocs_total);
  json["segment_frees"] = Pair(r.segment_frees_equal, r.segment_frees_total);
  json["end_state_equal"] = r.end_state_equal;
  json["differences"] = r.differences;
  json["first_difference"] = nullptr;
  if (r.first_difference.has_value()) {
    const replay::Difference& d = *r.first_difference;
    json["first_difference"] = {
        {"event", d.event},
        {"time_ns", trace.info.has_times ? Json(trace.events.time_ns[d.event]) : Json()},
        {"what", d.what},
        {"cause", d.cause}};
  }
  json["settings_that_agree"] =
      r.settings_that_agree.has_value() ? Json(run::ToString(*r.settings_that_agree)) : Json();
  const auto count = [](const std::optional<uint64_t>& n) { return n ? Json(*n) : Json(); };
  json["start_states"] = count(r.start_states_consistent);
  json["start_states_tried"] = count(r.start_states_tried);
  json["start_states_log10"] = r.log10_consistent;
  json["start_states_tried_log10"] = r.log10_tried;
  json["unknown_tails"] = r.unknown_tails;
  json["tails_inferred"] = r.tails_inferred;
}

Json ModelJson(const replay::Replayed& r) {
  Json json;
  json["alloc_conf"] = run::ToString(r.conf);
  json["reserved_peak"] = r.peak_reserved;
  json["allocated_peak"] = r.peak_allocated;
  json["driver_calls"] = r.driver_calls();
  json["segment_allocs"] = r.segment_allocs;
  json["segment_frees"] = r.segment_frees;
  json["segment_maps"] = r.segment_maps;
  json["segment_unmaps"] = r.segment_unmaps;
  json["retries"] = r.retries;
  json["out_of_memory"] = r.out_of_memory;
  json["first_out_of_memory"] =
      r.first_out_of_memory.has_value() ? Json(*r.first_out_of_memory) : Json();
  json["device_memory"] = r.device_memory_bytes == 0 ? Json() : Json(r.device_memory_bytes);
  json["device_memory_inferred"] = r.device_memory_inferred;
  json["kept_older"] = r.older_unchanged;
  json["largest_hole"] = r.largest_hole;
  json["stranded"] = r.stranded_bytes;
  return json;
}

Json ToJson(const Results& results) {
  Json json;
  for (const char* key : {"addresses", "segments", "start_states", "first_difference"}) {
    json[key] = nullptr;  // sets the order of the documented keys
  }
  json["warnings"] = Json::array();
  if (results.exact.has_value()) {
    AddExact(*results.trace, *results.exact, json);
    json["recorded"] = ModelJson(*results.exact);
    for (const std::string& warning : results.exact->warnings) json["warnings"].push_back(warning);
  } else {
    json["warnings"].push_back(results.why_not_exact);
  }
  if (results.what_if.has_value()) {
    const Json what_if = ModelJson(*results.what_if);
    for (const char* key : {"reserved_peak", "driver_calls", "out_of_memory"}) {
      json[key] = what_if[key];
    }
    json["what_if"] = what_if;
    json["own_settings"] = ModelJson(results.base->own);
    json["own_settings_anew"] =
        results.base->anew.has_value() ? ModelJson(*results.base->anew) : Json();
  }
  json["releases"] = ReleasesJson(results.releases);
  json["card"] = GpuJson(results.releases.capacity);
  json["device"] = results.device;
  return json;
}

std::string Of(uint64_t matched, uint64_t total) {
  return i18n::Format("{} of {}", Count(matched), Count(total));
}

std::string States(const std::optional<uint64_t>& n, double log10) {
  return n.has_value() ? Count(*n) : i18n::Format("about 10^{:.0f}", log10);
}

std::string ExactText(const trace::Trace& trace, const replay::Replayed& r) {
  const bool same = r.differences == 0;
  const std::string_view match =
      r.end_state_equal
          ? i18n::Text("the replay matches every recorded decision")
          : i18n::Text(
                "the replay matches every recorded decision, but other blocks are left at "
                "the end");
  std::string text = i18n::Format(
      "{}\n\n  addresses       {} allocations match\n  cudaMalloc      {} segments match\n  "
      "cudaFree        {} segments match\n",
      same ? std::string(match)
           : i18n::Format("{} difference{} between the recording and the replay",
                          Count(r.differences), r.differences == 1 ? "" : "s"),
      Of(r.addresses_equal, r.addresses_total), Of(r.segment_allocs_equal, r.segment_allocs_total),
      Of(r.segment_frees_equal, r.segment_frees_total));
  text += i18n::Format(
      "  state at end    {}\n  settings        {}\n",
      r.end_state_equal ? i18n::Text("all blocks match the recording") : i18n::Text("differs"),
      run::ToString(r.conf).empty() ? i18n::Text("PyTorch's defaults") : run::ToString(r.conf));
  if (r.unknown_tails > 0) {
    text += i18n::Format(
        "  start state     not completely recorded: {} of {} possible start states {} with the "
        "recording\n                  {} block{} allocated before the recording may include a "
        "remainder that was not split off",
        States(r.start_states_consistent, r.log10_consistent),
        States(r.start_states_tried, r.log10_tried),
        r.start_states_consistent == 1 ? i18n::Text("agrees") : i18n::Text("agree"),
        Count(r.unknown_tails), r.unknown_tails == 1 ? "" : "s");
    text += r.tails_inferred > 0
                ? i18n::Format("; a remainder is certain for {}\n", Count(r.tails_inferred))
                : std::string("\n");
  } else {
    text += i18n::Text("  start state     completely recorded in the file\n");
  }
  text +=
      i18n::Format("  at the peak     {} reserved, largest hole {}, {} in holes between blocks\n",
                   run::FormatBytes(r.peak_reserved), run::FormatBytes(r.largest_hole),
                   run::FormatBytes(r.stranded_bytes));
  if (r.first_difference.has_value()) {
    const replay::Difference& d = *r.first_difference;
    const auto ns = trace.events.time_ns[d.event] - trace.begin_ns();
    text += i18n::Format("\nfirst difference: event {} at {}\n  {}\n  {}\n", Count(d.event),
                         TimeText(trace, ns), Printable(d.what), Printable(d.cause));
  }
  if (r.settings_that_agree.has_value()) {
    const std::string settings = run::ToString(*r.settings_that_agree);
    text += i18n::Format(
        "\nThe replay matches every recorded decision with these settings, which the file does not "
        "contain: {}\n",
        settings.empty() ? i18n::Text("PyTorch's defaults") : settings);
  }
  return text;
}

std::string OutOfMemoryText(const replay::Replayed& r) {
  if (r.device_memory_bytes == 0 && r.out_of_memory == 0) return i18n::Text("no limit known");
  if (r.out_of_memory == 0) return i18n::Text("no");
  return i18n::Format("yes, first at event {}", Count(r.first_out_of_memory.value_or(0)));
}

std::string WhatIfText(const Results& results) {
  const replay::Replayed& w = *results.what_if;
  const std::string settings = run::ToString(w.conf);
  std::string text = i18n::Format(
      "\nreplayed with {}{}{}\n\n", settings.empty() ? i18n::Text("PyTorch's defaults") : settings,
      w.device_memory_bytes != 0
          ? i18n::Format(", {} of memory for segments{}", run::FormatBytes(w.device_memory_bytes),
                         w.device_memory_inferred ? i18n::Text(" (inferred)") : "")
          : std::string(),
      w.older_unchanged ? i18n::Text(", with older blocks left in place") : "");
  for (const std::string& key : w.conf.ignored) {
    text += i18n::Format("  ({} changes no decision of the allocator)\n", key);
  }
  const replay::Replayed& own = results.own();
  const bool anew = !own.older_unchanged && results.base->own.older_unchanged;
  Table table({{""},
               {anew ? i18n::Text("Recorded settings, replayed") : i18n::Text("Recorded settings"),
                Table::kRight},
               {i18n::Text("New settings"), Table::kRight}});
  const auto row = [&](const std::string& name, auto get) { table.Row({name, get(own), get(w)}); };
  row(i18n::Text("reserved at peak"),
      [](const replay::Replayed& r) { return run::FormatBytes(r.peak_reserved); });
  row(i18n::Text("allocated at peak"),
      [](const replay::Replayed& r) { return run::FormatBytes(r.peak_allocated); });
  row(i18n::Text("largest hole at peak"),
      [](const replay::Replayed& r) { return run::FormatBytes(r.largest_hole); });
  row(i18n::Text("holes between blocks at peak"),
      [](const replay::Replayed& r) { return run::FormatBytes(r.stranded_bytes); });
  row(i18n::Text("calls to the driver"),
      [](const replay::Replayed& r) { return Count(r.driver_calls()); });
  row(i18n::Text("retries"), [](const replay::Replayed& r) { return Count(r.retries); });
  row(i18n::Text("out of memory"), OutOfMemoryText);
  text += table.Text();
  if (anew) {
    text += i18n::Format(
        "\n  Both replays first allocate the blocks that are older than the recording. In the\n  "
        "recording, {} were reserved at the peak.\n",
        run::FormatBytes(results.base->own.peak_reserved));
  }
  if (w.device_memory_inferred) {
    text += i18n::Format("\n  The GPU's memory is {}.\n", results.releases.capacity.evidence);
  }
  if (own.out_of_memory > 0 || w.out_of_memory > 0)
    text += i18n::Text(
        "\n  The replay treats a failed allocation as if it had succeeded, and continues.\n");
  return text;
}

// Replays one device.
absl::StatusOr<Results> ReplayDevice(const Options& options,
                                     std::shared_ptr<const trace::Trace> of_device,
                                     replay::ReplayOptions asked,
                                     const std::function<void(double)>& progress) {
  Results results{.device = trace::OnlyDevice(*of_device), .trace = std::move(of_device)};
  const trace::Trace& trace = *results.trace;
  replay::ReplayOptions base;
  base.progress = asked.progress = progress;
  absl::StatusOr<replay::Replayed> exact = replay::Replay(trace, base);
  if (exact.ok()) {
    results.exact = *std::move(exact);
  } else if (AsksWhatIf(options) && absl::IsFailedPrecondition(exact.status()) &&
             trace::WhyNoReplay(trace).empty()) {
    results.why_not_exact = std::string(exact.status().message());
  } else if (absl::IsFailedPrecondition(exact.status())) {
    return absl::FailedPreconditionError(
        fmt::format("{}: {}{}", DisplayName(options.file), std::string(exact.status().message()),
                    replay::HasHistory(trace) && trace::WhyNoReplay(trace).empty()
                        ? i18n::Text("; to try other settings, use --alloc-conf")
                        : std::string()));
  } else {
    return exact.status();
  }
  if (AsksWhatIf(options)) {
    absl::StatusOr<replay::Baseline> baseline = replay::ReplayBaseline(trace, base);
    if (!baseline.ok()) return baseline.status();
    results.base = *std::move(baseline);
    absl::StatusOr<replay::Replayed> what_if = replay::Replay(trace, asked);
    if (!what_if.ok()) return what_if.status();
    results.what_if = *std::move(what_if);
  }
  results.releases = replay::FindReleases(trace);
  return results;
}

std::string Text(const Results& results) {
  std::string text = results.exact.has_value() ? ExactText(*results.trace, *results.exact)
                                               : results.why_not_exact + "\n";
  if (!results.releases.headline.empty()) text += "\n" + Prose(results.releases.headline);
  if (results.exact.has_value()) {
    for (const std::string& warning : results.exact->warnings) NoteWarning(warning);
  }
  if (results.what_if.has_value()) text += WhatIfText(results);
  return text;
}

// Returns the figures of the shown device. If there are several devices, also lists the figures of
// each device.
Json ToJson(const std::vector<Results>& devices, std::optional<uint8_t> shown) {
  const auto of = std::ranges::find_if(
      devices, [&shown](const Results& r) { return shown && r.device == *shown; });
  Json json = ToJson(of == devices.end() ? devices.front() : *of);
  if (devices.size() == 1) return json;
  json["devices"] = Json::array();
  for (const Results& r : devices) json["devices"].push_back(ToJson(r));
  return json;
}

// Parses a size or a GPU. A GPU stands for the size of its memory without the CUDA context.
absl::StatusOr<uint64_t> MemoryForSegments(const std::string& text) {
  const absl::StatusOr<uint64_t> bytes = run::ParseBytes(text);
  if (bytes.ok()) return bytes;
  const absl::StatusOr<std::string> written = run::DeviceTextOf(text);
  if (!written.ok()) return written.status();
  const absl::StatusOr<run::DeviceProfile> device = run::FindDevice(*written);
  if (device.ok()) return device->memory_bytes - device->context_bytes;
  if (*written != text || text.find('=') != std::string::npos) return device.status();
  return absl::InvalidArgumentError(
      i18n::Format("{}. The value is not the name of a GPU in `vramscope devices` either",
                   std::string(bytes.status().message())));
}

// Replays every device of the file separately.
ExitCode Execute(const Options& options) {
  replay::ReplayOptions asked;
  if (options.has_alloc_conf) {
    const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(options.alloc_conf);
    if (!conf.ok()) {
      NoteError("--alloc-conf: " + std::string(conf.status().message()));
      return kUsage;
    }
    asked.alloc_conf = *conf;
  }
  if (!options.device_memory.empty()) {
    const absl::StatusOr<uint64_t> bytes = MemoryForSegments(options.device_memory);
    if (!bytes.ok() || *bytes == 0) {
      NoteError("--device-memory: " + (bytes.ok()
                                           ? std::string(i18n::Text("expected a size above 0"))
                                           : std::string(bytes.status().message())));
      return kUsage;
    }
    asked.device_memory_bytes = *bytes;
  }
  asked.memory_fraction = options.memory_fraction;
  if (options.keep) asked.restart = false;

  const auto trace = OpenTrace(options.file, options.range);
  if (!trace.ok()) return ReportError(trace.status());
  std::vector<uint8_t> devices = trace::DevicesOf(**trace);
  if (devices.empty()) devices.push_back(0);
  ProgressBar bar(true);
  std::vector<Results> results;
  absl::Status unable;
  for (const uint8_t device : devices) {
    absl::StatusOr<Results> of =
        ReplayDevice(options, devices.size() == 1 ? *trace : trace::OfDevice(*trace, device), asked,
                     [&bar, done = results.size(), all = devices.size()](double fraction) {
                       bar.Show((static_cast<double>(done) + fraction) / static_cast<double>(all),
                                i18n::Text("replaying"));
                     });
    if (of.ok()) {
      results.push_back(*std::move(of));
    } else if (absl::IsFailedPrecondition(of.status()) && devices.size() > 1) {
      unable = of.status();  // other devices may still be replayed
      bar.Clear();
      Note(fmt::format("cuda:{}: {}", device, Printable(std::string(unable.message()))));
    } else {
      return ReportError(of.status());
    }
  }
  bar.Clear();
  if (results.empty()) return ReportError(unable);

  ExitCode printed = kDone;
  if (options.json) {
    printed = PrintJson(ToJson(results, analysis::DeviceToShow(*trace)));
  } else {
    std::string text;
    for (const Results& of : results) {
      if (devices.size() > 1)
        text += fmt::format("{}cuda:{}: ", text.empty() ? "" : "\n", of.device);
      text += Text(of);
    }
    printed = PrintText(text);
  }
  if (printed != kDone) return printed;
  return std::ranges::any_of(results, &Results::no) ? kNo : kDone;
}

void DeclareReplay(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command
      ->add_option("FILE", options->file,
                   "a .trace file or a CUDA memory snapshot ('-': standard input)")
      ->required();
  CLI::Option* conf = command
                          ->add_option("--alloc-conf", options->alloc_conf,
                                       "replay with these settings, in the syntax of "
                                       "PYTORCH_CUDA_ALLOC_CONF. For the defaults, use \"\"")
                          ->type_name("S");
  command
      ->add_option("--device-memory", options->device_memory,
                   "replay with this much memory for segments, such as 24GiB; or with the memory "
                   "of a GPU minus its CUDA context. Give the GPU as a name in `vramscope "
                   "devices`, a file or properties")
      ->type_name("SIZE|GPU");
  command
      ->add_option("--memory-fraction", options->memory_fraction,
                   "replay with this fraction of the device's memory")
      ->check(NumberBetween(0.001, 1))
      ->type_name("F");
  command->add_flag(
      "--keep-older", options->keep,
      "leave blocks that are older than the recording at their recorded addresses. By "
      "default, a replay with other settings allocates these blocks again");
  AddDevice(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Exit status: 1 if a decision differs from the recording. With other settings: 1 if\nthe run "
      "still runs out of memory.");
  command->callback([options, conf, &context] {
    options->has_alloc_conf = conf->count() > 0;
    context.exit_code = Execute(*options);
  });
}

}  // namespace

CommandEntry DeclareCommand_replay() {
  return {.place = 80,
          .name = "replay",
          .help =
              "replay the allocator and compare its decisions with the recorded decisions, or "
              "replay it with other settings",
          .example = "replay snapshot.pickle --alloc-conf expandable_segments:True",
          .declare = DeclareReplay};
}

}  // namespace vramscope::cli::replay_command
