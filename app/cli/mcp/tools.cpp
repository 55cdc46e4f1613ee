#include "app/cli/mcp/tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace vramscope::cli::mcp {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestText = 4096, kMostWords = 256;

// --- schemas ---

Json Text(const char* about) {
  return {{"type", "string"}, {"description", about}, {"maxLength", kLongestText}};
}
Json OneOf(const char* about, std::vector<std::string> names) {
  return {{"type", "string"}, {"description", about}, {"enum", std::move(names)}};
}
Json Number(const char* about, int64_t least, int64_t most) {
  return {{"type", "integer"}, {"description", about}, {"minimum", least}, {"maximum", most}};
}
Json Words(const char* about) {
  return {{"type", "array"},
          {"description", about},
          {"items", {{"type", "string"}, {"maxLength", kLongestText}}},
          {"minItems", 1},
          {"maxItems", kMostWords}};
}
Json Settings() {
  return {
      {"type", "object"},
      {"description",
       "settings of the run by their keys, as listed by `vramscope techniques`: batch, seq, "
       "precision (amp-bf16), optimizer.name, checkpointing.mode (layer), lora.rank, device, ..."},
      {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}};
}
Json Object(Json properties, std::vector<std::string> required = {}) {
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

constexpr char kFile[] =
    "path of a .trace, a CUDA memory snapshot (pickle) or a Kineto trace, also as .gz or .zst";
constexpr char kTop[] = "maximum number of rows of a table (20)";
constexpr char kTime[] = "only this part, by time since the beginning, such as 1s:2.5s";
constexpr char kGpu[] = "for a file with several GPUs: the number of one GPU";
constexpr char kPreset[] = "a built-in model (gpt2, qwen2-0.5b, llama-3.2-1b, ...)";
constexpr char kModel[] = "path of a Hugging Face config.json";

// --- arguments ---

std::string TextOf(const Json& arguments, const char* key) {
  const auto at = arguments.find(key);
  return at == arguments.end() ? std::string() : at->get<std::string>();
}

bool Within(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

// Returns an absolute path, which cannot be mistaken for an option or for `-` (standard input). The
// standard input carries the client's messages.
absl::StatusOr<std::string> PathOf(const std::string& text, const Access& access) {
  if (text.empty() || text.find('\0') != std::string::npos)
    return absl::InvalidArgumentError("a path is empty or contains a zero byte");
  std::error_code error;
  const fs::path path = fs::absolute(text, error);
  if (error) return absl::InvalidArgumentError(fmt::format("'{}': {}", text, error.message()));
  if (access.folders.empty()) return path.string();
  // Symbolic links are resolved before the path is compared with the allowed folders.
  const fs::path real = fs::weakly_canonical(path, error);
  const bool within = !error && std::ranges::any_of(access.folders, [&](const std::string& folder) {
    std::error_code none;
    return Within(real, fs::weakly_canonical(folder, none));
  });
  if (within) return real.string();
  return absl::PermissionDeniedError(
      fmt::format("'{}' is outside of the folders that this server may read (--folder)", text));
}

// Reads the arguments that the tools share.
class Builder {
 public:
  Builder(const Json& arguments, const Access& access, std::vector<std::string> words,
          Call::How how = Call::How::kHere)
      : arguments_(arguments), access_(access) {
    call_.how = how;
    call_.arguments = std::move(words);
  }
  Builder& File(const char* key) {
    if (!arguments_.contains(key)) return *this;
    if (auto path = Take(PathOf(TextOf(arguments_, key), access_))) {
      call_.arguments.push_back(*path);
      call_.files.push_back(*path);
    }
    return *this;
  }
  // Adds --NAME=VALUE, in one word, so that the value is not mistaken for another option.
  Builder& Option(const char* key, const char* name) {
    const auto at = arguments_.find(key);
    if (at == arguments_.end()) return *this;
    call_.arguments.push_back(
        fmt::format("{}={}", name, at->is_string() ? at->get<std::string>() : at->dump()));
    return *this;
  }
  Builder& OptionFile(const char* key, const char* name) {
    if (!arguments_.contains(key)) return *this;
    if (auto path = Take(PathOf(TextOf(arguments_, key), access_))) {
      call_.arguments.push_back(fmt::format("{}={}", name, *path));
      call_.files.push_back(*path);
    }
    return *this;
  }
  Builder& Run() {
    Option("preset", "--preset").OptionFile("model", "--model");
    const auto settings = arguments_.find("settings");
    if (settings == arguments_.end()) return *this;
    for (const auto& [key, value] : settings->items())
      call_.arguments.push_back(fmt::format(
          "--set={}={}", key, value.is_string() ? value.get<std::string>() : value.dump()));
    return *this;
  }
  Builder& Common() { return Option("device", "--device").Option("time", "--time"); }
  Call& call() { return call_; }
  // Returns the value, or nullopt for an error. Done() returns the first error.
  std::optional<std::string> Take(absl::StatusOr<std::string> value) {
    if (value.ok()) return *std::move(value);
    if (status_.ok()) status_ = value.status();
    return std::nullopt;
  }
  absl::StatusOr<Call> Done() {
    if (!status_.ok()) return status_;
    call_.arguments.emplace_back("--json");
    return std::move(call_);
  }

 private:
  const Json& arguments_;
  const Access& access_;
  Call call_;
  absl::Status status_;
};

Json RunProperties(Json more) {
  Json properties{{"preset", Text(kPreset)}, {"model", Text(kModel)}, {"settings", Settings()}};
  properties.update(more);
  return properties;
}

// --- the tools ---

Json OpenSchema() {
  return Object({{"file", Text(kFile)}, {"time", Text(kTime)}, {"device", Number(kGpu, 0, 255)}},
                {"file"});
}
absl::StatusOr<Call> OpenCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"info"}).File("file").Common().Done();
}

