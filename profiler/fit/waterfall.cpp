#include "profiler/fit/waterfall.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "profiler/run/check_run.h"
#include "profiler/run/units.h"

namespace vramscope::fit {
namespace {

// Returns the name of a key's rung. Keys such as "lora.rank" and "lora.alpha" share one rung. Each
// key of the optimizer has a rung of its own.
std::string RungOf(const std::string& key) {
  for (const char* whole : {"lora", "checkpointing", "shard", "custom_device"}) {
    if (key.starts_with(std::string(whole) + ".")) return whole;
  }
  return key;
}

// Keys that define the size of a run, not its techniques.
constexpr std::string_view kSizes[] = {"batch",
                                       "seq",
                                       "steps",
                                       "lengths",
                                       "samples.file",
                                       "device",
                                       "custom_device.memory",
                                       "custom_device.bandwidth",
                                       "custom_device.flops",
                                       "seed",
                                       "optimizer.name",
                                       "optimizer.lr",
                                       "optimizer.momentum",
                                       "optimizer.weight_decay"};

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<run::RunConfig> PlainRun(const run::RunConfig& now) {
  run::RunConfigBuilder builder;
  // A preset must be set by its name, because it has defaults of its own.
  absl::Status status = builder.SetPreset(now.model);
  if (!status.ok()) status = builder.SetModelConfig(now.model, now.model_config_json);
  if (!status.ok()) return status;
  for (const auto& [key, value] : SettingsOf(now)) {
    if (value.empty() || std::ranges::find(kSizes, key) == std::end(kSizes)) continue;
    if (status = builder.Set(key, value); !status.ok()) return status;
  }
  return builder.Build();
}

absl::StatusOr<std::vector<Rung>> Ladder(const run::RunConfig& baseline, const run::RunConfig& now,
                                         const std::vector<std::string>& order) {
  std::vector<Rung> rungs;
  for (const auto& [key, value] : Changed(baseline, now)) {
    if (key == "model" || key == "model_config_json" || key == "modelConfigJson") continue;
    const std::string name = RungOf(key);
    auto rung = std::ranges::find(rungs, name, &Rung::name);
    if (rung == rungs.end())
      rung = rungs.insert(rungs.end(), Rung{.name = name, .settings = {}, .config = {}});
    rung->settings.emplace_back(key, value);
  }
  std::vector<Rung> sorted = {{.name = "baseline", .settings = {}, .config = baseline}};
  for (const std::string& name : order) {
    const auto rung = std::ranges::find(rungs, name, &Rung::name);
    if (rung == rungs.end()) {
      std::vector<std::string> names;
      for (const Rung& each : rungs) names.push_back(each.name);
      return absl::InvalidArgumentError(
          names.empty()
              ? i18n::Format("--order: there is no change named \"{}\"; there are no further "
                             "changes to order",
                             name.substr(0, 60))
              : i18n::Format("--order: there is no change named \"{}\"; the changes are {}",
                             name.substr(0, 60), fmt::join(names, ", ")));
    }
    sorted.push_back(*rung);
    rungs.erase(rung);
  }
  sorted.insert(sorted.end(), rungs.begin(), rungs.end());
  for (size_t i = 1; i < sorted.size(); ++i) {
    absl::StatusOr<run::RunConfig> config = With(sorted[i].settings, sorted[i - 1].config);
    if (!config.ok()) {
      return absl::InvalidArgumentError(
          i18n::Format("the change {} cannot come at place {} of the order: {}. Choose another "
                       "order with --order",
                       sorted[i].name, i, std::string(config.status().message())));
    }
    sorted[i].config = *std::move(config);
  }
  return sorted;
}

std::string WaterfallSvg(const std::vector<Rung>& ladder, const std::vector<Planned>& planned) {
  constexpr int kRow = 26, kLeft = 220, kPlot = 420, kRight = 180;
  const int height = static_cast<int>(ladder.size() + 1) * kRow + 16;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
      kLeft + kPlot + kRight, height);
  uint64_t top = 1;
  for (const Planned& each : planned) top = std::max(top, each.peak);
  const auto x = [&](uint64_t bytes) {
    return kLeft + static_cast<double>(bytes) / static_cast<double>(top) * kPlot;
  };
  const auto row = [&](size_t at, std::string_view name, uint64_t from, uint64_t to,
                       std::string_view colour, const std::string& text) {
    const double y = 8.0 + static_cast<double>(at) * kRow;
    svg += fmt::format(
        "<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>"
        "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>"
        "<text x=\"{}\" y=\"{:.0f}\">{}</text>",
        kLeft - 8, y + 15, Escaped(name), x(std::min(from, to)), y,
        std::max(1.0, x(std::max(from, to)) - x(std::min(from, to))), kRow - 8, colour,
        kLeft + kPlot + 8, y + 15, Escaped(text));
  };
  for (size_t i = 0; i < ladder.size() && i < planned.size(); ++i) {
    const uint64_t peak = planned[i].peak;
    if (i == 0) {
      row(i, ladder[i].name, 0, peak, "#5b6b7b", run::FormatBytes(peak));
      continue;
    }
    const uint64_t was = planned[i - 1].peak;
    const uint64_t change = peak > was ? peak - was : was - peak;
    row(i, ladder[i].name, was, peak, peak > was ? "#c0392b" : "#2e8b57",
        fmt::format("{}{}", peak > was ? "+" : "-", run::FormatBytes(change)));
  }
  if (!planned.empty())
    row(ladder.size(), "now", 0, planned.back().peak, "#5b6b7b",
        run::FormatBytes(planned.back().peak));
  return svg + "</svg>";
}

}  // namespace vramscope::fit
