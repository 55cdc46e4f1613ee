// What a technique, an optimizer or a model family says about itself: settings with their limits,
// what it excludes, how a window switches it. Plain values, declared once, in the file that
// implements it (trainer/), and known everywhere through the catalogue (catalogue.h).
//
//   TechniqueDeclaration{.id = "chunked-loss", .group = "Loss", .title = "Loss in chunks",
//                        .settings = {{.key = "loss", .kind = ValueKind::kChoice, ...}},
//                        .toggles = {{.id = "chunked-loss", .ways = {{{"loss", "chunked"}}}}}};
//
// Values; thread-safe as any.
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
  std::string title;  // "every k layers"; "": the value says it
};

// One key that a technique understands.
struct SettingDeclaration {
  std::string key;  // "checkpointing.k": dots make groups
  std::string help;
  ValueKind kind = ValueKind::kChoice;
  std::string default_value;         // off, or as PyTorch does
  std::vector<Choice> choices = {};  // kChoice
  double low = 0, high = 0;          // kInteger, kNumber: inclusive
  std::string format = {};           // kText: a name of text_formats.h ("names", "pattern", ...)
  std::string label = {};            // of the control in the window: "layers"
  // kText: where the window's choices come from ("family.lora_targets"); "": free text.
  std::string choices_from = {};
};

// Holds when the value of `key` (a setting or a fact of the run, facts.h) is, or is not, one of
// `values`.
struct Condition {
  std::string key;
  bool is = true;
  std::vector<std::string> values;
};

// A combination that does not go together.
struct Rule {
  std::vector<Condition> when;  // all of them
  std::string why;              // "flash attention needs a 16-bit precision"
  SettingValues instead = {};   // a way that exists: what to set to be out of it
  // False: allowed, but without effect or sense; the window does not offer it.
  bool refuses = true;
};

// A row of the window: one way of using the technique.
struct Toggle {
  std::string id;     // "checkpoint-layer"; stable
  std::string title;  // "Checkpoint every layer"
  std::string explanation;
  std::vector<Condition> on;        // on when all hold
  std::vector<SettingValues> ways;  // switching on sets the first that no rule is against
  SettingValues off = {};           // switching off sets this; other keys of `ways` go to default
  std::vector<std::string> controls = {};  // keys with a control under the row while it is on
};

// What a plan takes as given where it is not PyTorch's own code that asks for memory.
struct Assumed {
  std::vector<Condition> when;  // all of them
  std::string what;             // "bitsandbytes' kernels make no temporaries"
};

struct TechniqueDeclaration {
  std::string id;     // "checkpointing"
  std::string group;  // "Activations"
  std::string title;
  std::string explanation;  // what changes, by how much, what it costs: a sentence or two
  std::vector<SettingDeclaration> settings = {};
  std::vector<Toggle> toggles = {};
  std::vector<Rule> rules = {};
  std::vector<std::string> implies = {};  // in words, for documentation: "weights stay fp32"
  std::vector<Assumed> assumes = {};      // what every plan that uses it says (check_run.h)
};

struct OptimizerDeclaration {
  std::string id;     // "adamw"
  std::string title;  // "AdamW"
  std::string explanation;
  std::vector<std::string> implementations;  // of loop, foreach, fused
  double default_weight_decay = 0;           // PyTorch's
  // Elements of state a parameter element: 2 for Adam. Below 0: not one number (Adafactor).
  double state_elements = 0;
  std::vector<std::string> assumes = {};  // as a technique's
};

}  // namespace vramscope::run
