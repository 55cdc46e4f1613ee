// Runs the fuzzers' entry functions without libFuzzer, on the corpus and on damaged copies of
// it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/fuzz/targets.h"

namespace vramscope::fuzz {
namespace {

using Entry = void (*)(const uint8_t*, size_t);

void Run(Entry entry, const std::string& bytes) {
  entry(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void RunCorpus(Entry entry, const char* name) {
  std::mt19937_64 random(1);
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(
           std::string(VRAMSCOPE_SOURCE_DIR "/tests/fuzz/corpus/") + name)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    SCOPED_TRACE(file.path().string());
    ++files;
    Run(entry, bytes);
    for (int i = 0; i < 50 && !bytes.empty(); ++i) {
      std::string damaged = bytes;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      if (i % 3 == 0) damaged.resize(random() % damaged.size());
      Run(entry, damaged);
    }
  }
  EXPECT_GT(files, 0);
}

class Corpus : public ::testing::Test {
 public:
  explicit Corpus(const Target& target) : target_(target) {}
  void TestBody() override { RunCorpus(target_.entry, target_.name); }

 private:
  const Target& target_;
};

}  // namespace
}  // namespace vramscope::fuzz

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const vramscope::fuzz::Target& target : vramscope::fuzz::Targets())
    ::testing::RegisterTest(
        "FuzzCorpus", target.name, nullptr, nullptr, __FILE__, __LINE__,
        [&target]() -> ::testing::Test* { return new vramscope::fuzz::Corpus(target); });
  return RUN_ALL_TESTS();
}
