// Builds without LibTorch read the techniques from resources/catalogue.json, which must equal the
// declarations in this build.
#include "profiler/run/catalogue.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/run/check_catalogue.h"
#include "trainer/techniques/declared.h"

namespace vramscope::trainer {
namespace {

TEST(Catalogue, JsonMatchesDeclarations) {
  EXPECT_EQ(run::ToJson(run::TheCatalogue()), run::ToJson(DeclaredCatalogue()))
      << "regenerate it: vramscope-worker-loop --catalogue > resources/catalogue.json";
}

TEST(Catalogue, JsonRoundTrip) {
  const run::Catalogue declared = DeclaredCatalogue();
  const auto read = run::CatalogueFromJson(run::ToJson(declared));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(run::ToJson(*read), run::ToJson(declared));
}

TEST(Catalogue, DeclarationsAreConsistent) {
  const absl::Status status = run::CheckCatalogue(DeclaredCatalogue());
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace vramscope::trainer
