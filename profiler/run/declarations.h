// Declares a technique, an optimizer or a model family: its settings with their limits, its rules,
// and its toggles in the window. A declaration is in the file that implements the technique,
// optimizer or family (trainer/). All code reads it from the catalogue (catalogue.h).
//
//   TechniqueDeclaration{.id = "chunked-loss", .group = "Loss", .title = "Loss in chunks",
//                        .settings = {{.key = "loss", .kind = ValueKind::kChoice, ...}},
//                        .toggles = {{.id = "chunked-loss", .ways = {{{"loss", "chunked"}}}}}};
//
// Values; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/run/settings.h"

namespace vramscope::run {

enum class ValueKind : uint8_t { kChoice, kInteger, kNumber, kBytes, kText };

struct Choice {
  std::string value;  // "every-k"
  std::string title;  // "every k layers"; "": the value is the title
};

// One setting of a technique.
struct SettingDeclaration {
  std::string key;  // "checkpointing.k": a dot separates group and name
  std::string help;
  ValueKind kind = ValueKind::kChoice;
  std::string default_value;         // switches the technique off, or is PyTorch's default
  std::vector<Choice> choices = {};  // for kChoice
  double low = 0, high = 0;          // for kInteger, kNumber: inclusive
  std::string format = {};           // for kText: "names", "pattern", ... (text_formats.h)
  std::string label = {};            // label of the control in the window: "layers"
  // For kText: the source of the window's choices ("family.lora_targets"), or "" for free text.
  std::string choices_from = {};
};

// A condition on `key`, a setting or a fact of the run (facts.h). If `is` is true, the condition
// holds if the value is in `values`. If `is` is false, it holds if the value is not in `values`.
struct Condition {
  std::string key;
  bool is = true;
  std::vector<std::string> values;
};

// A combination of settings that does not work.
struct Rule {
  std::vector<Condition> when;  // all of them hold
  std::string why;              // "flash attention needs a 16-bit precision"
  SettingValues instead = {};   // settings that avoid the conflict
  // If false, the combination is allowed, but has no use. The window does not offer it.
  bool refuses = true;
};

// A row of the window: one way to use the technique.
struct Toggle {
  std::string id;     // "checkpoint-layer"; stable
  std::string title;  // "Checkpoint every layer"
  std::string explanation;
  std::vector<Condition> on;        // the toggle is on if all of these hold
  std::vector<SettingValues> ways;  // switching on applies the first one that breaks no rule
  // The values set when the toggle is switched off. Other keys of `ways` then get their defaults.
  SettingValues off = {};
  std::vector<std::string> controls = {};  // keys with a control under the toggle while it is on
};

// What a plan assumes about memory that PyTorch's own code does not determine.
struct Assumed {
  std::vector<Condition> when;  // all of them hold
  std::string what;             // "bitsandbytes' kernels make no temporaries"
};

struct TechniqueDeclaration {
  std::string id;     // "checkpointing"
  std::string group;  // "Activations"
  std::string title;
  std::string explanation;  // one or two sentences: what changes, by how much, at what cost
  std::vector<SettingDeclaration> settings = {};
  std::vector<Toggle> toggles = {};
  std::vector<Rule> rules = {};
  std::vector<std::string> implies = {};  // text for documentation: "weights stay fp32"
  std::vector<Assumed> assumes = {};      // assumptions of plans that use it (check_run.h)
};

struct OptimizerDeclaration {
  std::string id;     // "adamw"
  std::string title;  // "AdamW"
  std::string explanation;
  std::vector<std::string> implementations;  // some of loop, foreach, fused
  double default_weight_decay = 0;           // PyTorch's default
  // The elements of state per parameter element: 2 for Adam. Negative: not constant (Adafactor).
  double state_elements = 0;
  std::vector<std::string> assumes = {};  // see TechniqueDeclaration
};

}  // namespace vramscope::run
