// Reads a model's config.json, which is untrusted. Its size is checked before it is parsed, and its
// nesting depth when a run is built (run_config.h). Every value is checked before use.
//
//   ASSIGN_OR_RETURN(nlohmann::json object, ParseConfigObject(text));
//   ConfigReader reader(object);
//   const int64_t layers = reader.Integer({"num_hidden_layers", "n_layer"}, 1, kMaxLayers);
//   const double dropout = reader.Number("dropout", 0, 0.999, 0.1);
//   if (!reader.status().ok()) return reader.status();      // the first error
//
// A ConfigReader is not thread-safe; the functions are.
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

// Returns kInvalidArgument with the message "config.json: " and the text.
absl::Status InvalidModelConfig(std::string text);

// kInvalidArgument: too large, not JSON (with the position), or not an object.
absl::StatusOr<nlohmann::json> ParseConfigObject(std::string_view text);

// The two names of a model in its config.json. One of them may be empty.
struct ConfigNames {
  std::string architecture;  // the first of `architectures`
  std::string model_type;
};
// Reads both names. kInvalidArgument: the file has neither.
absl::StatusOr<ConfigNames> NamesOf(const nlohmann::json& object);

// kInvalidArgument: no family of `supported` reads a model with these names.
absl::Status UnsupportedModel(const ConfigNames& names, const std::vector<std::string>& supported);

// Reads keys of one object, which must outlive the reader, and remembers the first error.
class ConfigReader {
 public:
  // `prefix`: the object's name in messages ("rope_scaling.").
  explicit ConfigReader(const nlohmann::json& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  const absl::Status& status() const { return status_; }

  // `keys` are names of the same setting. Reads the first that occurs; its value must be in [low,
  // high]. If none occurs, returns the fallback; without a fallback, that is an error.
  int64_t Integer(std::initializer_list<const char*> keys, int64_t low, int64_t high,
                  std::optional<int64_t> fallback = {});
  double Number(const char* key, double low, double high, double fallback);
  bool Bool(const char* key, bool fallback);
  std::string String(const char* key, std::string fallback);

  // Checks a key whose only supported value is the text `supported`, which is also the default.
  void Only(const char* key, std::string_view supported);
  // Returns the number of a Hugging Face classifier's classes: num_labels, else the entries of
  // id2label, else 2. Less than 2 is an error, because one label means regression.
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
