// Tests that pickles and JSON that are not snapshots are refused with a reason and a byte offset,
// and that this needs little memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>
#include <string>
#include <vector>

#include "profiler/importers/snapshot.h"
#include "tests/profiler/importers/memory_input.h"
#include "tests/profiler/importers/pickle_writer.h"

namespace vramscope::importers {
namespace {

using std::string_literals::operator""s;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MemoryInput;
using testing::SampleSnapshot;
using testing::ToPickle;

absl::Status Read(const std::string& bytes) {
  MemoryInput input(bytes);
  return ReadSnapshot(input, {}).status();
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

// Returns the process's "VmRSS", or its "VmHWM" (the peak since ForgetPeak()), in KiB.
long StatusKiB(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == key + ":" && status >> kib) return kib;
  }
  return 0;
}

// Resets the peak and makes malloc release free memory, so that neither hides the next peak.
void ForgetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;
}

// Expects kDataLoss with these words, and a peak of less than 64 MiB.
void ExpectRefused(const std::string& bytes, const std::vector<std::string>& words) {
  ForgetPeak();
  const long before = StatusKiB("VmRSS");
  const absl::Status status = Read(bytes);
  const long peak = StatusKiB("VmHWM");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  for (const std::string& word : words) EXPECT_THAT(Text(status), HasSubstr(word));
  EXPECT_LT(peak - before, 64 * 1024);
}

#if defined(__SANITIZE_ADDRESS__)
#define VRAMSCOPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VRAMSCOPE_SANITIZED 1
#endif
#endif

TEST(PeakOfMemory, ForgetPeakResetsThePeak) {
#ifdef VRAMSCOPE_SANITIZED
  GTEST_SKIP() << "AddressSanitizer keeps freed memory";
#endif
  ForgetPeak();
  const long before = StatusKiB("VmRSS");
  ASSERT_GT(before, 0);
  for (const long mib : {96, 80}) {  // the first peak must not hide the second
    ForgetPeak();
    { const std::vector<char> much(static_cast<size_t>(mib) << 20, 1); }
    const long peak = StatusKiB("VmHWM") - before;
    if (mib == 96 && peak > 1024 * (mib + 64)) GTEST_SKIP() << "no /proc/self/clear_refs here";
    EXPECT_GE(peak, 1024 * (mib - 1));
    EXPECT_LT(peak, 1024 * (mib + 8));
  }
}

const std::string kStart = "\x80\x04"s;

TEST(Pickle, RejectsImportsByName) {
  ExpectRefused("\x80\x02"s + "cposix\nsystem\nX\x02\0\0\0lsR."s,
                {"byte 2:", "GLOBAL", "'posix.system'", "refused"});
  ExpectRefused(kStart + "\x8c\x02os\x94\x8c\x06system\x94\x93\x94."s,
                {"byte 16:", "STACK_GLOBAL", "'os.system'"});
  ExpectRefused(kStart + "(ios\nsystem\n."s, {"byte 3:", "INST", "'os.system'"});
  ExpectRefused(kStart + "cno lines"s, {"byte 2:", "GLOBAL"});
  ExpectRefused(kStart + "c\x1b[2J\x01\nsystem\n."s, {"'?[2J?.system'"});
  ExpectRefused(kStart + "\x93."s, {"STACK_GLOBAL"});
}

TEST(Pickle, RejectsUnsupportedOpcodesByName) {
  const std::vector<std::pair<std::string, std::string>> opcodes = {
      {"R", "REDUCE"},
      {"b", "BUILD"},
      {"o", "OBJ"},
      {"\x81", "NEWOBJ"},
      {"\x92", "NEWOBJ_EX"},
      {"\x82\x01", "EXT1"},
      {"P1\n", "PERSID"},
      {"Q", "BINPERSID"},
      {"\x97", "NEXT_BUFFER"},
      {"\x8f", "EMPTY_SET"},
      {"\x8d", "BINUNICODE8"},
      {"\x8b", "LONG4"},
      {"2", "DUP"},
      {"I01\n", "protocol 0"},
      {"\xff", "0xff, which is not a pickle opcode"}};
  for (const auto& [code, name] : opcodes)
    ExpectRefused(std::string(kStart).append("N").append(code).append("."),
                  {"byte 3:", name, "refused"});
}

