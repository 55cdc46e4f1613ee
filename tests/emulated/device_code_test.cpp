// Tests reading of generated cubins and fat binaries, both whole and damaged.
#include "emulated/core/device_code.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/emulated/cubin.h"

namespace vramscope::emulated {
namespace {

Buffer Zstd(const Buffer& in) {
  Buffer out(ZSTD_compressBound(in.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
  return out;
}

// Compresses to LZ4 with a single match: the first long run of zeros in the file.
Buffer Lz4(const Buffer& in) {
  Buffer out;
  size_t literals = 0;  // up to the first run of 64 zeros
  while (literals + 64 < in.size() &&
         !std::all_of(in.begin() + literals, in.begin() + literals + 64,
                      [](unsigned char c) { return c == 0; })) {
    ++literals;
  }
  ++literals;  // the zero from which the match copies
  const auto length = [&](size_t value) {
    for (value -= 15; value >= 255; value -= 255) {
      out.push_back(255);
    }
    out.push_back(static_cast<unsigned char>(value));
  };
  out.push_back(0xff);
  length(std::max<size_t>(literals, 15));
  out.insert(out.end(), in.begin(), in.begin() + literals);
  Put<uint16_t>(&out, 1);  // the match copies from one byte back
  const size_t run = 60;
  length(run - 4);
  const size_t rest = in.size() - literals - run;
  out.push_back(0xf0);
  length(rest);
  out.insert(out.end(), in.end() - static_cast<ptrdiff_t>(rest), in.end());
  return out;
}

struct Part {
  uint16_t kind = 2;
  uint32_t architecture = 80;
  uint64_t flags = 0x11;
  Buffer content;
  uint64_t unpacked = 0;
};

Buffer FatBinary(const std::vector<Part>& parts) {
  Buffer body;
  for (const Part& part : parts) {
    const size_t padded = (part.content.size() + 7) / 8 * 8;
    Put<uint16_t>(&body, part.kind);
    Put<uint16_t>(&body, 0x101);
    Put<uint32_t>(&body, 64);
    Put<uint64_t>(&body, padded);
    Put<uint32_t>(&body, part.unpacked ? static_cast<uint32_t>(part.content.size()) : 0);
    Put<uint64_t>(&body, 0);
    Put<uint32_t>(&body, part.architecture);
    Put<uint64_t>(&body, 0);
    Put<uint64_t>(&body, part.flags);
    Put<uint64_t>(&body, 0);
    Put<uint64_t>(&body, part.unpacked);
    body.insert(body.end(), part.content.begin(), part.content.end());
    body.resize(body.size() + padded - part.content.size());
  }
  Buffer out;
  Put<uint32_t>(&out, 0xba55ed50);
  Put<uint16_t>(&out, 1);
  Put<uint16_t>(&out, 16);
  Put<uint64_t>(&out, body.size());
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

void ExpectKernel(DeviceCode code, int registers, int shared) {
  ReadKernels(&code);
  ASSERT_TRUE(code.kernels.contains("k")) << code.problem;
  const KernelFacts& facts = code.kernels["k"];
  EXPECT_TRUE(facts.read);
  EXPECT_EQ(facts.registers, registers);
  EXPECT_EQ(facts.static_shared, shared);
  EXPECT_EQ(facts.local_bytes, 40);
  EXPECT_EQ(facts.most_threads, 256);
  EXPECT_EQ(facts.parameter_bytes, 32);
  EXPECT_EQ(facts.parameters, (std::vector<uint16_t>{8, 24}));
}

TEST(DeviceCode, ReadsCubin) {
  const Buffer cubin = Cubin(90, 3072);
  EXPECT_EQ(ImageBytes(cubin.data()), cubin.size());
  ExpectKernel(ParseImage(cubin.data(), 80), 90, 3072);
}

TEST(DeviceCode, ReadsParametersOfMoreThanFourKilobytes) {
  const Buffer cubin = Cubin(90, 0, /*large=*/true);
  DeviceCode code = ParseImage(cubin.data(), 80);
  ReadKernels(&code);
  EXPECT_EQ(code.kernels["k"].parameters, (std::vector<uint16_t>{8, 20'000}));
}

TEST(DeviceCode, ReadsRegistersFromSectionHeaderOfOldFiles) {
  Buffer cubin = Cubin(90, 0);
  for (size_t i = 0; i + 4 < cubin.size(); ++i) {  // removes the attribute
    if (cubin[i] == 4 && cubin[i + 1] == 0x2f && cubin[i + 2] == 8) {
      cubin[i + 1] = 0x7f;
    }
  }
  DeviceCode code = ParseImage(cubin.data(), 80);
  ReadKernels(&code);
  EXPECT_EQ(code.kernels["k"].registers, 7);
}

TEST(DeviceCode, UnpacksLz4AndZstd) {
  const Buffer cubin = Cubin(50, 64);
  const Buffer packed = FatBinary(
      {{.architecture = 80, .flags = 0x2011, .content = Lz4(cubin), .unpacked = cubin.size()},
       {.architecture = 90, .flags = 0x8011, .content = Zstd(cubin), .unpacked = cubin.size()}});
  ExpectKernel(ParseImage(packed.data(), 80), 50, 64);
  ExpectKernel(ParseImage(packed.data(), 90), 50, 64);
}

TEST(DeviceCode, ChoosesCodeForComputeCapability) {
  const Buffer cubin = Cubin(50, 0);
  const Buffer fat = FatBinary({{.architecture = 75, .content = cubin},
                                {.architecture = 80, .content = cubin},
                                {.architecture = 86, .content = cubin},
                                {.architecture = 90, .content = cubin},
                                {.architecture = 90, .flags = 0x100011, .content = cubin},
                                {.architecture = 103, .flags = 0x100011, .content = cubin}});
  const auto chosen = [&](int capability) {
    const DeviceCode code = ParseImage(fat.data(), capability);
    return code.runs ? code.architecture : -1;
  };
  EXPECT_EQ(chosen(75), 75);
  EXPECT_EQ(chosen(80), 80);
  EXPECT_EQ(chosen(89), 86);  // no code for 8.9: the newest code for 8.x is used
  EXPECT_EQ(chosen(90), 90);
  EXPECT_EQ(chosen(103), 103);
  EXPECT_EQ(chosen(70), -1);
  EXPECT_EQ(chosen(100), -1);  // code for 10.3 does not run on 10.0
  const Buffer with_ptx = FatBinary({{.architecture = 80, .content = cubin},
                                     {.kind = 1, .architecture = 80, .content = Buffer(16)}});
  const DeviceCode compiled = ParseImage(with_ptx.data(), 120);
  EXPECT_TRUE(compiled.runs);
  EXPECT_EQ(compiled.architecture, 120);
  EXPECT_EQ(compiled.ptx_architecture, 80);
}

TEST(DeviceCode, AcceptsMissingImageAndPtx) {
  DeviceCode code = ParseImage(nullptr, 80);
  EXPECT_TRUE(code.runs);
  ReadKernels(&code);
  EXPECT_FALSE(code.problem.empty());
  const char ptx[] = ".version 8.0\n.target sm_80\n";
  EXPECT_EQ(ImageBytes(ptx), 0u);
  EXPECT_TRUE(ParseImage(ptx, 80).runs);
}

// Input is untrusted. Given damaged data, the reader must stay in bounds (the address sanitizer
// checks this) and must not allocate much memory.
TEST(DeviceCode, SurvivesDamagedFiles) {
  const Buffer cubin = Cubin(50, 64);
  const Buffer fat = FatBinary(
      {{.architecture = 80, .flags = 0x2011, .content = Lz4(cubin), .unpacked = cubin.size()},
       {.architecture = 90, .flags = 0x8011, .content = Zstd(cubin), .unpacked = cubin.size()}});
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    Buffer damaged = round % 2 == 0 ? cubin : fat;
    for (int flips = 1 + round % 5; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<unsigned char>(random());
    }
    damaged.resize(random() % 4 == 0 ? random() % damaged.size() : damaged.size());
    KernelsOf(damaged);
    for (const CodeEntry& entry : EntriesOf(damaged)) {
      if (entry.unpacked_bytes < (1 << 20)) {
        if (const auto unpacked = Unpack(entry)) {
          KernelsOf(*unpacked);
        }
      }
    }
  }
}

}  // namespace
}  // namespace vramscope::emulated
