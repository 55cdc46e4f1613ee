// The table of settable keys: one row says how a key is called, what it may be, where it is kept:
// those of every run, then those of the techniques (catalogue.h), then those that the format knows
// and no technique of this version. Everything else (builder, run.json, trace header, help) reads
// this table. Internal to this folder.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/declarations.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {

struct KeySpec {
  std::string_view key;  // field path in proto/run.proto
  std::string_view help;
  ValueKind kind = ValueKind::kText;
  std::vector<std::string_view> choices = {};  // kChoice: what this version has
  std::vector<std::string_view> reserved =
      {};                          // kChoice: what the format knows and this version lacks
  double low = 0, high = 0;        // kInteger, kNumber: allowed range, inclusive
  std::string_view expected = {};  // "expected ...", where kind and range do not say it
  // Both null for a key that is reserved as a whole: `choices` then holds its default alone.
  std::function<void(RunConfig&, std::string_view)> apply = {};  // `value` has passed Check()
  std::function<std::string(const RunConfig&)> text = {};
  // More than kind and range can say; may be null.
  std::function<absl::Status(std::string_view)> check = {};
  bool check_names_key = false;  // its errors say key and value themselves
  // A list of names or of numbers, which a run.json may write as one.
  bool is_list = false;
  bool numbers_in_list = false;
};

// All keys but `model` and `model_config_json`, which the builder treats itself.
const std::vector<KeySpec>& Specs();
const KeySpec* FindSpec(std::string_view key);
std::string Expected(const KeySpec& spec);  // what it may be, as errors say it
absl::Status Check(const KeySpec& spec, std::string_view value);
absl::Status UnknownKey(std::string_view key);

}  // namespace vramscope::run
