// resources/catalogue.json, which builds without LibTorch know techniques by, is what the files of
// this build declare.
#include "profiler/run/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "trainer/techniques/declared.h"

namespace vramscope::trainer {
namespace {

TEST(Catalogue, IsWhatTheFilesDeclare) {
  EXPECT_EQ(run::ToJson(run::TheCatalogue()), run::ToJson(DeclaredCatalogue()))
      << "write it anew: vramscope-worker-loop --catalogue > resources/catalogue.json";
}

TEST(Catalogue, ReadsWhatItWrites) {
  const run::Catalogue declared = DeclaredCatalogue();
  const auto read = run::CatalogueFromJson(run::ToJson(declared));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(run::ToJson(*read), run::ToJson(declared));
}

TEST(Catalogue, NamesNothingTwiceAndNothingThatIsNotThere) {
  const run::Catalogue& catalogue = run::TheCatalogue();
  const std::set<std::string> facts = {"backend",       "model",
                                       "model.family",  "model.linear_layers",
                                       "micro_batches", "lora.targets.match",
                                       "batch.divides"};
  std::set<std::string> ids, keys, toggles;
  for (const run::TechniqueDeclaration& t : catalogue.techniques) {
    EXPECT_TRUE(ids.insert(t.id).second) << t.id;
    EXPECT_FALSE(t.explanation.empty()) << t.id;
    for (const run::SettingDeclaration& s : t.settings) {
      EXPECT_TRUE(keys.insert(s.key).second) << s.key;
    }
  }
  const auto known = [&](const std::string& key) {
    return keys.contains(key) || facts.contains(key);
  };
  for (const run::TechniqueDeclaration& t : catalogue.techniques) {
    for (const run::Rule& rule : t.rules) {
      EXPECT_FALSE(rule.why.empty()) << t.id;
      for (const run::Condition& c : rule.when) EXPECT_TRUE(known(c.key)) << t.id << " " << c.key;
      for (const auto& [key, value] : rule.instead) EXPECT_TRUE(known(key)) << t.id << " " << key;
    }
    for (const run::Toggle& toggle : t.toggles) {
      EXPECT_TRUE(toggles.insert(toggle.id).second) << toggle.id;
      EXPECT_FALSE(toggle.on.empty()) << toggle.id;
      EXPECT_FALSE(toggle.ways.empty()) << toggle.id;
      for (const std::string& key : toggle.controls) EXPECT_TRUE(keys.contains(key)) << key;
    }
  }
}

}  // namespace
}  // namespace vramscope::trainer
