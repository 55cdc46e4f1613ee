// Computes the workspaces of cuDNN's engines for convolutions and attention.
//
// Measured on an NVIDIA H200 (132 multiprocessors; driver 580.159.04, cuDNN 9.19, PyTorch 2.11).
// Allocations and kernel names were recorded for ResNet-50 (32 images of 224 x 224, fp32 with TF32,
// channels first; 158 convolutions and gradients), the patches of ViT-L/16 (fp32, bf16), and
// attention (bf16, fp16). Only allocations were recorded for 74 convolutions of 8 images (fp32 in
// both orders and without TF32, bf16). The workspace of an engine follows from the shapes, but the
// engine that cuDNN's heuristics choose does not. Rules model this choice, and kSeen lists
// exceptions.
#include <algorithm>
#include <bit>
#include <cmath>

#include "emulated/libraries/cudnn_sizes.h"
#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cudnn {
namespace {

// The sizes of a convolution and the properties on which the choice of its engine depends.
struct Problem {
  ConvolutionKind kind;
  uint64_t images, channels, filters, window, pixels, out_pixels, bytes_each;
  uint64_t of_group;  // channels of a group
  int64_t stride;
  bool strided, grouped, plane, last, narrow;
  uint64_t longest;              // longest side of the image
  uint64_t tiles, larger_tiles;  // tiles of 4 x 4 and of 9 x 9 results