TEST(Pickle, RejectsFalseLengths) {
  const std::string huge(8, '\xff');
  ExpectRefused(kStart + "X\xff\xff\xff\xff" + "abc", {"byte 2:", "4294967295 bytes"});
  ExpectRefused(kStart + "X\0\0\xff\0"s + "abc", {"byte 2:", "ends within a string"});
  ExpectRefused(kStart + "\x8d" + huge, {"byte 2:", "BINUNICODE8"});
  ExpectRefused(kStart + "\x95" + huge, {"byte 2:", "a frame has 18446744073709551615 bytes"});
  ExpectRefused(kStart + "\x8a\xff" + huge + huge, {"byte 2:", "a number has 255 bytes"});
  ExpectRefused(kStart + "\x8a\x09" + huge + "\x01.", {"byte 2:", "64 bits"});
  ExpectRefused(kStart + "Nr\xff\xff\xff\xff.", {"byte 3:", "memoizes object 4294967295"});
  ExpectRefused(kStart + "j\xff\xff\xff\xff.", {"byte 2:", "object 4294967295", "not memoized"});
}

TEST(Pickle, RejectsDeepNesting) {
  std::string marks = kStart;
  for (int i = 0; i < 1'000'000; ++i) marks += "](";
  ExpectRefused(marks, {"byte ", "nested deeper than 1000"});
  const std::string lists =
      kStart + std::string(1'000'000, ']') + std::string(1'000'000, 'a') + ".";
  ExpectRefused(lists, {"byte ", "are on the stack"});
  ExpectRefused(kStart + std::string(1'000'000, '('), {"nested deeper than 1000"});
  ExpectRefused(kStart + std::string(1'000'000, '}'), {"are on the stack"});
  std::string tuples = kStart + "N" + std::string(5'000'000, '\x85') + ".";
  EXPECT_THAT(Text(Read(tuples)), HasSubstr("not a CUDA memory snapshot"));
  ExpectRefused(std::string(1'000'000, '['), {"byte ", "nested deeper than 1000"});
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  ExpectRefused(objects, {"nested deeper than 1000"});
}

TEST(Pickle, RejectsRecursiveObjects) {
  ExpectRefused(kStart + "]\x94(h\0e."s, {"byte 5:", "object 0 contains itself"});
  ExpectRefused(kStart + "}\x94(\x8c\x01" + "a\x94h\0u."s, {"object 0 contains itself"});
  ExpectRefused(kStart + "]\x94(]\x94(]\x94(h\0eee."s, {"object 0 contains itself"});
  EXPECT_FALSE(Read(kStart + "]\x94h\0a."s).ok());
}

TEST(Pickle, RejectsReferencesToConvertedObjects) {
  const std::string entry =
      "}\x94(\x8c\x06"
      "action\x94\x8c\x05"
      "alloc\x94u"s;
  ExpectRefused(kStart + "](" + entry + "h\0e."s, {"a second time", "a trace entry", "object 0"});
  // There are two lists of frames. One is changed after it was used.
  ExpectRefused(kStart +
                    "(]\x94h\0(K\x01"
                    "e."s,
                {"used elsewhere"});
}

TEST(Pickle, RejectsMisplacedOpcodes) {
  ExpectRefused(kStart + "e.", {"byte 2:", "no MARK before them"});
  ExpectRefused(kStart + "u.", {"no MARK before them"});
  ExpectRefused(kStart + "(e.", {"no container is on the stack"});
  ExpectRefused(kStart + "](((e.", {"no container is on the stack"});
  ExpectRefused(kStart + "a.", {"no container is on the stack"});
  ExpectRefused(kStart + "Ns.", {"no container is on the stack"});
  ExpectRefused(kStart + "\x87.", {"too few"});
  ExpectRefused(kStart + "t.", {"no MARK before them"});
  ExpectRefused(kStart + "\x94.", {"memoizes nothing"});
  ExpectRefused(kStart + "}(K\x01K\x02u.", {"a number as a key"});
  ExpectRefused(kStart +
                    "}(\x8c\x01"
                    "au.",
                {"a key without a value"});
  ExpectRefused(kStart +
                    "K\x01(N"
                    "e.",
                {"appended to a number"});
  ExpectRefused(kStart +
                    "](\x8c\x01"
                    "aNu.",
                {"keys are set in an empty list, which is not a dict"});
  EXPECT_EQ(Read(kStart + ".").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read(kStart + "N.").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read(kStart + "}.").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read(kStart + "](N}(u.").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("\x80"s).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("\x80\x06N."s).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("[]").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("{}").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Read("\"segments\"").code(), absl::StatusCode::kInvalidArgument);
  ExpectRefused("{]", {"byte 1:"});
  ExpectRefused("[}", {"byte 1:"});
}