Json PeakSchema() {
  return Object(
      {{"file", Text(kFile)},
       {"by", Text("grouping of blocks: category (default), module, op, stack (the source line "
                   "that allocated), phase, file, size, age, annotation; or several, such as "
                   "\"module:*, category\" (module:* merges equal layers, module:2 takes the first "
                   "two components of a path, stack:3 adds callers)")},
       {"at", Text("show the memory at this time (12.5ms, 1.2s) instead of at the peak")},
       {"time", Text(kTime)},
       {"device", Number(kGpu, 0, 255)},
       {"top", Number(kTop, 1, 1000)}},
      {"file"});
}
absl::StatusOr<Call> PeakCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"peak"})
      .File("file")
      .Option("by", "--by")
      .Option("at", "--at")
      .Option("top", "--top")
      .Common()
      .Done();
}

Json ExplainSchema() {
  return Object(
      {{"file", Text(kFile)},
       {"page",
        OneOf("only one page: problems with the run's memory, with bytes and the line to write "
              "(findings), the blocks that keep free memory in segments, memory that settings "
              "would release, leaks, call sites, reasons for out of memory",
              {"findings", "fragmentation", "segments", "reclaim", "leaks", "sites", "oom"})},
       {"at", Text("show the memory at this time (12.5ms, 1.2s) instead of at the peak")},
       {"alloc_conf", Text("settings to try by replay, in the syntax of PYTORCH_CUDA_ALLOC_CONF: "
                           "expandable_segments:True")},
       {"time", Text(kTime)},
       {"device", Number(kGpu, 0, 255)},
       {"top", Number(kTop, 1, 1000)}},
      {"file"});
}
absl::StatusOr<Call> ExplainCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"explain"})
      .File("file")
      .Option("page", "--page")
      .Option("at", "--at")
      .Option("alloc_conf", "--alloc-conf")
      .Option("top", "--top")
      .Common()
      .Done();
}