  bool pointwise() const { return window == 1; }
  uint64_t multiplications() const {
    return Product(Product(images, out_pixels), Product(Product(channels, filters), window));
  }
  uint64_t positions() const { return Product(images, out_pixels); }
  uint64_t image(uint64_t of_channels) const {
    return Product(Product(images, bytes_each), Product(of_channels, pixels));
  }
  uint64_t out(uint64_t of_filters) const {
    return Product(Product(images, bytes_each), Product(of_filters, out_pixels));
  }
  uint64_t filter(uint64_t of_channels, uint64_t of_filters) const {
    return Product(Product(of_channels, of_filters), Product(window, bytes_each));
  }
  // Returns whether windows touch but do not overlap, like the patches of a vision transformer.
  bool patches() const { return stride > 1 && Product(stride, stride) == window; }
};
uint64_t Spatial(const Shape& shape) {
  uint64_t product = 1;
  for (int i = 2; i < std::min(shape.count, kMostDims); ++i)
    product = Product(product, Positive(shape.dims[i]));
  return product;
}
Problem ProblemOf(const Convolution& c) {
  uint64_t longest = 1, tiles = Positive(c.image.dims[0]), larger_tiles = tiles;
  for (int i = 2; i < std::min(c.image.count, kMostDims); ++i) {
    longest = std::max(longest, Positive(c.image.dims[i]));
    tiles = Product(tiles, (Positive(c.out.dims[i]) + 3) / 4);
    larger_tiles = Product(larger_tiles, (Positive(c.out.dims[i]) + 8) / 9);
  }
  return {.kind = c.kind,
          .images = Positive(c.image.dims[0]),
          .channels = Positive(c.image.dims[1]),
          .filters = Positive(c.filter.dims[0]),
          .window = Spatial(c.filter),
          .pixels = Spatial(c.image),
          .out_pixels = Spatial(c.out),
          .bytes_each = std::max<uint64_t>(TypeBits(c.image.type) / 8, 1),
          .of_group = Positive(c.filter.dims[1]),
          .stride = c.stride,
          .strided = c.stride > 1,
          .grouped = c.filter.dims[1] != c.image.dims[1],
          .plane = c.image.count == 4,
          .last = c.image.channels_last(),
          .narrow = TypeBits(c.image.type) <= 16,
          .longest = longest,
          .tiles = tiles,
          .larger_tiles = larger_tiles};
}

uint64_t Ceil(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
uint64_t RoundedUp(uint64_t value, uint64_t to) { return Product(Ceil(value, to), to); }

// A workspace with reordered operands has kHead extra bytes. A workspace with counters or partial
// sums also has kAligned bytes for the alignment.
constexpr uint64_t kHead = 16, kAligned = 127;
// A product without reordering has an empty workspace, or a workspace for the parameters of its
// batch.
constexpr uint64_t kBatchParameters = 400;

enum class Engine {
  kNone,
  kProduct,            // matrix product of the operands in their given order
  kProductOfBatch,     // the same, with batch parameters in the workspace
  kReordered,          // image, result and filter in channels last; a 1 x 1 filter already is
  kReorderedCounted,   // the same, with a tile counter
  kReorderedOperands,  // like kReordered, but the result is written in its own order
  kSegmented,          // tiles that fill less than half of the GPU, computed in segments
  kSegmentedShared,    // the same; the last segment of a tile needs no sums of its own
  kParts,              // reordered and padded; filter sums for parts of the image
  kWinograd,           // 3 x 3 filter gradients in 4 x 4 tiles, in fp32
};
struct Choice {
  Engine engine;
  uint64_t tile_rows = 0, tile_columns = 0;  // used by segmented engines
  uint64_t pieces = 0;                       // segments of a tile, or parts; 0: by rule
};

// Convolutions for which cuDNN's heuristics choose another engine than the rules below, or split
// the work differently. `pixels` is the image's size in pixels. images = 0 matches any batch size.
// Measured on an H200 with cuDNN 9.19.
enum class Seen { kTf32, kTf32Last, kNarrow };
struct SeenChoice {
  Seen as;
  ConvolutionKind kind;
  uint64_t images, channels, filters, window, pixels;
  bool strided;
  Choice choice;
};
constexpr auto kForward = ConvolutionKind::kForward, kData = ConvolutionKind::kBackwardData,
               kFilter = ConvolutionKind::kBackwardFilter;
constexpr auto kTf32 = Seen::kTf32, kTf32Last = Seen::kTf32Last, kNarrow = Seen::kNarrow;
constexpr SeenChoice kSeen[] = {
    {kTf32, kForward, 0, 64, 64, 9, 56 * 56, false, {Engine::kReorderedOperands}},
    {kTf32, kForward, 32, 256, 512, 1, 56 * 56, true, {Engine::kReorderedOperands}},
    {kTf32, kForward, 0, 512, 1024, 1, 28 * 28, true, {Engine::kReorderedCounted}},
    {kTf32, kForward, 0, 512, 512, 9, 14 * 14, true, {Engine::kSegmented, 64, 256}},
    {kTf32, kForward, 0, 256, 1024, 1, 14 * 14, false, {Engine::kProductOfBatch}},
    {kTf32, kForward, 0, 1024, 512, 1, 14 * 14, false, {Engine::kProduct}},
    {kTf32, kForward, 0, 3, 768, 256, 224 * 224, true, {Engine::kNone}},
    {kTf32, kData, 8, 512, 512, 9, 7 * 7, false, {Engine::kSegmented, 128, 48}},
    {kTf32, kData, 8, 8, 16, 9, 32 * 32, false, {Engine::kReordered}},
    {kTf32, kData, 8, 64, 64, 1, 56 * 56, false, {Engine::kProduct}},
    {kTf32, kFilter, 0, 256, 128, 1, 56 * 56, false, {Engine::kProductOfBatch}},
    {kTf32, kFilter, 0, 512, 1024, 1, 28 * 28, true, {Engine::kSegmented, 128, 64}},
    {kTf32, kFilter, 8, 512, 512, 9, 7 * 7, false, {Engine::kReordered}},
    {kTf32, kFilter, 8, 320, 320, 9, 64 * 64, false, {Engine::kWinograd}},
    {kTf32, kFilter, 8, 128, 128, 9, 56 * 56, true, {Engine::kParts, 0, 0, 7}},
    {kTf32, kFilter, 8, 256, 512, 1, 56 * 56, true, {Engine::kParts, 0, 0, 7}},
    {kTf32, kFilter, 8, 4, 320, 9, 64 * 64, false, {Engine::kParts, 0, 0, 86}},
    // Known to within 512 bytes.
    {kTf32, kFilter, 8, 32, 32, 9, 32 * 32, false, {Engine::kSegmentedShared, 64, 256, 21}},
    {kTf32, kFilter, 8, 1, 32, 9, 28 * 28, false, {Engine::kSegmentedShared, 32, 16, 10}},
    {kTf32, kFilter, 8, 5, 7, 9, 33 * 33, false, {Engine::kSegmentedShared, 32, 16, 4}},
    {kTf32, kFilter, 0, 8, 16, 9, 32 * 32, false, {Engine::kSegmentedShared, 16, 64, 8}},
    {kTf32Last, kData, 8, 512, 512, 9, 7 * 7, false, {Engine::kSegmented, 128, 48}},
    {kTf32Last, kFilter, 8, 128, 128, 9, 28 * 28, false, {Engine::kSegmentedShared, 64, 64, 2}},
    {kTf32Last, kFilter, 8, 4, 320, 9, 64 * 64, false, {Engine::kParts, 0, 0, 86}},
    {kTf32Last, kFilter, 8, 3, 32, 9, 32 * 32, false, {Engine::kParts, 0, 0, 17}},
    {kTf32Last, kFilter, 8, 5, 7, 9, 33 * 33, false, {Engine::kSegmentedShared, 32, 16, 5}},
    {kTf32Last, kFilter, 8, 8, 16, 9, 32 * 32, false, {Engine::kSegmentedShared, 32, 16, 5}},
    {kNarrow, kFilter, 8, 3, 64, 49, 224 * 224, true, {Engine::kParts, 0, 0, 58}},
    {kNarrow, kFilter, 8, 4, 320, 9, 64 * 64, false, {Engine::kParts, 0, 0, 20}},
    {kNarrow, kFilter, 8, 1, 32, 9, 28 * 28, false, {Engine::kParts, 0, 0, 23}},
    {kNarrow, kFilter, 8, 3, 32, 9, 32 * 32, false, {Engine::kSegmentedShared, 32, 128, 24}},
    {kNarrow, kFilter, 0, 8, 16, 9, 32 * 32, false, {Engine::kNone}},
    {kNarrow, kFilter, 0, 3, 768, 256, 224 * 224, true, {Engine::kReordered}},
    {kNarrow, kData, 0, 3, 1024, 196, 224 * 224, true, {Engine::kNone}},
};
const Choice* SeenFor(const Problem& p) {
  const Seen as = p.narrow ? kNarrow : p.last ? kTf32Last : kTf32;
  if (p.narrow && p.last) return nullptr;
  for (const SeenChoice& seen : kSeen)
    if (seen.as == as && seen.kind == p.kind && (seen.images == 0 || seen.images == p.images) &&
        seen.channels == p.channels && seen.filters == p.filters && seen.window == p.window &&
        seen.pixels == p.pixels && seen.strided == p.strided)
      return &seen.choice;
  return nullptr;
}

uint64_t Multiprocessors(const Chip& chip) {
  return static_cast<uint64_t>(std::max(chip.sm_count, 1));
}

// Returns the bytes for partial sums of tiles. With fewer tiles than multiprocessors, each tile is
// split into as many segments as there are multiprocessors per tile.
constexpr uint64_t kCounters = 8;  // counters in addition to the segments' counters
uint64_t SegmentBytes(const Problem& p, const Choice& tile, const Chip& chip) {
  constexpr uint64_t kDepthOfTile = 32, kLeastIterations = 7;
  const bool of_filter = p.kind == kFilter;
  const uint64_t elements = Product(p.of_group, p.window);
  const uint64_t positions = p.kind == kData ? Product(p.images, p.pixels) : p.positions();
  const uint64_t rows = Ceil(p.kind == kData ? p.channels : p.filters, tile.tile_rows);
  uint64_t columns = Ceil(of_filter ? elements : positions, tile.tile_columns);
  bool paired = false;
  if (of_filter && tile.tile_rows >= 64 && tile.tile_columns == 64) {
    // A tile of this size covers only one position of the window. Tiles of 128 rows are processed
    // in pairs.
    columns = Product(Ceil(p.of_group, 64), p.window);
    paired = tile.tile_rows == 128 && !p.pointwise() && columns % 2 != 0;
    columns += paired ? 1 : 0;
  }
  const uint64_t sms = Multiprocessors(chip);
  const uint64_t bytes_of_tile =
      Product(tile.tile_rows, std::bit_ceil(tile.tile_columns)) * sizeof(float);
  if (tile.pieces) {  // segments per tile; the last segment needs no sums
    const uint64_t tiles = Product(rows, columns);
    return tiles * (tile.pieces - 1) * bytes_of_tile +
           (tiles * tile.pieces + kCounters) * sizeof(int) + kAligned;
  }
  const uint64_t tiles = Product(rows, columns) % sms;
  if (tiles == 0) return 0;
  const uint64_t depth = of_filter         ? p.positions()
                         : p.kind == kData ? Product(p.filters, p.window)
                                           : elements;
  uint64_t of_each =
      std::min(sms / tiles, std::max<uint64_t>(Ceil(depth, kDepthOfTile) / kLeastIterations, 1));
  if (of_each < 2) return 0;
  // Each segment for which another segment waits has a counter. If the number of tiles is a
  // multiple of eight, there were fewer counters, for an unknown reason.
  const uint64_t counters = tiles * (paired ? of_each + 1 : tiles % 8 == 0 ? of_each - 1 : of_each);
  if (tile.engine == Engine::kSegmentedShared) --of_each;
  return tiles * of_each * bytes_of_tile + (counters + kCounters) * sizeof(int) + kAligned;
}

Choice TileOfFilterGradient(const Problem& p, const Chip& chip) {
  if (p.filters <= 64 && p.channels <= 64) return {Engine::kSegmented, 64, 64};
  if (p.channels <= 64) return {Engine::kSegmented, 128, 64};
  const uint64_t sms = Multiprocessors(chip);
  const uint64_t narrow = Product(Ceil(p.filters, 128), Ceil(p.channels, 64));
  // Tiles are narrower if narrow tiles fill the GPU almost exactly.
  if (p.pointwise() && narrow <= sms && narrow > sms * 3 / 4) return {Engine::kSegmented, 128, 64};
  return {Engine::kSegmented, 128, 128};
}

// With fewer channels than this, a reordered image would mostly consist of padding.
constexpr uint64_t kFew = 8;
// From this number of multiplications on, multiprocessors use a counter to fetch tiles.
constexpr uint64_t kLarge = uint64_t{1} << 34;
// Below this number of multiplications, kernels need no reordered operands.
constexpr uint64_t kSmall = uint64_t{1} << 27;

Choice Tf32Choice(const Problem& p, const Chip& chip) {
  const bool counted = p.strided || p.multiplications() >= kLarge;
  if (p.grouped) return {p.kind == kForward && p.of_group > 1 ? Engine::kReordered : Engine::kNone};
  if (const Choice* seen = SeenFor(p)) return *seen;
  // Kernels read four pixels at a time. If the number of pixels is not a multiple of four, the
  // image is reordered.
  const bool product = p.pointwise() && !p.strided && p.pixels % 4 == 0;
  const Choice as_product = {p.channels >= p.filters ? Engine::kProductOfBatch : Engine::kProduct};
  const uint64_t operands = p.image(p.channels) + p.out(p.filters);
  switch (p.kind) {
    case kForward:
      if (product) return as_product;
      if (p.multiplications() < kSmall) return {Engine::kNone};
      if (p.channels == 4 && !p.strided) return {Engine::kReorderedOperands};
      return {p.multiplications() >= kLarge ? Engine::kReorderedCounted : Engine::kReordered};
    case kData:
      if (product) return as_product;
      if (p.patches()) return {Engine::kReordered};
      if (p.channels < kFew || p.multiplications() < kSmall) return {Engine::kNone};
      return {counted ? Engine::kReorderedCounted : Engine::kReordered};
    case kFilter:
      // cuDNN computes one product per image and adds them up, unless that needs much more memory.
      if (product && Product(p.images, p.filter(p.channels, p.filters)) <= operands + operands / 2)
        return {Engine::kProduct};
      if (p.channels % 4 != 0 || p.channels == 4) return {Engine::kParts};
      return TileOfFilterGradient(p, chip);
  }
  return {Engine::kReordered};
}

// The filter's gradient is summed in parts, one for each part of the image. Returns the number of
// parts. It falls with the number of 64 x 128 tiles and grows with the number of positions. The
// curve was fitted to 8,192 positions (13 parts), 100,352 (54) and 401,408 (120).
uint64_t PartsOf(const Problem& p, uint64_t channels) {
  constexpr uint64_t kBlocks = 240, kLeastPositions = 4096;
  if (p.positions() < kLeastPositions) return 1;
  const uint64_t tiles = Product(Ceil(p.filters, 64), Ceil(Product(channels, p.window), 128));
  const double curve = 0.077 * std::pow(static_cast<double>(p.positions()), 0.57);
  return std::min(kBlocks / std::max<uint64_t>(tiles, 1), static_cast<uint64_t>(curve));
}

uint64_t PartsBytes(const Problem& p, const Choice& choice, bool with_filter) {
  const uint64_t unit = p.narrow ? 8 : 4;
  const uint64_t channels = RoundedUp(p.channels, unit);
  const uint64_t filters = p.narrow ? RoundedUp(p.filters, unit) : p.filters;
  const uint64_t filter = p.filter(channels, filters);
  const uint64_t sums = Product(filter, sizeof(float) / p.bytes_each);
  const uint64_t parts = choice.pieces ? choice.pieces : PartsOf(p, channels);
  const bool reordered = with_filter && !p.pointwise();
  return p.image(channels) + p.out(filters) + (reordered ? filter : 0) +
         (parts > 1 ? Product(parts, sums) : 0) + kAligned + 1 + kHead;
}

// A 4 x 4 tile has 36 transformed values, for each filter, channel and result.
uint64_t WinogradBytes(const Problem& p) {
  if (p.window == 25)  // 169 values per 9 x 9 tile; a single measurement
    return Product(169 * sizeof(float), Product(p.channels, p.filters) +
                                            Product(2 * p.larger_tiles, p.channels + p.filters));
  return Product(36 * sizeof(float),
                 Product(p.channels, p.filters) + Product(p.tiles, p.channels + p.filters));
}
// The workspace contains half spectra of 32 x 32 values for all filters and for 16 tiles.
uint64_t FourierBytes(const Problem& p) {
  constexpr uint64_t kSpectrum = 32 * 17 * 2 * sizeof(float), kTilesAtATime = 16;
  return Product(kSpectrum,
                 Product(p.channels, p.filters) + Product(kTilesAtATime, p.channels + p.filters));
}

// TF32, channels first.
uint64_t Tf32Workspace(const Problem& p, const Chip& chip) {
  const Choice choice = Tf32Choice(p, chip);
  const uint64_t image = p.image(p.channels), out = p.out(p.filters);
  const uint64_t filter = RoundedUp(p.filter(p.of_group, p.filters), 16);
  const uint64_t reordered = image + out + (p.pointwise() ? 0 : filter) + kHead;
  switch (choice.engine) {
    case Engine::kNone:
      return 0;
    case Engine::kProduct:
    case Engine::kProductOfBatch:
      return (p.kind == kFilter ? Product(p.images, filter) : 0) +
             (choice.engine == Engine::kProductOfBatch ? kBatchParameters : 0);
    case Engine::kReordered:
      return reordered;
    case Engine::kReorderedCounted:
      return reordered + kAligned + sizeof(int);
    case Engine::kReorderedOperands:
      return image + filter + kHead;
    case Engine::kSegmented:
    case Engine::kSegmentedShared:
      // Only Hopper's engines use segments.
      return chip.compute_capability < 90 ? reordered : reordered + SegmentBytes(p, choice, chip);
    case Engine::kParts:
      return PartsBytes(p, choice, true);
    case Engine::kWinograd:
      return WinogradBytes(p);
  }
  return reordered;
}

// TF32, channels last. Engines read a fixed number of channels at a time. If the number of channels
// is a multiple of this number, the operands are not reordered.
uint64_t Tf32LastWorkspace(const Problem& p, const Chip& chip) {
  constexpr uint64_t kCounter = kAligned + sizeof(int);
  const uint64_t image = p.image(p.channels), out = p.out(p.filters);
  const uint64_t filter = p.filter(p.of_group, p.filters);
  const bool product = p.pointwise() && !p.strided;
  const uint64_t sms = Multiprocessors(chip);
  const Choice* seen = SeenFor(p);
  if (p.kind == kForward) {
    if (p.grouped) return 0;
    if (p.channels <= 4) return p.multiplications() < kSmall ? 0 : image + filter + kHead;
    if (product) return p.filters > p.channels ? kBatchParameters : 0;
    const uint64_t tiles = Product(Ceil(p.filters, 128), Ceil(p.positions(), 128));
    return !p.pointwise() && !p.strided && tiles >= sms ? kCounter : 0;
  }
  if (p.kind == kData) {
    if (seen && !p.grouped) return SegmentBytes(p, *seen, chip);
    if (p.grouped || product) return 0;
    if (p.patches() || (p.strided && p.channels < 4)) return image + out + filter + kHead;
    if (p.strided || p.channels == 4 || p.multiplications() >= kLarge) return kCounter;
    if (p.channels % 4 != 0) {
      const uint64_t channels = RoundedUp(p.channels, 4), filters = RoundedUp(p.filters, 4);
      return p.image(channels) + (filters == p.filters ? 0 : p.out(filters)) +
             p.filter(channels, filters) + kHead;
    }
    return p.channels % 32 == 0 ? 0 : out + filter + kHead;
  }
  if (product && !p.grouped)  // sums of all multiprocessors except one
    return Product(sms - 1, Product(p.channels, p.filters) * sizeof(float)) + 256;
  if (seen && seen->engine == Engine::kSegmentedShared)
    return image + out + kHead + SegmentBytes(p, *seen, chip);
  if (p.grouped) return 0;
  if (seen || p.channels <= 4 || p.channels % 4 != 0)
    return PartsBytes(p, seen ? *seen : Choice{Engine::kParts}, p.channels % 4 != 0);
  if (chip.compute_capability < 90) return 0;
  if (p.filters <= 64 && p.channels <= 64)
    return SegmentBytes(p, {Engine::kSegmented, 64, 64}, chip);
  const uint64_t tiles = Product(Ceil(p.filters, 128), Ceil(Product(p.channels, p.window), 128));
  return SegmentBytes(p, {Engine::kSegmented, 128, tiles < sms ? 64u : 128u}, chip);
}

// fp32 without tensor cores, channels first. Gradients of 3 x 3 filters use transforms.
uint64_t PlainWorkspace(const Problem& p) {
  constexpr uint64_t kSpectrumSide = 32, kLeastChannels = 32;
  if (p.last || !p.plane || p.grouped || p.strided) return 0;
  if (p.window != 9 && !(p.window == 25 && p.kind == kFilter)) return 0;
  if (p.kind == kFilter) return p.channels % 8 == 0 ? WinogradBytes(p) : 0;
  return p.kind == kData && p.longest > kSpectrumSide && p.channels >= kLeastChannels
             ? FourierBytes(p)
             : 0;
}

// 16 bits, channels first. Kernels read eight channels at a time.
uint64_t NarrowWorkspace(const Problem& p, const Chip& chip) {
  const Choice* seen = SeenFor(p);
  if (seen && seen->engine == Engine::kNone) return 0;
  if (p.grouped) {
    if (p.kind == kFilter || p.of_group == 1) return 0;
    return p.image(p.channels) + p.out(p.filters) + p.filter(p.of_group, p.filters) + kHead;
  }
  const uint64_t channels = RoundedUp(p.channels, 8), filters = RoundedUp(p.filters, 8);
  const uint64_t filter = p.filter(channels, filters);
  const bool padded = channels != p.channels || filters != p.filters;
  const uint64_t operands = p.image(channels) + p.out(filters);
  const uint64_t reordered = operands + (p.pointwise() && !padded ? 0 : filter) + kHead;
  const bool product = p.pointwise() && !p.strided && p.pixels % 8 == 0 && !padded;
  constexpr uint64_t kNarrowBatchParameters = 272;
  const bool counted = p.multiplications() >= kLarge;
  switch (p.kind) {
    case kForward:
      if (product || (p.channels < kFew && p.multiplications() < kSmall)) return 0;
      return reordered + (counted ? kAligned + sizeof(int) : 0);
    case kData:
      if (product) return p.filters > p.channels ? kNarrowBatchParameters : 0;
      if (p.patches())
        return p.image(p.channels) + p.out(p.filters) + p.filter(p.channels, p.filters) + kHead;
      return reordered + (counted || (p.strided && !padded) ? kAligned + sizeof(int) : 0);
    case kFilter:
      break;
  }
  const uint64_t sums = Product(filter, sizeof(float) / p.bytes_each);
  if (product && Product(p.images, sums) <= operands + operands / 2) return Product(p.images, sums);
  if (p.patches()) {  // with counters of 64 x 64 tiles
    const uint64_t tiles = Product(Ceil(p.filters, 64), Ceil(Product(channels, p.window), 64));
    const bool plain = seen && seen->engine == Engine::kReordered;
    return reordered + (plain ? 0 : kAligned + 1 + tiles * sizeof(int));
  }
  if (seen && seen->engine == Engine::kSegmentedShared)
    return reordered + SegmentBytes(p, *seen, chip);
  if (p.channels < kFew) return PartsBytes(p, seen ? *seen : Choice{Engine::kParts}, true);
  if (!p.pointwise() && p.filters <= 64 && p.channels <= 64 && chip.compute_capability >= 90)
    return reordered + SegmentBytes(p, {Engine::kSegmentedShared, 64, 64}, chip);
  return reordered;
}

}  // namespace

double ConvolutionFlops(const Convolution& c) {
  double each = 2;  // dimensions of w after the first: the channels of a group and the window
  for (int i = 1; i < std::min(c.filter.count, kMostDims); ++i)
    each *= static_cast<double>(Positive(c.filter.dims[i]));
  return each * static_cast<double>(c.out.elements());
}

Workspace ConvolutionWorkspace(const Convolution& c, const Chip& chip, bool tensor_cores) {
  const uint64_t bits = TypeBits(c.image.type);
  if (bits > 32 || bits < 16) return {};
  const Problem p = ProblemOf(c);
  const bool measured = chip.compute_capability == 90 && p.plane && !p.grouped;
  if (p.narrow) {
    if (!tensor_cores) return {};
    // 16-bit filter gradients in channels last are accumulated in fp32 and then converted.
    if (p.last)
      return {c.kind == ConvolutionKind::kBackwardFilter ? Product(c.filter.elements(), 4) : 0};
    return {NarrowWorkspace(p, chip), measured};
  }
  if (!tensor_cores) return {PlainWorkspace(p), measured && !p.last};
  if (chip.compute_capability < 80) return {};  // TF32 needs 8.0
  return {p.last ? Tf32LastWorkspace(p, chip) : Tf32Workspace(p, chip), measured};
}

Workspace AttentionWorkspace(const Attention& attention, const Chip& chip) {
  // Hopper's kernels count their tiles. Other generations were not measured.
  if (chip.compute_capability < 90) return {};
  constexpr uint64_t kCounters = 256;
  uint64_t bytes = kCounters;
  const Shape &q = attention.query, &k = attention.key, &v = attention.value;
  if (attention.backward && q.count == 4 && k.count == 4 && v.count == 4 &&
      (k.dims[1] != q.dims[1] || v.dims[1] != q.dims[1])) {
    // If query heads share keys and values, each head computes gradients for these, which are then
    // summed.
    const uint64_t rows =
        Product(Product(Positive(q.dims[0]), Positive(q.dims[1])), Positive(k.dims[2]));
    bytes +=
        Product(Product(rows, Positive(k.dims[3]) + Positive(v.dims[3])), TypeBits(k.type)) / 8;
  }
  return {bytes, chip.compute_capability == 90};
}

}  // namespace vramscope::emulated::cudnn
