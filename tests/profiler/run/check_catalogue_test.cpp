#include "profiler/run/check_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::run {
namespace {

using ::testing::HasSubstr;

SettingDeclaration Setting(const std::string& key) {
  return {.key = key,
          .help = "what it does",
          .kind = ValueKind::kChoice,
          .default_value = "off",
          .choices = {{"off", ""}, {"on", ""}}};
}

// A technique with these keys.
TechniqueDeclaration Technique(const std::vector<std::string>& keys) {
  TechniqueDeclaration out{
      .id = "new", .group = "Loop", .title = "New", .explanation = "something new"};
  for (const std::string& key : keys) out.settings.push_back(Setting(key));
  return out;
}

std::string Error(TechniqueDeclaration technique) {
  Catalogue catalogue = TheCatalogue();
  catalogue.techniques.push_back(std::move(technique));
  const absl::Status status = CheckCatalogue(catalogue);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(CheckCatalogue, AcceptsTheShippedCatalogue) {
  EXPECT_TRUE(CheckCatalogue(TheCatalogue()).ok());
  Catalogue more = TheCatalogue();
  more.techniques.push_back(Technique({"new_key", "new.key"}));
  EXPECT_TRUE(CheckCatalogue(more).ok()) << CheckCatalogue(more);
}

// A run.json could not have both keys: {"new": ..., "new": {"key": ...}} is invalid.
TEST(CheckCatalogue, RejectsKeyThatIsAlsoAGroup) {
  EXPECT_THAT(Error(Technique({"new", "new.key"})), HasSubstr("\"new\" is itself a key"));
  EXPECT_THAT(Error(Technique({"new.key", "new"})), HasSubstr("\"new\" is itself a key"));
  // These keys conflict with a key of another technique, and with keys that every run has.
  EXPECT_THAT(Error(Technique({"attention.kind"})), HasSubstr("\"attention\" is itself a key"));
  EXPECT_THAT(Error(Technique({"batch.kind"})), HasSubstr("\"batch\" is itself a key"));
  EXPECT_THAT(Error(Technique({"custom_device"})), HasSubstr("custom_device.bandwidth"));
}

TEST(CheckCatalogue, RejectsInvalidAndDuplicateKeys) {
  for (const char* key : {"", "New", "new key", "a.b.c", ".a", "a."}) {
    EXPECT_THAT(Error(Technique({key})), HasSubstr("a key is a word")) << key;
  }
  EXPECT_THAT(Error(Technique({"new", "new"})), HasSubstr("declared twice"));
  EXPECT_THAT(Error(Technique({"seq"})), HasSubstr("declared twice"));
  EXPECT_THAT(Error(Technique({"lora.rank"})), HasSubstr("declared twice"));
}

TEST(CheckCatalogue, RejectsValuesThatAreNotAllowed) {
  TechniqueDeclaration technique = Technique({"new"});
  technique.settings[0].default_value = "half";
  EXPECT_THAT(Error(technique), HasSubstr("\"half\" is not allowed"));
  technique.settings[0] = Setting("new");
  technique.settings[0].kind = ValueKind::kInteger;
  technique.settings[0].default_value = "3";
  technique.settings[0].high = 2;
  EXPECT_THAT(Error(technique), HasSubstr("\"3\" is not allowed"));

  technique = Technique({"new"});
  technique.rules = {{.when = {{"attention", true, {"flsh"}}}, .why = "why"}};
  EXPECT_THAT(Error(technique), HasSubstr("\"flsh\" is not allowed"));
  technique.rules = {{.when = {{"new", true, {"on"}}}, .why = "why", .instead = {{"nwe", "off"}}}};
  EXPECT_THAT(Error(technique), HasSubstr("nwe: no such key"));

  technique = Technique({"new"});
  technique.toggles = {{.id = "new",
                        .title = "New",
                        .explanation = "something",
                        .on = {{"new", true, {"on"}}},
                        .ways = {{{"new", "onn"}}}}};
  EXPECT_THAT(Error(technique), HasSubstr("\"onn\" is not allowed"));
  technique.toggles[0].ways = {};
  EXPECT_THAT(Error(technique), HasSubstr("can't be on"));
}

}  // namespace
}  // namespace vramscope::run
