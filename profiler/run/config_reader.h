// Reads a model's config.json, which is hostile: its size is bounded before it is parsed (its
// nesting where a run is made, run_config.h), every value before it is used.
//
//   ASSIGN_OR_RETURN(nlohmann::json object, ParseConfigObject(text));
//   ConfigReader reader(object);
//   const int64_t layers = reader.Integer({"num_hidden_layers", "n_layer"}, 1, kMaxLayers);
//   const double dropout = reader.Number("dropout", 0, 0.999, 0.1);
//   if (!reader.status().ok()) return reader.status();      // the first thing that is wrong
//
// Not thread-safe; the functions are.
#pragma once

#include <absl/status/statusor.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

inline constexpr size_t kMaxConfigBytes = size_t{1} << 20;

// "config.json: " and the text, kInvalidArgument.
absl::Status InvalidModelConfig(std::string text);

// kInvalidArgument: too large, not JSON (with the place), not an object.
absl::StatusOr<nlohmann::json> ParseConfigObject(std::string_view text);

// How a config.json calls its model; one of the two may be empty.
struct ConfigNames {
  std::string architecture;  // the first of `architectures`
  std::string model_type;
};
// kInvalidArgument: it says neither.
absl::StatusOr<ConfigNames> NamesOf(const nlohmann::json& object);

// kInvalidArgument: no family of `supported` reads a model of these names.
absl::Status UnsupportedModel(const ConfigNames& names, const std::vector<std::string>& supported);

// Reads keys of one object, which outlives it, and remembers the first thing that is wrong.
class ConfigReader {
 public:
  // `prefix`: how the object itself is called in messages ("rope_scaling.").
  explicit ConfigReader(const nlohmann::json& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  const absl::Status& status() const { return status_; }

  // The first of `keys` that is there; all of them are names of the same thing. Between low and
  // high; without a fallback the key must be there.
  int64_t Integer(std::initializer_list<const char*> keys, int64_t low, int64_t high,
                  std::optional<int64_t> fallback = {});
  double Number(const char* key, double low, double high, double fallback);
  bool Bool(const char* key, bool fallback);
  std::string String(const char* key, std::string fallback);

  // A text that has one supported value, which is also the default.
  void Only(const char* key, std::string_view supported);
  // Of a Hugging Face classifier: num_labels, else the entries of id2label, else 2. At least 2: one
  // label makes it a regression.
  int64_t Classes();

  void Fail(std::string text) {
    if (status_.ok()) status_ = InvalidModelConfig(std::move(text));
  }

 private:
  std::string Key(std::initializer_list<const char*> keys) const;
  const nlohmann::json* Find(std::initializer_list<const char*> keys, bool optional);

  const nlohmann::json& object_;
  std::string prefix_;
  absl::Status status_;
};

}  // namespace vramscope::run