TEST(Pickle, RejectsImpossibleValues) {
  const auto with = [](const char* key, testing::Json value) {
    testing::Json s = SampleSnapshot();
    s["device_traces"][0][0][key] = std::move(value);
    return ToPickle(s);
  };
  ExpectRefused(with("size", uint64_t{1} << 63), {"'size' is 9223372036854775808 bytes"});
  ExpectRefused(with("size", -1), {"more than any device has"});
  ExpectRefused(with("size", "many"), {"'size' is a string, not a number"});
  ExpectRefused(with("addr", 0.5e300), {"'addr' is 5e+299"});
  ExpectRefused(with("addr", ~uint64_t{0}), {"beyond the address space"});
  ExpectRefused(with("time_us", int64_t{-1} << 60), {"outside the range of a clock"});
  ExpectRefused(with("time_us", uint64_t{1} << 62), {"outside the range of a clock"});
  // The difference between this time and the latest possible ones exceeds 64 bits of nanoseconds.
  ExpectRefused(with("time_us", int64_t{-8'000'000'000'000'000}), {"outside the range of a clock"});
  ExpectRefused(with("frames", "main"), {"'frames' is a string"});
  ExpectRefused(with("action", 5), {"'action' is not a string"});
  testing::Json s = SampleSnapshot();
  s["segments"][0]["blocks"][1]["size"] = uint64_t{1} << 50;
  ExpectRefused(ToPickle(s), {"'size' is 1125899906842624 bytes"});
  s = SampleSnapshot();
  s["segments"][0]["address"] = ~uint64_t{0} - 5;
  s["segments"][0]["blocks"] = testing::Json::array();
  ExpectRefused(ToPickle(s), {"beyond the address space"});
  s = SampleSnapshot();
  s["device_traces"][0].push_back(5);
  ExpectRefused(ToPickle(s),
                {"a list of trace entries contains an item of another kind: a number"});
  ExpectRefused(s.dump(), {"a list of trace entries contains an item of another kind: a number"});
  s = SampleSnapshot();
  s["device_traces"][0][1]["inner"] = s["device_traces"][0][0];
  ExpectRefused(ToPickle(s), {"the items of a list of trace entries are not consecutive"});
  ExpectRefused(s.dump(), {"the items of a list of trace entries are not consecutive"});
  s = SampleSnapshot();
  s["segments"] = "none";
  ExpectRefused(ToPickle(s), {"'segments' is a string"});
}

TEST(Pickle, BoundsTheMemoByTheFileSize) {
  const std::string flood = kStart + "N" + std::string(2'000'000, '\x94') + ".";
  ExpectRefused(flood, {"memoizes object 131076", "too short for so many"});
}

TEST(Pickle, AppendingOneByOneTakesLittleMemory) {
  // If each append made another stack, there would be 200,000 stacks of up to 100,000 frames.
  std::string bytes = kStart +
                      "}\x94(\x8c\x04"
                      "line\x94K\x01u]\x94"s;
  for (int i = 0; i < 200'000; ++i) bytes += "h\0a"s;
  ExpectRefused(bytes + "R", {"REDUCE"});
}

TEST(Pickle, ReportsTruncationAtEveryByte) {
  const std::string pickle = ToPickle(SampleSnapshot());
  const std::string cpp = ToPickle(SampleSnapshot(), {2, false});
  const std::string json = SampleSnapshot().dump();
  ASSERT_TRUE(Read(pickle).ok());
  ASSERT_TRUE(Read(cpp).ok());
  ASSERT_TRUE(Read(json).ok());
  for (const std::string& whole : {pickle, cpp, json})
    for (size_t n = 2; n < whole.size(); ++n) {
      // All complete entries before the cut must be read. There may be none.
      MemoryInput input(whole.substr(0, n));
      const auto r = ReadSnapshot(input, {});
      ASSERT_THAT(r.ok() ? r->lost : Text(r.status()), HasSubstr("byte ")) << n;
      if (!r.ok()) {
        ASSERT_EQ(r.status().code(), absl::StatusCode::kDataLoss) << n;
      }
    }
}

}  // namespace
}  // namespace vramscope::importers
