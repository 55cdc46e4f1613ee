// Computes fp32 matrix products on tensor cores, as torch.backends.cuda.matmul.allow_tf32 does.
#include <ATen/Context.h>

#include "trainer/techniques/technique.h"

namespace vramscope::trainer {
namespace {

class Tf32 final : public Technique {
 public:
  std::unique_ptr<Held> AroundRun(const RunContext&) override {
    return std::make_unique<Allowed>();
  }

 private:
  class Allowed final : public Held {
   public:
    Allowed() { at::globalContext().setAllowTF32CuBLAS(true); }
    ~Allowed() override { at::globalContext().setAllowTF32CuBLAS(was_); }

   private:
    const bool was_ = at::globalContext().allowTF32CuBLAS();
  };
};

}  // namespace

TechniqueEntry DeclareTechnique_tf32() {
  return {
      .declaration =
          {.id = "tf32",
           .group = "Precision",
           .title = "TF32 matrix products",
           .explanation = "Products of fp32 matrices run on tensor cores, which round the factors "
                          "to a mantissa of 10 bits. This saves no memory, but makes the remaining "
                          "fp32 products faster.",
           .settings = {{.key = "tf32",
                         .help = "compute products of fp32 matrices on tensor cores "
                                 "(torch.backends.cuda.matmul.allow_tf32)",
                         .kind = run::ValueKind::kChoice,
                         .default_value = "false",
                         .choices = {{"false", ""}, {"true", ""}}}},
           .toggles = {{.id = "tf32",
                        .title = "TF32 matrix products",
                        .explanation = "fp32 matrix products on tensor cores; saves no memory",
                        .on = {{"tf32", true, {"true"}}},
                        .ways = {{{"tf32", "true"}}}}},
           .rules = {{.when = {{"tf32", true, {"true"}}, {"precision", true, {"bf16", "fp16"}}},
                      .why = "with 16-bit weights, there are no fp32 matrix products to speed up",
                      .refuses = false}}},
      .order = 11,
      .make = [](const run::RunConfig& config) -> std::unique_ptr<Technique> {
        if (!config.Is("tf32", "true")) return nullptr;
        return std::make_unique<Tf32>();
      }};
}

}  // namespace vramscope::trainer