Json DiffSchema() {
  return Object(
      {{"a", Text("the baseline")},
       {"b", Text("the file to compare with")},
       {"by", OneOf("stack: call sites at both peaks, instead of steps and categories", {"stack"})},
       {"top", Number(kTop, 1, 1000)}},
      {"a", "b"});
}
absl::StatusOr<Call> DiffCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"diff"})
      .File("a")
      .File("b")
      .Option("by", "--by")
      .Option("top", "--top")
      .Done();
}

Json CheckSchema() {
  return Object({{"file", Text(kFile)},
                 {"budget", Text("maximum GPU memory, such as 24GiB")},
                 {"time", Text(kTime)},
                 {"device", Number(kGpu, 0, 255)}},
                {"file", "budget"});
}
absl::StatusOr<Call> CheckCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"check"})
      .File("file")
      .Option("budget", "--budget")
      .Common()
      .Done();
}

Json PlanSchema() {
  return Object(RunProperties(
      {{"program", Words("a program and its arguments, such as [\"python\", \"train.py\", "
                         "\"--batch\", \"8\"]; or use preset or model. The program really runs, on "
                         "GPU libraries that compute nothing; its changes to files are discarded")},
       {"folder", Text("working directory of the program")},
       {"device", Text("GPU to plan for: a name listed by the tool `devices`, such as rtx-4090")},
       {"steps",
        Number(
            "number of optimizer steps after which the program is stopped (2); 0: run to its end",
            0, 1'000'000)},
       {"ranks", Number("number of processes, started as by torchrun", 1, 256)},
       {"writable", Words("folders that the program may really write to")},
       {"save_as",
        Text("path for the trace; without it, the trace is deleted when this server ends")}}));
}
absl::StatusOr<Call> PlanCall(const Json& arguments, const Access& access) {
  const bool program = arguments.contains("program");
  const bool built_in = arguments.contains("preset") || arguments.contains("model");
  if (program == built_in)
    return absl::InvalidArgumentError("one of program, preset and model is required");
  Builder builder(arguments, access, {"plan"}, Call::How::kChild);
  builder.call().makes_trace = true;
  if (arguments.contains("save_as")) {
    if (const auto path = builder.Take(PathOf(TextOf(arguments, "save_as"), access))) {
      std::error_code none;
      if (fs::exists(fs::symlink_status(*path, none)))
        return absl::InvalidArgumentError(
            fmt::format("save_as: '{}' exists; choose another name", *path));
      builder.call().save_as = *path;
    }
  }
  if (built_in) {
    for (const char* key : {"folder", "steps", "ranks", "writable"})
      if (arguments.contains(key))
        return absl::InvalidArgumentError(
            fmt::format("{} requires a program; for a built-in model use settings", key));
    return builder.Run().Option("device", "--device").Done();
  }
  if (!access.programs)
    return absl::PermissionDeniedError(
        "this server does not run programs: a plan really runs the program, and its protection is "
        "only against accidents. To allow programs, start the server as `vramscope mcp "
        "--programs`");
  if (arguments.contains("settings"))
    return absl::InvalidArgumentError(
        "settings require preset or model; a program has its own settings");
  builder.Option("device", "--device").Option("steps", "--steps").Option("ranks", "--ranks");
  const auto writable = arguments.find("writable");
  if (writable != arguments.end())
    for (const Json& each : *writable)
      if (const auto path = builder.Take(PathOf(each.get<std::string>(), access)))
        builder.call().arguments.push_back("--writable=" + *path);
  if (arguments.contains("folder"))
    if (const auto path = builder.Take(PathOf(TextOf(arguments, "folder"), access)))
      builder.call().folder = *path;
  builder.call().program = arguments["program"].get<std::vector<std::string>>();
  return builder.Done();
}

Json FitSchema() {
  return Object(RunProperties({{"budget", Text("maximum GPU memory, such as 24GiB")}}), {"budget"});
}
absl::StatusOr<Call> FitCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"fit"}, Call::How::kChild)
      .Run()
      .Option("budget", "--budget")
      .Done();
}

Json EstimateSchema() { return Object(RunProperties(Json::object())); }
absl::StatusOr<Call> EstimateCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"estimate"}).Run().Done();
}

