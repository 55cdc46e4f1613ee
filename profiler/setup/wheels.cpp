#include "profiler/setup/wheels.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <fmt/format.h>

#include <algorithm>

#include "profiler/base/i18n.h"
#include "resources/embedded_file.h"

namespace vramscope::setup {
namespace {

constexpr size_t kHashDigits = 64;
constexpr std::string_view kHash = "--hash=sha256:";

const std::vector<Wheel>& AllWheels() {
  // The list is compiled in, and a test checks that every line is valid.
  static const auto* wheels = new std::vector<Wheel>(
      ParseWheels(resources::WheelsFile().front().content).value_or(std::vector<Wheel>{}));
  return *wheels;
}

}  // namespace

absl::StatusOr<std::vector<Wheel>> ParseWheels(std::string_view text) {
  std::vector<Wheel> wheels;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    Wheel wheel;
    const size_t equals = words.empty() ? std::string::npos : words[0].find("==");
    const bool good = words.size() == 6 && equals != std::string::npos &&
                      words[1].starts_with(kHash) && words[2] == "#" &&
                      absl::SimpleAtoi(words[4], &wheel.bytes);
    if (!good) {
      return absl::InvalidArgumentError(
          i18n::Format("the list of wheels has a malformed line: \"{}\"",
                       std::string_view(line.data(), line.size())));
    }
    wheel.name = words[0].substr(0, equals);
    wheel.version = words[0].substr(equals + 2);
    wheel.sha256 = words[1].substr(kHash.size());
    wheel.use = words[3];
    wheel.file = words[5];
    const bool hash = wheel.sha256.size() == kHashDigits &&
                      wheel.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hash || wheel.file.find('/') != std::string::npos) {
      return absl::InvalidArgumentError(
          i18n::Format("{}: the SHA-256 or the name of the file is missing", wheel.name));
    }
    wheels.push_back(std::move(wheel));
  }
  return wheels;
}

std::vector<Wheel> WheelsFor(std::string_view use) {
  std::vector<Wheel> out;
  std::ranges::copy_if(AllWheels(), std::back_inserter(out),
                       [&](const Wheel& wheel) { return wheel.use == use; });
  return out;
}

const std::string& TorchVersion() {
  static const auto* version = [] {
    const auto torch = std::ranges::find(AllWheels(), "torch", &Wheel::name);
    return new std::string(torch == AllWheels().end() ? "" : torch->version);
  }();
  return *version;
}

}  // namespace vramscope::setup
