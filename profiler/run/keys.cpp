#include "profiler/run/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "profiler/base/i18n.h"
#include "profiler/run/alloc_conf.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/messages.h"
#include "profiler/run/seq.h"
#include "profiler/run/text_formats.h"
#include "profiler/run/units.h"

namespace vramscope::run {
namespace {

// Makes a key with the values of an enumeration as choices. Name() returns their names.
template <class Enum, class Get>
KeySpec ChoiceKey(std::string_view key, std::string_view help, std::initializer_list<Enum> values,
                  std::vector<std::string_view> reserved, Get get) {
  KeySpec spec{.key = key, .help = help, .kind = ValueKind::kChoice};
  std::vector<Enum> all(values);
  for (Enum value : all) spec.choices.push_back(Name(value));
  spec.reserved = std::move(reserved);
  spec.apply = [all, get](RunConfig& config, std::string_view text) {
    for (Enum value : all) {
      if (Name(value) == text) get(config) = value;
    }
  };
  spec.text = [get](const RunConfig& config) {
    return std::string(Name(get(const_cast<RunConfig&>(config))));
  };
  return spec;
}

template <class Get>
KeySpec Integer(std::string_view key, std::string_view help, double low, double high, Get get) {
  KeySpec spec{.key = key, .help = help, .kind = ValueKind::kInteger, .low = low, .high = high};
  spec.apply = [get](RunConfig& config, std::string_view text) {
    auto& field = get(config);
    field = static_cast<std::remove_reference_t<decltype(field)>>(ParseInteger(text).value());
  };
  spec.text = [get](const RunConfig& config) {
    return fmt::format("{}", get(const_cast<RunConfig&>(config)));
  };
  return spec;
}

// Settings, and values of choices, that belong to the format but are not in this version. Only the
// default, `only`, is allowed. Once a technique declares an entry, it is removed here.
struct ReservedKey {
  std::string_view key, help, only;
  std::vector<std::string_view> values;
};
const std::vector<ReservedKey>& ReservedKeys() {
  static const auto* keys = new std::vector<ReservedKey>{
      {"optimizer.name", "", "", {"adafactor", "lion"}},
      {"optimizer.bits", "bits of an optimizer state element", "32", {"8"}},
      {"checkpointing.mode", "", "", {"ffn", "attention", "selective", "alternate"}},
      {"lora.placement", "position of the adapters", "weight", {"embedded", "decoupled"}},
      {"offload.optimizer", "where the optimizer state is kept", "none", {"cpu", "nvme"}},
      {"offload.parameters", "where the parameters are stored", "none", {"cpu", "nvme"}},
      {"offload.activations", "where saved activations are kept", "none", {"cpu", "nvme"}},
      {"activation_compression", "how saved activations are kept", "none", {"int8"}},
      {"loss", "how the loss processes the logits", "full", {"chunked"}},
      {"shard.strategy",
       "how GPUs share the training state",
       "none",
       {"ddp", "zero1", "zero2", "zero3", "tensor"}},
      {"shard.ranks", "number of GPUs", "1", {}},
      {"eval", "an evaluation pass after training", "none", {"grad", "no_grad"}},
  };
  return *keys;
}

// Makes the key of a technique's setting.
KeySpec Declared(const SettingDeclaration& setting) {
  KeySpec spec{.key = setting.key,
               .help = setting.help,
               .kind = setting.kind,
               .low = setting.low,
               .high = setting.high};
  for (const Choice& choice : setting.choices) spec.choices.push_back(choice.value);
  for (const ReservedKey& reserved : ReservedKeys()) {
    if (reserved.key != setting.key) continue;
    for (std::string_view value : reserved.values) {
      if (std::find(spec.choices.begin(), spec.choices.end(), value) == spec.choices.end())
        spec.reserved.push_back(value);
    }
  }
  const TextFormat* format = FindTextFormat(setting.format);
  if (format != nullptr) {
    spec.expected = format->expected;
    spec.numbers_in_list = setting.format == "lengths";
    spec.is_list = setting.format == "names" || spec.numbers_in_list;
    spec.check = [format](std::string_view v) { return format->normalized(v).status(); };
  }
  // Values are stored in normalised form, so that equal settings have equal texts.
  spec.apply = [key = spec.key, kind = setting.kind, format](RunConfig& c, std::string_view v) {
    std::string text(v);
    if (kind == ValueKind::kInteger) text = fmt::format("{}", ParseInteger(v).value());
    if (kind == ValueKind::kNumber) text = fmt::format("{}", ParseNumber(v).value());
    if (format != nullptr) text = format->normalized(v).value();
    c.Set(key, text);
  };
  spec.text = [key = spec.key](const RunConfig& c) { return c.Get(key); };
  return spec;
}

std::string OrEmpty(double value) { return value > 0 ? fmt::format("{}", value) : ""; }

std::vector<KeySpec> DeviceSpecs() {
  std::vector<KeySpec> specs;
  specs.push_back(
      {.key = "device",
       .help = TEXT_MARK("GPU to plan for: a name in the device table, a MIG slice "
                         "(\"a100-80gb:1g.10gb\"), a device file, or properties (NAME=VALUE)"),
       .kind = ValueKind::kText,
       .expected = TEXT_MARK("expected the name of a GPU in the device table (`vramscope devices` "
                             "lists the names), or the properties of a GPU"),
       .apply = [](RunConfig& c, std::string_view v) { c.device = FindDevice(v).value().key; },
       .text = [](const RunConfig& c) { return c.device; },
       .check = [](std::string_view v) { return FindDevice(v).status(); },
       .check_names_key = true});
  specs.push_back(
      {.key = "custom_device.memory",
       .help = TEXT_MARK("memory of the GPU (\"24GiB\"); replaces the value in the device table"),
       .kind = ValueKind::kBytes,
       .low = 1 << 20,
       .apply = [](RunConfig& c,
                   std::string_view v) { c.custom_device.memory_bytes = ParseBytes(v).value(); },
       .text =
           [](const RunConfig& c) {
             const uint64_t bytes = c.custom_device.memory_bytes;
             return bytes > 0 ? fmt::format("{}", bytes) : std::string();
           }});
  specs.push_back(
      {.key = "custom_device.bandwidth",
       .help = TEXT_MARK("memory bandwidth in bytes per second (\"1008e9\"); replaces the value in "
                         "the device table"),
       .kind = ValueKind::kNumber,
       .low = 1e6,
       .high = 1e18,
       .apply =
           [](RunConfig& c, std::string_view v) {
             c.custom_device.bandwidth_bytes_per_s = ParseNumber(v).value();
           },
       .text = [](const RunConfig& c) { return OrEmpty(c.custom_device.bandwidth_bytes_per_s); }});
  specs.push_back(
      {.key = "custom_device.flops",
       .help = TEXT_MARK("dense operations per second at the run's precision; replaces the value "
                         "in the device table"),
       .kind = ValueKind::kNumber,
       .low = 1e6,
       .high = 1e21,
       .apply = [](RunConfig& c,
                   std::string_view v) { c.custom_device.flops = ParseNumber(v).value(); },
       .text = [](const RunConfig& c) { return OrEmpty(c.custom_device.flops); }});
  return specs;
}

std::vector<KeySpec> MakeSpecs() {
  std::vector<KeySpec> s;
  s.push_back(Integer("batch",
                      TEXT_MARK("samples in one optimizer step, over all its micro-batches"), 1,
                      65536, [](RunConfig& c) -> int& { return c.batch; }));
  // If seq is not a number, the builder stores the value in other settings (seq.h).
  KeySpec seq = Integer("seq",
                        TEXT_MARK("tokens in a sample. Or the lengths of successive micro-batches: "
                                  "a list (\"400,1536,400\"), ranges (\"256-1024\"), or a file "
                                  "with lines \"length,count\" from which vramscope draws lengths"),
                        1, 1 << 20, [](RunConfig& c) -> int& { return c.seq; });
  seq.expected = ExpectedSeq();
  seq.is_list = seq.numbers_in_list = true;
  s.push_back(std::move(seq));
  s.push_back(Integer("micro_batches",
                      TEXT_MARK("number of micro-batches into which the batch of an optimizer step "
                                "is split; each has its own forward and backward pass"),
                      1, 4096, [](RunConfig& c) -> int& { return c.micro_batches; }));
  s.push_back(Integer("steps", TEXT_MARK("training steps"), 1, 1000,
                      [](RunConfig& c) -> int& { return c.steps; }));
  for (KeySpec& spec : DeviceSpecs()) s.push_back(std::move(spec));
  s.push_back({.key = "alloc_conf",
               .help = TEXT_MARK(
                   "settings of the caching allocator, written as in PYTORCH_CUDA_ALLOC_CONF"),
               .kind = ValueKind::kText,
               .expected = TEXT_MARK("expected text, such as \"max_split_size_mb:128\""),
               .apply = [](RunConfig& c, std::string_view v) { c.alloc_conf = v; },
               .text = [](const RunConfig& c) { return c.alloc_conf; },
               .check = [](std::string_view v) { return ParseAllocConf(v).status(); }});
  s.push_back(Integer("seed", TEXT_MARK("seed of weights and data"), -0x1p63, 0x1p63,
                      [](RunConfig& c) -> int64_t& { return c.seed; }));
  s.push_back(ChoiceKey(
      "backend",
      TEXT_MARK("`plan` computes nothing; `cpu` and `cuda` compute the steps on that device"),
      {Backend::kPlan, Backend::kCpu, Backend::kCuda}, {},
      [](RunConfig& c) -> Backend& { return c.backend; }));
  for (const TechniqueDeclaration& technique : TheCatalogue().techniques) {
    for (const SettingDeclaration& setting : technique.settings) s.push_back(Declared(setting));
  }
  for (const ReservedKey& reserved : ReservedKeys()) {
    const auto same = [&](const KeySpec& spec) { return spec.key == reserved.key; };
    if (std::any_of(s.begin(), s.end(), same)) continue;
    const bool number = reserved.values.empty();
    KeySpec spec{.key = reserved.key, .help = reserved.help};
    spec.kind = number ? ValueKind::kInteger : ValueKind::kChoice;
    if (!number) spec.choices = {reserved.only};
    spec.reserved = reserved.values;
    spec.low = 1;
    spec.high = 65536;
    s.push_back(std::move(spec));
  }
  return s;
}

absl::Status Bad(const KeySpec& spec, std::string_view value, const std::string& expected) {
  return absl::InvalidArgumentError(
      i18n::Format("{}: {} is not allowed; {}", spec.key, Quoted(value), expected));
}

absl::Status NotAvailable(const KeySpec& spec, std::string_view value) {
  return absl::UnimplementedError(i18n::Format(
      "{}: {} is not available in this version{}", spec.key, Quoted(value),
      spec.choices.empty() ? std::string()
                           : i18n::Format("; choose from: {}", fmt::join(spec.choices, ", "))));
}

bool Contains(const std::vector<std::string_view>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

const std::vector<KeySpec>& Specs() {
  static const std::vector<KeySpec>* specs = new std::vector<KeySpec>(MakeSpecs());
  return *specs;
}

const KeySpec* FindSpec(std::string_view key) {
  for (const KeySpec& spec : Specs()) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

std::string Expected(const KeySpec& spec) {
  if (!spec.expected.empty()) return i18n::Text(spec.expected);
  switch (spec.kind) {
    case ValueKind::kChoice:
      return i18n::Format("choose from: {}", fmt::join(spec.choices, ", "));
    case ValueKind::kInteger:
      return spec.high > 9e15  // a seed: any value is allowed
                 ? i18n::Text("expected a 64-bit whole number")
                 : i18n::Format("expected a whole number from {:.0f} to {:.0f}", spec.low,
                                spec.high);
    case ValueKind::kNumber:
      return i18n::Format("expected a number from {} to {}", spec.low, spec.high);
    case ValueKind::kBytes:
      return i18n::Format(
          "expected a size from {} to 1 EiB: bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, "
          "GiB or TiB (\"24GiB\")",
          FormatBytes(static_cast<uint64_t>(spec.low)));
    case ValueKind::kText:
      break;
  }
  return std::string(spec.expected);
}

absl::Status Check(const KeySpec& spec, std::string_view value) {
  switch (spec.kind) {
    case ValueKind::kChoice:
      if (Contains(spec.choices, value)) break;
      if (Contains(spec.reserved, value)) return NotAvailable(spec, value);
      return Bad(spec, value, Expected(spec));
    case ValueKind::kInteger: {
      const absl::StatusOr<int64_t> number = ParseInteger(value);
      if (!number.ok()) return Bad(spec, value, Expected(spec));
      const double as_double = static_cast<double>(*number);
      if (as_double < spec.low || as_double > spec.high) return Bad(spec, value, Expected(spec));
      break;
    }
    case ValueKind::kNumber: {
      const absl::StatusOr<double> number = ParseNumber(value);
      if (!number.ok() || *number < spec.low || *number > spec.high) {
        return Bad(spec, value, Expected(spec));
      }
      break;
    }
    case ValueKind::kBytes: {
      const absl::StatusOr<uint64_t> bytes = ParseBytes(value);
      if (!bytes.ok() || static_cast<double>(*bytes) < spec.low) {
        return Bad(spec, value, Expected(spec));
      }
      break;
    }
    case ValueKind::kText:
      break;
  }
  if (spec.check) {
    absl::Status status = spec.check(value);
    if (!status.ok()) {
      if (spec.check_names_key) return status;
      return Bad(spec, value, std::string(status.message()));
    }
  }
  const bool reserved_number = !spec.apply && spec.kind == ValueKind::kInteger;
  if (reserved_number && value != "1") return NotAvailable(spec, value);
  return absl::OkStatus();
}

absl::Status UnknownKey(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const KeyInfo& info : Keys()) keys.push_back(info.key);
  const std::string_view near = Nearest(key, keys.data(), keys.data() + keys.size());
  return absl::InvalidArgumentError(
      i18n::Format("unknown key {}{}; the keys are: {}", Quoted(key),
                   near.empty() ? std::string() : i18n::Format(" (did you mean \"{}\"?)", near),
                   fmt::join(keys, ", ")));
}

const std::vector<KeyInfo>& Keys() {
  static const std::vector<KeyInfo>* keys = [] {
    auto* list = new std::vector<KeyInfo>;
    KeyInfo model{"model", TEXT_MARK("name of a model preset"), {}};
    for (const ModelPreset& preset : ModelPresets()) model.choices.push_back(preset.name);
    list->push_back(std::move(model));
    for (const KeySpec& spec : Specs()) list->push_back({spec.key, spec.help, spec.choices});
    return list;
  }();
  return *keys;
}

}  // namespace vramscope::run