Json DevicesSchema() {
  return Object(
      {{"family", Text("only GPUs of this architecture (turing, ampere, ada, ...) or product line "
                       "(geforce, laptop, workstation, datacenter, integrated)")},
       {"memory", Text("only GPUs with this much memory, such as >=16GiB")},
       {"compute_capability",
        Text("only GPUs with this compute capability, such as 8.6 or >=8.0")}});
}
absl::StatusOr<Call> DevicesCall(const Json& arguments, const Access& access) {
  return Builder(arguments, access, {"devices"})
      .Option("family", "--family")
      .Option("memory", "--memory")
      .Option("compute_capability", "--compute-capability")
      .Done();
}

Json ShowSchema() {
  return Object({{"file", Text(kFile)}, {"baseline", Text("the baseline file")}}, {"file"});
}
absl::StatusOr<Call> ShowCall(const Json& arguments, const Access& access) {
  Builder builder(arguments, access, {}, Call::How::kShow);
  absl::StatusOr<Call> call = builder.File("baseline").File("file").Done();
  if (call.ok()) call->arguments = call->files;  // `show` has no --json
  return call;
}

constexpr std::array<Tool, 10> kTools = {{
    {"open", "What is in a file",
     "Reads a GPU memory trace, PyTorch memory snapshot or Kineto trace: peak of allocated and "
     "reserved memory, device, steps, model, allocator settings, warnings. Sizes are in bytes.",
     true, &OpenSchema, &OpenCall},
    {"peak", "What is in GPU memory at the peak",
     "The live memory at the peak, or at another time: by category (parameters, gradients, "
     "activations, optimizer state, ...), module, operator, call site or phase, with the largest "
     "blocks.",
     true, &PeakSchema, &PeakCall},
    {"explain", "Explain memory use",
     "Fragmentation and the blocks that pin segments, reserved but unused memory and what would "
     "release it, leaks from step to step, call sites, and why the run ran out of memory, with "
     "remedies, each computed by replay.",
     true, &ExplainSchema, &ExplainCall},
    {"diff", "Compare two files",
     "Compares two traces or snapshots: peaks, and the phases of every step by category, or call "
     "sites. delta is b minus a.",
     true, &DiffSchema, &DiffCall},
    {"check", "Check against a budget",
     "Checks whether the run in a file fits into this much GPU memory, including the CUDA context, "
     "and by how much.",
     true, &CheckSchema, &CheckCall},
    {"plan", "Plan a training run without a GPU",
     "Runs the first steps of a training on an emulated GPU: the exact peak, categories, phases, "
     "whether it fits. For a built-in model or, if the server allows it, for any PyTorch program. "
     "Returns the path of its trace for the other tools. Takes seconds to minutes.",
     false, &PlanSchema, &PlanCall},
    {"fit", "Find techniques that make a run fit",
     "Plans combinations of techniques (mixed precision, checkpointing, LoRA, another optimizer) "
     "for a built-in model or a config.json and proposes those that fit the budget. Those that do "
     "not change the training come first. Takes up to a minute.",
     true, &FitSchema, &FitCall},
    {"estimate", "Estimate by closed-form formulas",
     "Parameters, weights, gradients and optimizer state of a built-in model or a config.json by "
     "closed-form formulas. Returns immediately.",
     true, &EstimateSchema, &EstimateCall},
    {"devices", "Known GPUs", "The GPUs that plans can be made for, with their memory and rates.",
     true, &DevicesSchema, &DevicesCall},
    {"show", "Show it in the window",
     "Opens a file in vramscope's window on the user's screen, in the open window or in a new one.",
     false, &ShowSchema, &ShowCall},
}};

// --- the check ---

bool IsOfType(const Json& value, const Json& type) {
  if (type.is_array())
    return std::ranges::any_of(type, [&](const Json& one) { return IsOfType(value, one); });
  const auto& name = type.get_ref<const std::string&>();
  return name == "string"    ? value.is_string()
         : name == "integer" ? value.is_number_integer()
         : name == "number"  ? value.is_number()
         : name == "boolean" ? value.is_boolean()
         : name == "array"   ? value.is_array()
                             : value.is_object();
}

