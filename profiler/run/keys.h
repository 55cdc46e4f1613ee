// The table of settable keys. An entry has the key's name, its allowed values and its field. First
// come the keys that every run has, then the keys of techniques (catalogue.h), and then those keys
// of the format that no technique of this version declares. Everything else (builder, run.json,
// trace header, help) reads this table. Internal to this folder.
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
  std::vector<std::string_view> choices = {};  // for kChoice: values of this version
  std::vector<std::string_view> reserved =
      {};                          // for kChoice: values of the format that this version lacks
  double low = 0, high = 0;        // for kInteger, kNumber: allowed range, inclusive
  std::string_view expected = {};  // "expected ...", if not implied by kind and range
  // `apply` and `text` are null if the whole key is reserved: its only choice is the default.
  std::function<void(RunConfig&, std::string_view)> apply = {};  // called after Check()
  std::function<std::string(const RunConfig&)> text = {};
  // Checks that go beyond kind and range, or null if there are none.
  std::function<absl::Status(std::string_view)> check = {};
  bool check_names_key = false;  // errors of `check` already contain key and value
  // The value is a list of names or numbers; a run.json may write it as a JSON list.
  bool is_list = false;
  bool numbers_in_list = false;
};

// Returns all keys except `model` and `model_config_json`, which the builder handles itself.
const std::vector<KeySpec>& Specs();
const KeySpec* FindSpec(std::string_view key);
std::string Expected(const KeySpec& spec);  // the allowed values, as in error messages
absl::Status Check(const KeySpec& spec, std::string_view value);
absl::Status UnknownKey(std::string_view key);

}  // namespace vramscope::run
