// How a decoder of transformers computes the loss from its logits. This depends on the version of
// transformers. The fp32 copies of the logits are among the largest tensors of a step.
#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class OlderLoss final : public Technique {
 public:
  explicit OlderLoss(LossPath path) : path_(path) {}
  void OnOptions(ModelOptions& options) override { options.loss_path = path_; }

 private:
  LossPath path_;
};

}  // namespace

TechniqueEntry DeclareTechnique_loss_path() {
  const run::Condition older{"loss_path", false, {"labels-shifted"}};
  const run::SettingValues newer{{"loss_path", "labels-shifted"}};
  return {
      .declaration =
          {.id = "loss-path",
           .group = "Activations",
           .title = "Loss by transformers version",
           .explanation =
               "The loss is the same in all versions, but the copies of a decoder's logits differ. "
               "transformers 4.49 and later shift the labels by one and use all logits in fp32. "
               "Versions 4.46 to 4.48 also copy the fp32 logits without the last token. The copy "
               "takes batch x seq x vocabulary x 4 more bytes while the loss is computed. In "
               "earlier versions, the model itself converts its logits to fp32, so no 16-bit copy "
               "of the logits remains.",
           .settings = {{.key = "loss_path",
                         .help =
                             "how the loss is computed from logits and labels: as in transformers "
                             "4.49 and later (\"labels-shifted\"), as in 4.46 to 4.48 "
                             "(\"logits-cut\"), or as in earlier versions (\"upcast-in-model\")",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "labels-shifted",
                         .choices = {{"labels-shifted", "transformers 4.49 and later"},
                                     {"logits-cut", "transformers 4.46 to 4.48"},
                                     {"upcast-in-model", "transformers before 4.46"}},
                         .label = "version"}},
           .toggles = {{.id = "older-loss",
                        .title = "Loss as in older transformers versions",
                        .explanation = "with a copy of the fp32 logits",
                        .on = {older},
                        .ways = {{{"loss_path", "logits-cut"}}, {{"loss_path", "upcast-in-model"}}},
                        .controls = {"loss_path"}}},
           .rules = {{.when = {older,
                               {"model.family",
                                false,
                                {"llama", "mixtral", "phi", "phi3", "gemma", "gemma2", "gpt2"}}},
                      .why = "this loss_path is for transformers before 4.49, which did not have "
                             "{model}; set loss_path=labels-shifted",
                      .instead = newer},
                     {.when = {{"loss_path", true, {"upcast-in-model"}},
                               {"model.family", true, {"gpt2"}}},
                      .why = "loss_path=upcast-in-model is not supported for GPT-2, which always "
                             "computed the loss in the type of its logits, without converting "
                             "them; set loss_path=logits-cut",
                      .instead = {{"loss_path", "logits-cut"}}},
                     {.when = {older, {"loss", true, {"chunked"}}},
                      .why =
                          "loss_path has no effect with loss=chunked; set loss_path=labels-shifted",
                      .instead = newer},
                     {.when = {older, {"generate.tokens", false, {"0"}}},
                      .why =
                          "generate.tokens requires loss_path=labels-shifted, because generation "
                          "follows transformers 4.51; set loss_path=labels-shifted",
                      .instead = newer}}},
      .order = 16,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (config.Is("loss_path", "labels-shifted")) return nullptr;
        return std::make_unique<OlderLoss>(
            config.Is("loss_path", "logits-cut") ? LossPath::kLogitsCut : LossPath::kUpcastInModel);
      }};
}

}  // namespace vramscope::trainer
