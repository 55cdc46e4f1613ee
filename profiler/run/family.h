// What a family of models says of itself to those who don't build it: the command line, the window,
// the checks before a run. One file of trainer/models/families/ declares it
// (trainer/models/family.h).
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
  // A setting of which this family has some values only.
  struct Limit {
    std::string key;
    std::vector<std::string> allowed;  // empty: the setting means nothing to this family
    std::string why;                   // "the model's parameters are fp32", without a full stop
  };
  // A choice of linear layers for adapters, as the window offers it.
  struct LoraChoice {
    std::string title;  // "q, v"
    std::vector<std::string> targets;
  };

  std::string id;
  std::string title;
  // Of the config.json files that it reads. The architecture decides where a file names one.
  std::vector<std::string> architectures = {};
  std::vector<std::string> model_types = {};
  std::string inputs;  // what a batch is made of, in words
  // What a run starts from unless the model's preset says more; 0: as every run.
  int batch = 0;
  int seq = 0;
  std::vector<LoraChoice> lora = {};  // empty: no linear layer that adapters could stand beside
  std::vector<Limit> limits = {};
  std::vector<std::string> assumes = {};  // as a technique's (declarations.h)
};

}  // namespace vramscope::run
