#include "profiler/trace/frame.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/trace/crc32c.h"

namespace vramscope::trace {
namespace {

// The first test vector is from the CRC catalogue, the others are from RFC 3720, B.4.
TEST(Crc32c, MatchesPublishedVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<char>(i));
  EXPECT_EQ(Crc32c(ascending), 0x46DD794Eu);
  EXPECT_EQ(Crc32c(ascending.substr(11), Crc32c(ascending.substr(0, 11))), 0x46DD794Eu);
}

std::string Noise(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string out(n, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

TEST(Crc32c, AgreesWithThePortableVersion) {
  for (size_t n = 0; n < 70; ++n) {
    const std::string bytes = Noise(n, n);
    EXPECT_EQ(Crc32c(bytes, 7), Crc32cPortable(bytes, 7)) << n << " bytes";
  }
}

TEST(Frame, RoundTripsWithEveryCompression) {
  for (const std::string& payload :
       {std::string(), std::string("x"), std::string(100'000, 'a'), Noise(100'000, 1)})
    for (const Compression c : {Compression::kNone, Compression::kFast, Compression::kNormal}) {
      FrameDecoder d;
      d.Append(EncodeFrame(FrameType::kStrings, payload, c));
      auto frame = d.Next();
      ASSERT_TRUE(frame.ok()) << frame.status();
      ASSERT_TRUE(frame->has_value());
      EXPECT_EQ((*frame)->type, FrameType::kStrings);
      EXPECT_EQ((*frame)->payload, payload);
      EXPECT_EQ(d.buffered(), 0u);
    }
}

TEST(Frame, IsCompressedOnlyIfSmaller) {
  EXPECT_LT(EncodeFrame(FrameType::kEvents, std::string(100'000, 'a')).size(), 1000u);
  EXPECT_EQ(EncodeFrame(FrameType::kEvents, Noise(1000, 2)).size(), kEnvelopeBytes + 1000);
}

TEST(Frame, IsDecodedByteByByte) {
  const std::string bytes = EncodeFrame(FrameType::kHello, "hello") +
                            EncodeFrame(FrameType::kEvents, std::string(5000, 'e'));
  FrameDecoder d;
  int frames = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    d.Append(bytes.substr(i, 1));
    auto frame = d.Next();
    ASSERT_TRUE(frame.ok()) << frame.status();
    if (frame->has_value()) {
      ++frames;
      EXPECT_EQ((*frame)->end_offset, i + 1);
    }
  }
  EXPECT_EQ(frames, 2);
}

TEST(Frame, EveryFlippedBitIsDetected) {
  const std::string whole = EncodeFrame(FrameType::kEvents, "some payload of a frame");
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    FrameDecoder d;
    d.Append(bytes);
    auto frame = d.Next();
    // Next() must fail or, if the flipped bit belongs to the length, it may wait for more bytes.
    EXPECT_TRUE(!frame.ok() || !frame->has_value()) << "bit " << bit;
  }
}

TEST(Frame, DamageIsReportedWithItsOffsetRepeatedly) {
  const std::string good = EncodeFrame(FrameType::kEvents, "good");
  FrameDecoder d;
  d.Append(good + "garbage that is no frame");
  ASSERT_TRUE(d.Next().ok());
  for (int i = 0; i < 2; ++i) {
    const auto frame = d.Next();
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(frame.status().message().find(std::to_string(good.size())), std::string::npos);
    EXPECT_EQ(d.offset(), good.size());
  }
}

TEST(Frame, TooLargeLengthIsRejectedAtOnce) {
  std::string bytes = EncodeFrame(FrameType::kEvents, "x");
  bytes[11] = '\x7f';  // the stored length is now almost 2 GiB
  FrameDecoder d;
  d.Append(bytes);
  EXPECT_FALSE(d.Next().ok());
}

TEST(FrameDeathTest, DiesForTooLargePayload) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(EncodeFrame(FrameType::kEvents, std::string(kMaxPayload + 1, 'x')), "kMaxPayload");
}

}  // namespace
}  // namespace vramscope::trace
