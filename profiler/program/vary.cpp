#include "profiler/program/vary.h"

#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::program {
namespace {

constexpr size_t kMostValues = 64;

absl::Status Refused(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("--vary {}: {}", text, why));
}

}  // namespace

absl::StatusOr<Variation> ParseVariation(std::string_view text) {
  // The first "=" ends the name, as in "--batch-size=1..64" and "model.batch=1,2".
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return Refused(text, i18n::Text("expected NAME=FIRST..LAST or NAME=VALUE,VALUE"));
  Variation variation{.name = std::string(text.substr(0, equals))};
  const std::string_view values = text.substr(equals + 1);
  if (const size_t dots = values.find(".."); dots != std::string_view::npos) {
    const absl::StatusOr<int64_t> first = run::ParseInteger(values.substr(0, dots)),
                                  last = run::ParseInteger(values.substr(dots + 2));
    if (!first.ok() || !last.ok() || *first < 1 || *last < *first || *last > INT64_MAX / 4)
      return Refused(
          text,
          i18n::Text("expected a range of whole numbers from 1 up, with the smaller number first"));
    variation.is_range = true;
    for (int64_t value = *first; value < *last; value *= 2)
      variation.values.push_back(std::to_string(value));
    variation.values.push_back(std::to_string(*last));
    return variation;
  }
  for (const absl::string_view value :
       absl::StrSplit(absl::string_view(values.data(), values.size()), ',')) {
    if (value.empty()) return Refused(text, i18n::Text("a value is empty"));
    variation.values.emplace_back(value);
  }
  if (variation.values.size() > kMostValues)
    return Refused(text, i18n::Format("more than {} values", kMostValues));
  return variation;
}

absl::StatusOr<std::vector<std::string>> WithValue(const std::vector<std::string>& command,
                                                   const std::string& name,
                                                   const std::string& value) {
  std::vector<std::string> words = command;
  const std::string placeholder = "{" + name + "}";
  bool found = false;
  for (std::string& word : words) {
    if (word.find(placeholder) == std::string::npos) continue;
    word = absl::StrReplaceAll(word, {{placeholder, value}});
    found = true;
  }
  if (found) return words;
  for (size_t i = 1; i < words.size(); ++i) {
    for (const std::string& argument : {name, "--" + name}) {
      if (words[i].starts_with(argument + "=")) {
        words[i] = argument + "=" + value;
        return words;
      }
      if (words[i] != argument || !argument.starts_with("-") || i + 1 == words.size()) continue;
      words[i + 1] = value;
      return words;
    }
  }
  if (!name.starts_with("-"))
    return absl::InvalidArgumentError(i18n::Format(
        "--vary {0}: the command contains neither the placeholder {{{0}}} nor an argument "
        "{0}=... or --{0}. Write {{{0}}} where the value belongs, or use "
        "--vary=--{0}=... to append the argument",
        name));
  words.push_back(name);
  words.push_back(value);
  return words;
}

absl::StatusOr<Request> RequestWithValue(const Request& request, const std::string& name,
                                         const std::string& value) {
  absl::StatusOr<std::vector<std::string>> arguments = SplitWords(request.arguments);
  if (!arguments.ok()) return arguments.status();
  // Puts the script in front, because WithValue() skips the first word of a command.
  arguments->insert(arguments->begin(), request.script);
  absl::StatusOr<std::vector<std::string>> words = WithValue(*arguments, name, value);
  if (!words.ok()) return words.status();
  Request changed = request;
  changed.script = words->front();
  words->erase(words->begin());
  changed.arguments = JoinWords(*words);
  return changed;
}

}  // namespace vramscope::program
