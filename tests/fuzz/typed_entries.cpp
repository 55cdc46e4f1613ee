#include "tests/fuzz/typed_entries.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "app/cli/time_text.h"
#include "profiler/reproduce/experiment.h"
#include "tests/fuzz/check.h"
#include "ui/shell/open_part.h"

namespace vramscope::fuzz {
namespace {

// Returns whether the input was accepted. If not, the error must have a message.
bool Taken(const absl::Status& status) {
  Check(status.ok() || !status.message().empty(), "an error without a message");
  return status.ok();
}

}  // namespace

void Typed(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 5> lines;
  for (std::string& line : lines) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (const auto time = cli::ParseTime(lines[0]); Taken(time.status()))
    Check(std::max(*time, -*time) <= int64_t{9'000'000'000'000'000'000}, "a time that is none");
  const auto part = ui::ParsePart(
      {.first_entry = lines[1], .last_entry = lines[2], .from = lines[3], .to = lines[4]});
  if (!Taken(part.status())) return;
  Check(part->first_entry <= part->last_entry && part->from_ns < part->to_ns,
        "a part that ends before it begins");
  const auto blank = [](const std::string& text) {
    return text.find_first_not_of(' ') == std::string::npos;
  };
  const ui::PartText all;
  Check(!blank(lines[1]) || part->first_entry == ui::ParsePart(all)->first_entry, "first entry");
  Check(blank(lines[4]) || part->to_ns <= int64_t{9'000'000'000'000'000}, "to");
}

void Experiments(const uint8_t* data, size_t size) {
  const auto document = reproduce::ParseDocument({reinterpret_cast<const char*>(data), size});
  if (!Taken(document.status())) return;
  for (const reproduce::Open& open : document->open)
    Check(1 <= open.low && open.low <= open.high, "a range to solve in");
  for (const reproduce::Experiment& experiment : document->experiments) {
    Check(!experiment.id.empty(), "an experiment without an id");
    const reproduce::Figure* headline = experiment.headline();
    Check((headline == nullptr) == experiment.figures.empty(), "figures, and no headline");
    for (const reproduce::Figure& figure : experiment.figures)
      Check(!figure.name.empty() && figure.scale() > 0, "a figure that is none");
    for (const reproduce::ExperimentRun& run : experiment.runs) {
      reproduce::Values open;
      for (const std::string& name : reproduce::OpenNames(run)) open.emplace_back(name, 1);
      // Only reads the settings. Planning the run would be too slow for a fuzzer.
      Taken(reproduce::SettingsOf(run, open).status());
    }
  }
}

}  // namespace vramscope::fuzz
