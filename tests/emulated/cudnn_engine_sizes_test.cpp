// Compares the workspaces of cuDNN's engines with the sizes that the engines requested on an NVIDIA
// H200 (driver 580.159.04, cuDNN 9.19, PyTorch 2.11).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emulated/libraries/cudnn_sizes.h"

namespace vramscope::emulated::cudnn {
namespace {

constexpr int kFp32 = 0, kBf16 = 9;
constexpr Chip kH200 = {.compute_capability = 90, .sm_count = 132};

Shape Packed(std::vector<int64_t> dims, int type) {
  Shape shape{.type = type, .count = static_cast<int>(dims.size())};
  int64_t step = 1;
  for (int i = shape.count - 1; i >= 0; step *= dims[i--]) {
    shape.dims[i] = dims[i];
    shape.strides[i] = step;
  }
  return shape;
}

// A convolution of square images. `side`, `window` and `out_side` are the sides of the image, the
// filter and the result.
struct Measured {
  ConvolutionKind kind;
  int64_t channels, filters, side, window, stride, out_side;
  uint64_t bytes;
  int times;  // in one step of ResNet-50
};
Convolution Of(const Measured& m, int64_t images, int type) {
  return {.kind = m.kind,
          .image = Packed({images, m.channels, m.side, m.side}, type),
          .filter = Packed({m.filters, m.channels, m.window, m.window}, type),
          .out = Packed({images, m.filters, m.out_side, m.out_side}, type),
          .stride = m.stride};
}
std::string Text(const Measured& m) {
  return std::to_string(static_cast<int>(m.kind)) + ": " + std::to_string(m.channels) + " -> " +
         std::to_string(m.filters) + ", " + std::to_string(m.window) + "x" +
         std::to_string(m.window) + "/" + std::to_string(m.stride) + ", " + std::to_string(m.side) +
         " -> " + std::to_string(m.out_side);
}

constexpr auto kForward = ConvolutionKind::kForward;
constexpr auto kData = ConvolutionKind::kBackwardData;
constexpr auto kFilter = ConvolutionKind::kBackwardFilter;

// The convolutions of torchvision's ResNet-50: 32 images of 224 x 224, TF32, channels first.
constexpr Measured kResNet50[] = {
    {kForward, 3, 64, 224, 7, 2, 112, 122065680, 1},
    {kForward, 64, 64, 56, 1, 1, 56, 400, 1},
    {kForward, 64, 64, 56, 3, 1, 56, 25837584, 3},
    {kForward, 64, 256, 56, 1, 1, 56, 0, 4},
    {kForward, 128, 128, 56, 3, 2, 28, 64815120, 1},
    {kForward, 256, 64, 56, 1, 1, 56, 400, 2},
    {kForward, 256, 128, 56, 1, 1, 56, 400, 1},
    {kForward, 256, 512, 56, 1, 2, 28, 103284752, 1},
    {kForward, 128, 128, 28, 3, 1, 28, 26279952, 3},
    {kForward, 128, 512, 28, 1, 1, 28, 0, 4},
    {kForward, 256, 256, 28, 3, 2, 14, 34471952, 1},
    {kForward, 512, 128, 28, 1, 1, 28, 400, 3},
    {kForward, 512, 256, 28, 1, 1, 28, 400, 1},
    {kForward, 512, 1024, 28, 1, 2, 14, 77070483, 1},
    {kForward, 256, 256, 14, 3, 1, 14, 15204368, 5},
    {kForward, 256, 1024, 14, 1, 1, 14, 400, 6},
    {kForward, 512, 512, 14, 3, 2, 7, 32833935, 1},
    {kForward, 1024, 256, 14, 1, 1, 14, 400, 5},
    {kForward, 1024, 512, 14, 1, 1, 14, 0, 1},
    {kForward, 1024, 2048, 14, 1, 2, 7, 38535184, 1},
    {kForward, 512, 512, 7, 3, 1, 7, 15859728, 2},
    {kForward, 512, 2048, 7, 1, 1, 7, 16056336, 3},
    {kForward, 2048, 512, 7, 1, 1, 7, 16056336, 2},
    {kData, 64, 64, 56, 1, 1, 56, 400, 1},
    {kData, 64, 64, 56, 3, 1, 56, 51527696, 3},
    {kData, 64, 256, 56, 1, 1, 56, 0, 4},
    {kData, 128, 128, 56, 3, 2, 28, 64815251, 1},
    {kData, 256, 64, 56, 1, 1, 56, 400, 2},
    {kData, 256, 128, 56, 1, 1, 56, 400, 1},
    {kData, 256, 512, 56, 1, 2, 28, 154140819, 1},
    {kData, 128, 128, 28, 3, 1, 28, 26279952, 3},
    {kData, 128, 512, 28, 1, 1, 28, 0, 4},
    {kData, 256, 256, 28, 3, 2, 14, 34472083, 1},
    {kData, 512, 128, 28, 1, 1, 28, 400, 3},
    {kData, 512, 256, 28, 1, 1, 28, 400, 1},
    {kData, 512, 1024, 28, 1, 2, 14, 77070483, 1},
    {kData, 256, 256, 14, 3, 1, 14, 15204368, 5},
    {kData, 256, 1024, 14, 1, 1, 14, 0, 6},
    {kData, 512, 512, 14, 3, 2, 7, 25493651, 1},
    {kData, 1024, 256, 14, 1, 1, 14, 400, 5},
    {kData, 1024, 512, 14, 1, 1, 14, 400, 1},
    {kData, 1024, 2048, 14, 1, 2, 7, 38535315, 1},
    {kData, 512, 512, 7, 3, 1, 7, 15859728, 2},
    {kData, 512, 2048, 7, 1, 1, 7, 16056336, 3},
    {kData, 2048, 512, 7, 1, 1, 7, 16056336, 2},
    {kFilter, 3, 64, 224, 7, 2, 112, 134522000, 1},
    {kFilter, 64, 64, 56, 1, 1, 56, 524288, 1},
    {kFilter, 64, 64, 56, 3, 1, 56, 53592743, 3},
    {kFilter, 64, 256, 56, 1, 1, 56, 2097152, 4},
    {kFilter, 128, 128, 56, 3, 2, 28, 73073319, 1},
    {kFilter, 256, 64, 56, 1, 1, 56, 2097152, 2},
    {kFilter, 256, 128, 56, 1, 1, 56, 4194704, 1},
    {kFilter, 256, 512, 56, 1, 2, 28, 162529935, 1},
    {kFilter, 128, 128, 28, 3, 1, 28, 34538151, 3},
    {kFilter, 128, 512, 28, 1, 1, 28, 8388608, 4},
    {kFilter, 256, 256, 28, 3, 2, 14, 41550431, 1},
    {kFilter, 512, 128, 28, 1, 1, 28, 8388608, 3},
    {kFilter, 512, 256, 28, 1, 1, 28, 16777216, 1},
    {kFilter, 512, 1024, 28, 1, 2, 14, 81265071, 1},
    {kFilter, 256, 256, 14, 3, 1, 14, 22282847, 5},
    {kFilter, 256, 1024, 14, 1, 1, 14, 33554432, 6},
    {kFilter, 512, 512, 14, 3, 2, 7, 30999039, 1},
    {kFilter, 1024, 256, 14, 1, 1, 14, 33554432, 5},
    {kFilter, 1024, 512, 14, 1, 1, 14, 46924335, 1},
    {kFilter, 1024, 2048, 14, 1, 2, 7, 38535184, 1},
    {kFilter, 512, 512, 7, 3, 1, 7, 21365247, 2},
    {kFilter, 512, 2048, 7, 1, 1, 7, 16056336, 3},
    {kFilter, 2048, 512, 7, 1, 1, 7, 16056336, 2},
};

TEST(CudnnEngineSizes, ResNet50WorkspacesMatchH200) {
  int equal = 0, all = 0;
  for (const Measured& m : kResNet50) {
    const Workspace workspace = ConvolutionWorkspace(Of(m, 32, kFp32), kH200, true);
    EXPECT_EQ(workspace.bytes, m.bytes) << Text(m);
    EXPECT_TRUE(workspace.measured);
    all += m.times;
    equal += workspace.bytes == m.bytes ? m.times : 0;
  }
  EXPECT_EQ(equal, all);
  EXPECT_EQ(all, 158);
}

TEST(CudnnEngineSizes, VitPatchWorkspacesMatchH200) {
  const auto patches = [](ConvolutionKind kind, int64_t images, int type) {
    return ConvolutionWorkspace(Of({kind, 3, 1024, 224, 16, 16, 14, 0, 1}, images, type), kH200,
                                true)
        .bytes;
  };
  EXPECT_EQ(patches(kForward, 16, kFp32), 25624592u);
  EXPECT_EQ(patches(kFilter, 16, kFp32), 29884560u);
  EXPECT_EQ(patches(kForward, 8, kFp32), 14385168u);
  EXPECT_EQ(patches(kFilter, 8, kFp32), 17039504u);
  EXPECT_EQ(patches(kForward, 4, kBf16), 9011216u);
  EXPECT_EQ(patches(kFilter, 4, kBf16), 9013392u);
}

TEST(CudnnEngineSizes, MarksOnlyMeasuredSizesAsMeasured) {
  Convolution c = Of(kResNet50[0], 32, kFp32);
  EXPECT_FALSE(ConvolutionWorkspace(c, {.compute_capability = 89, .sm_count = 142}, true).measured);
  c.filter.dims[1] = 1;  // as many groups as channels
  EXPECT_FALSE(ConvolutionWorkspace(c, kH200, true).measured);
  // Without tensor cores, cuDNN does not convert layouts and needs no workspace for that.
  EXPECT_EQ(ConvolutionWorkspace(c, kH200, false).bytes, 0u);
}

// These are the convolutions in the programs of `vramscope doctor`. Only their filter gradients
// need a workspace. Both expected sizes are rounded up to 512 bytes.
TEST(CudnnEngineSizes, DoctorConvolutionWorkspacesMatchH200) {
  const auto bytes = [](const Measured& m, int64_t images) {
    return ConvolutionWorkspace(Of(m, images, kFp32), kH200, true).bytes;
  };
  EXPECT_EQ(bytes({kForward, 8, 16, 32, 3, 1, 30, 0, 1}, 4), 0u);
  EXPECT_EQ(bytes({kData, 8, 16, 32, 3, 1, 30, 0, 1}, 4), 0u);
  EXPECT_EQ((bytes({kFilter, 8, 16, 32, 3, 1, 30, 0, 1}, 4) + 511) / 512 * 512, 423936u);
  EXPECT_EQ(bytes({kForward, 32, 32, 32, 3, 1, 32, 0, 1}, 8), 0u);
  EXPECT_EQ(bytes({kData, 32, 32, 32, 3, 1, 32, 0, 1}, 8), 0u);
  EXPECT_EQ((bytes({kFilter, 32, 32, 32, 3, 1, 32, 0, 1}, 8) + 511) / 512 * 512, 4755968u);
}

struct TableCase {
  std::string group;  // the fields before the shape in the case's name
  int64_t n, c, k, window, stride, padding, side, groups;
};
TableCase Parsed(const std::string& name) {
  TableCase t;
  t.group = name.substr(0, name.find(" ("));
  long long v[8] = {};
  std::sscanf(name.c_str() + name.find('('), "(%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld)",
              &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
  t.n = v[0], t.c = v[1], t.k = v[2], t.window = v[3], t.stride = v[4], t.padding = v[5];
  t.side = v[6], t.groups = v[7];
  return t;
}
Shape Ordered(std::vector<int64_t> dims, int type, bool last) {
  Shape shape = Packed(dims, type);
  if (!last || dims[1] == 1) return shape;  // with one channel, both layouts are the same
  shape.strides = {dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]};
  return shape;
}

// Returns the size of the workspace that a pass allocates after its first `results` results. A
// forward pass keeps results; a backward pass frees them at its end, after the last workspace.
uint64_t RequestedWorkspace(const nlohmann::json& pass, int results, bool forward) {
  const size_t end = forward ? pass.size() : pass.size() - 2;
  int seen = 0;
  for (size_t i = 0; i < end; ++i) {
    if (pass[i][0] != "alloc") continue;
    const bool freed_at_once = i + 1 < end && pass[i + 1][0] == "free_completed";
    if (!freed_at_once)
      ++seen;
    else if (seen == results)
      return pass[i][1];
  }
  return 0;
}

// Compares the rule with all workspaces that cudnn_sizes.py recorded on the H200. Counts matches
// for each layout, precision and pass, and prints the differences.
TEST(CudnnEngineSizes, MostWorkspacesMatchTableOfH200) {
  std::ifstream file(VRAMSCOPE_GOLDEN "/gpu/h200/cudnn_sizes.json");
  ASSERT_TRUE(file.good());
  const nlohmann::json cases = nlohmann::json::parse(file)["cases"];
  std::map<std::string, std::pair<int, int>> groups;  // number of equal sizes, number of all sizes
  int equal = 0, all = 0;
  for (const auto& [name, requests] : cases.items()) {
    if (name.rfind("conv2d ", 0) != 0) continue;
    const TableCase t = Parsed(name);
    const int type = t.group.find("bfloat16") != std::string::npos ? kBf16 : kFp32;
    const bool last = t.group.find("last=True") != std::string::npos,
               tf32 = t.group.find("tf32=True") != std::string::npos;
    if (!last && t.groups == t.c) continue;  // PyTorch uses its own kernels
    const int64_t out_side = (t.side + 2 * t.padding - t.window) / t.stride + 1;
    for (const ConvolutionKind kind : {kForward, kData, kFilter}) {
      const Convolution c = {
          .kind = kind,
          .image = Ordered({t.n, t.c, t.side, t.side}, type, last),
          .filter = Ordered({t.k, t.c / t.groups, t.window, t.window}, type, last),
          .out = Ordered({t.n, t.k, out_side, out_side}, type, last && t.c > 1),
          .stride = t.stride};
      const bool forward = kind == kForward;
      const uint64_t requested = RequestedWorkspace(requests[forward ? "forward" : "backward"],
                                                    kind == kFilter ? 2 : 1, forward);
      const uint64_t computed = ConvolutionWorkspace(c, kH200, tf32).bytes;
      const std::string group = t.group + (forward         ? " forward"
                                           : kind == kData ? " data"
                                                           : " filter");
      const bool same = computed == requested;
      groups[group].first += same, ++groups[group].second;
      equal += same, ++all;
      if (!same)
        std::printf("%s (%s): requested %llu, rule %llu\n", name.c_str(), group.c_str(),
                    static_cast<unsigned long long>(requested),
                    static_cast<unsigned long long>(computed));
    }
  }
  for (const auto& [group, count] : groups)
    std::printf("%-50s %d of %d\n", group.c_str(), count.first, count.second);
  std::printf("%d of %d\n", equal, all);
  EXPECT_GE(equal, 199);
  EXPECT_EQ(all, 204);
}

// Attention of Qwen2-0.5B: batch 4, 14 query and 2 key-value heads, 512 positions, dimension 64.
TEST(CudnnEngineSizes, SharedKeyAttentionNeedsPerHeadGradients) {
  const Shape query = Packed({4, 14, 512, 64}, kBf16), shared = Packed({4, 2, 512, 64}, kBf16);
  EXPECT_EQ(AttentionWorkspace({false, query, shared, shared}, kH200).bytes, 256u);
  EXPECT_EQ(AttentionWorkspace({true, query, shared, shared}, kH200).bytes, 256u + 7340032);
  EXPECT_EQ(AttentionWorkspace({true, query, query, query}, kH200).bytes, 256u);
  EXPECT_TRUE(AttentionWorkspace({true, query, query, query}, kH200).measured);
  EXPECT_EQ(AttentionWorkspace({true}, {.compute_capability = 89, .sm_count = 142}).bytes, 0u);
}

}  // namespace
}  // namespace vramscope::emulated::cudnn