absl::Status CheckValue(const std::string& name, const Json& schema, const Json& value) {
  const auto wrong = [&](const std::string& why) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", name, why));
  };
  if (!IsOfType(value, schema["type"])) return wrong("expected " + schema["type"].dump());
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
    return wrong("expected one of " + schema["enum"].dump());
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > schema.value("maxLength", kLongestText)) return wrong("too long");
    if (text.find('\0') != std::string::npos) return wrong("contains a zero byte");
  }
  if (value.is_number_integer() && schema.contains("minimum")) {
    const bool large = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
    if (large || value.get<int64_t>() < schema["minimum"] ||
        value.get<int64_t>() > schema["maximum"])
      return wrong(fmt::format("expected a number from {} to {}", schema["minimum"].dump(),
                               schema["maximum"].dump()));
  }
  if (value.is_array()) {
    if (value.size() < schema["minItems"] || value.size() > schema["maxItems"])
      return wrong(fmt::format("expected {} to {} elements", schema["minItems"].dump(),
                               schema["maxItems"].dump()));
    for (const Json& each : value)
      if (absl::Status s = CheckValue(name, schema["items"], each); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void Shorten(Json& json, size_t most, const std::string& path, Json& left_out) {
  if (json.is_array() && json.size() > most) {
    left_out[path] = json.size() - most;
    json.erase(json.begin() + static_cast<std::ptrdiff_t>(most), json.end());
  }
  if (json.is_array())
    for (Json& each : json) Shorten(each, most, path + "[]", left_out);
  if (json.is_object())
    for (auto& [key, value] : json.items())
      Shorten(value, most, path.empty() ? key : path + "." + key, left_out);
}

}  // namespace

std::span<const Tool> Tools() { return kTools; }

const Tool* FindTool(std::string_view name) {
  const auto at = std::ranges::find_if(kTools, [&](const Tool& tool) { return name == tool.name; });
  return at == kTools.end() ? nullptr : &*at;
}

absl::Status CheckArguments(const Json& schema, const Json& arguments) {
  const Json& properties = schema["properties"];
  for (const auto& [key, value] : arguments.items()) {
    const auto known = properties.find(key);
    if (known == properties.end()) {
      std::vector<std::string> names;
      for (const auto& [name, unused] : properties.items()) names.push_back(name);
      return absl::InvalidArgumentError(
          fmt::format("{}: unknown argument; the arguments are {}", key.substr(0, 100),
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    if (absl::Status s = CheckValue(key, *known, value); !s.ok()) return s;
    const auto of_values = known->find("additionalProperties");
    if (of_values == known->end()) continue;
    for (const auto& [name, each] : value.items())
      if (absl::Status s =
              CheckValue(fmt::format("{}.{}", key, name.substr(0, 100)), *of_values, each);
          !s.ok())
        return s;
  }
  if (schema.contains("required"))
    for (const Json& name : schema["required"])
      if (!arguments.contains(name.get<std::string>()))
        return absl::InvalidArgumentError(
            fmt::format("{}: this argument is required", name.get<std::string>()));
  return absl::OkStatus();
}

Json ToolsJson() {
  Json tools = Json::array();
  for (const Tool& tool : kTools)
    tools.push_back({{"name", tool.name},
                     {"title", tool.title},
                     {"description", tool.about},
                     {"inputSchema", tool.schema()},
                     {"annotations",
                      {{"title", tool.title},
                       {"readOnlyHint", tool.read_only},
                       {"destructiveHint", false},
                       {"openWorldHint", false}}}});
  return {{"tools", tools}};
}

Json Shortened(const Json& json, size_t most) {
  Json shorter = json, left_out = Json::object();
  Shorten(shorter, most, "", left_out);
  if (!left_out.empty() && shorter.is_object()) shorter["left_out"] = std::move(left_out);
  return shorter;
}

}  // namespace vramscope::cli::mcp
