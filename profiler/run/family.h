// Declares a model family for code that does not build models: the command line, the window, the
// checks before a run. The declaration is in a file of trainer/models/families/ (see
// trainer/models/family.h).
//
//   FamilyDeclaration{.id = "gpt2", .title = "GPT-2", .architectures = {"GPT2LMHeadModel"},
//                     .model_types = {"gpt2"}, .inputs = "token ids and labels, [batch, seq]"};
//
// Plain values.
#pragma once

#include <string>
#include <vector>

namespace vramscope::run {

struct FamilyDeclaration {
  // A setting for which this family supports only some values.
  struct Limit {
    std::string key;
    std::vector<std::string> allowed;  // empty: the setting has no meaning for this family
    std::string why;                   // "the model's parameters are fp32", without a full stop
  };
  // A set of linear layers for adapters, offered in the window.
  struct LoraChoice {
    std::string title;  // "q, v"
    std::vector<std::string> targets;
  };

  std::string id;
  std::string title;
  // Names in a config.json that select this family. If a file names an architecture, its model type
  // is ignored.
  std::vector<std::string> architectures = {};
  std::vector<std::string> model_types = {};
  std::string inputs;  // the contents of a batch, described
  // Defaults of a run, used if the model's preset has none. 0 means the default of all runs.
  int batch = 0;
  int seq = 0;
  std::vector<LoraChoice> lora = {};  // empty: no linear layer can have an adapter
  std::vector<Limit> limits = {};
  std::vector<std::string> assumes = {};  // see TechniqueDeclaration
};

}  // namespace vramscope::run
