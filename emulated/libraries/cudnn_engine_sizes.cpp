// What cuDNN's engines for convolutions and attention take as workspace.
//
// Read off an NVIDIA H200 (132 multiprocessors; driver 580.159.04, cuDNN 9.19, PyTorch 2.11):
// requests and names of kernels of ResNet-50 (32 images of 224 x 224, fp32 with TF32, channels
// first; 158 convolutions and gradients), of the patches of ViT-L/16 (fp32 and bf16) and of
// attention in bf16 and fp16. How large an engine's workspace is follows from its shapes; which
// engine the heuristics take does not: rules, and kSeen where they took another one.
#include <algorithm>

#include "emulated/libraries/cudnn_sizes.h"
#include "emulated/libraries/data_type.h"

namespace vramscope::emulated::cudnn {
namespace {

// A convolution as a matrix product: `rows` filters, `columns` of the filter's other elements.
struct Problem {
  ConvolutionKind kind;
  uint64_t images, channels, filters, window, pixels, out_pixels, bytes_each;
  bool strided, grouped, plane;

  bool pointwise() const { return window == 1; }
  // Small ones run where no order matters; what filter gradients of them take is not known.
  bool small() const {
    constexpr uint64_t kMultiplications = uint64_t{1} << 25;
    return Product(Product(images, out_pixels), Product(Product(channels, filters), window)) <
           kMultiplications;
  }
};
uint64_t Spatial(const Shape& shape) {
  uint64_t product = 1;
  for (int i = 2; i < std::min(shape.count, kMostDims); ++i)
    product = Product(product, Positive(shape.dims[i]));
  return product;
}
Problem ProblemOf(const Convolution& c) {
  return {.kind = c.kind,
          .images = Positive(c.image.dims[0]),
          .channels = Positive(c.image.dims[1]),
          .filters = Positive(c.filter.dims[0]),
          .window = Spatial(c.filter),
          .pixels = Spatial(c.image),
          .out_pixels = Spatial(c.out),
          .bytes_each = std::max<uint64_t>(TypeBits(c.image.type) / 8, 1),
          .strided = c.stride > 1,
          .grouped = c.filter.dims[1] != c.image.dims[1],
          .plane = c.image.count == 4};
}

uint64_t Ceil(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
uint64_t RoundedUp(uint64_t value, uint64_t to) { return Product(Ceil(value, to), to); }

// What every workspace with operands in another order has beside them; one with counters or partial
// sums is aligned, too.
constexpr uint64_t kHead = 16, kAligned = 127;
// A product that needs no other order: nothing, or the parameters of its batch.
constexpr uint64_t kBatchParameters = 400;

enum class Engine {
  kProduct,            // of matrices in the order in which they are
  kProductOfBatch,     // the same, with parameters of the batch in the workspace
  kReordered,          // image, result and filter in channels last, a 1 x 1 filter being so already
  kReorderedCounted,   // with a counter of tiles
  kReorderedOperands,  // image and filter alone: the result is written in its own order
  kSegmented,  // reordered; tiles that fill the card less than half are computed in segments
};
struct Choice {
  Engine engine;
  uint64_t tile_rows = 0, tile_columns = 0;  // of a segmented one
};

// Where the heuristics took another engine than the rules say. Pixels are the image's.
struct SeenChoice {
  ConvolutionKind kind;
  uint64_t channels, filters, window, pixels;
  bool strided;
  Choice choice;
};
constexpr SeenChoice kSeen[] = {
    {ConvolutionKind::kForward, 64, 64, 9, 56 * 56, false, {Engine::kReorderedOperands}},
    {ConvolutionKind::kForward, 256, 512, 1, 56 * 56, true, {Engine::kReorderedOperands}},
    {ConvolutionKind::kForward, 512, 1024, 1, 28 * 28, true, {Engine::kReorderedCounted}},
    {ConvolutionKind::kForward, 512, 512, 9, 14 * 14, true, {Engine::kSegmented, 64, 256}},
    {ConvolutionKind::kForward, 256, 1024, 1, 14 * 14, false, {Engine::kProductOfBatch}},
    {ConvolutionKind::kForward, 1024, 512, 1, 14 * 14, false, {Engine::kProduct}},
    {ConvolutionKind::kBackwardFilter, 256, 128, 1, 56 * 56, false, {Engine::kProductOfBatch}},
    {ConvolutionKind::kBackwardFilter, 512, 1024, 1, 28 * 28, true, {Engine::kSegmented, 128, 64}},
};

// Partial sums of tiles: where few tiles are left for many multiprocessors, each is computed in as
// many segments as find a multiprocessor.
struct Segments {
  uint64_t tiles = 0, of_each = 1;
};
Segments SegmentsOf(uint64_t rows, uint64_t columns, uint64_t depth, const Choice& tile,
                    const Chip& chip) {
  constexpr uint64_t kDepthOfTile = 32, kLeastIterations = 7;
  const uint64_t all = Product(Ceil(rows, tile.tile_rows), Ceil(columns, tile.tile_columns));
  const auto sms = static_cast<uint64_t>(std::max(chip.sm_count, 1));
  Segments segments{.tiles = all % sms};
  if (segments.tiles == 0) return segments;
  segments.of_each = std::min(sms / segments.tiles,
                              std::max<uint64_t>(Ceil(depth, kDepthOfTile) / kLeastIterations, 1));
  return segments;
}
uint64_t SegmentBytes(const Segments& segments, const Choice& tile, const Chip& chip) {
  if (segments.of_each < 2) return 0;
  const uint64_t partial = segments.tiles * segments.of_each;
  const auto sms = static_cast<uint64_t>(std::max(chip.sm_count, 1));
  // A counter for each segment that another one waits for; a last, shorter one counts, too.
  const bool shorter =
      2 * (sms % segments.tiles) > segments.tiles || segments.of_each < sms / segments.tiles;
  const uint64_t counters = shorter ? partial : partial - segments.tiles;
  return partial * tile.tile_rows * tile.tile_columns * sizeof(float) +
         (counters + 8) * sizeof(int) + kAligned;
}

Choice TileOfFilterGradient(const Problem& p, const Chip& chip) {
  if (p.filters <= 64 && p.channels <= 64) return {Engine::kSegmented, 64, 64};
  const auto sms = static_cast<uint64_t>(std::max(chip.sm_count, 1));
  const uint64_t narrow = Product(Ceil(p.filters, 128), Ceil(p.channels, 64));
  // Narrower tiles where they just fill the card.
  if (p.pointwise() && narrow <= sms && narrow > sms * 3 / 4) return {Engine::kSegmented, 128, 64};
  return {Engine::kSegmented, 128, 128};
}

Choice ChoiceOf(const Problem& p, const Chip& chip) {
  for (const SeenChoice& seen : kSeen)
    if (seen.kind == p.kind && seen.channels == p.channels && seen.filters == p.filters &&
        seen.window == p.window && seen.pixels == p.pixels && seen.strided == p.strided)
      return seen.choice;
  // Four pixels at a time are read: a plane that does not divide into them is reordered.
  const bool product = p.pointwise() && !p.strided && p.pixels % 4 == 0;
  const uint64_t operands =
      Product(Product(p.images, p.bytes_each),
              Product(p.channels, p.pixels) + Product(p.filters, p.out_pixels));
  const uint64_t filter = Product(Product(p.channels, p.filters), p.window * p.bytes_each);
  switch (p.kind) {
    case ConvolutionKind::kForward:
      if (product) return {p.channels >= p.filters ? Engine::kProductOfBatch : Engine::kProduct};
      return {Engine::kReordered};
    case ConvolutionKind::kBackwardData:
      if (product) return {p.channels >= p.filters ? Engine::kProductOfBatch : Engine::kProduct};
      return {p.strided ? Engine::kReorderedCounted : Engine::kReordered};
    case ConvolutionKind::kBackwardFilter:
      // A product for each image, of which the sum is taken, while that takes not much more.
      if (product && Product(p.images, filter) <= operands + operands / 2)
        return {Engine::kProduct};
      return TileOfFilterGradient(p, chip);
  }
  return {Engine::kReordered};
}

// TF32, channels first.
uint64_t Tf32Workspace(const Problem& p, const Chip& chip) {
  if (p.small() && p.kind != ConvolutionKind::kBackwardFilter) return 0;

  uint64_t channels = p.channels;
  const bool gradient = p.kind != ConvolutionKind::kForward;
  const bool padded = gradient && channels % 4 != 0;  // four channels are read at a time
  if (padded) channels = RoundedUp(channels, 4);
  const uint64_t of_images = Product(p.images, p.bytes_each);
  const uint64_t image = Product(of_images, Product(channels, p.pixels));
  const uint64_t out = Product(of_images, Product(p.filters, p.out_pixels));
  const uint64_t filter = Product(Product(channels, p.filters), Product(p.window, p.bytes_each));
  if (padded && p.kind == ConvolutionKind::kBackwardFilter) {
    // Sums of parts of the image, as many as tiles of 64 x 128 leave room for.
    constexpr uint64_t kBlocks = 240;
    const uint64_t tiles = Product(Ceil(p.filters, 64), Ceil(Product(channels, p.window), 128));
    const uint64_t parts = kBlocks / std::max<uint64_t>(tiles, 1);
    return image + out + filter + (parts > 1 ? Product(parts, filter) : 0) + kAligned + 1 + kHead;
  }
  const uint64_t reordered_filter = p.pointwise() ? 0 : filter;
  const uint64_t reordered = image + out + reordered_filter + kHead;
  const Choice choice =
      padded || p.grouped || p.small() ? Choice{Engine::kReordered} : ChoiceOf(p, chip);
  switch (choice.engine) {
    case Engine::kProduct:
    case Engine::kProductOfBatch:
      return (gradient && p.kind == ConvolutionKind::kBackwardFilter ? Product(p.images, filter)
                                                                     : 0) +
             (choice.engine == Engine::kProductOfBatch ? kBatchParameters : 0);
    case Engine::kReordered:
      return reordered;
    case Engine::kReorderedCounted:
      return reordered + kAligned + sizeof(int);
    case Engine::kReorderedOperands:
      return image + filter + kHead;
    case Engine::kSegmented: {
      // Segments are what Hopper's engines do.
      if (chip.compute_capability < 90) return reordered;
      const bool of_filter = p.kind == ConvolutionKind::kBackwardFilter;
      const uint64_t positions = Product(p.images, p.out_pixels);
      const uint64_t elements = Product(p.channels, p.window);
      const Segments segments = SegmentsOf(p.filters, of_filter ? elements : positions,
                                           of_filter ? positions : elements, choice, chip);
      return reordered + SegmentBytes(segments, choice, chip);
    }
  }
  return reordered;
}

// 16 bits, channels first: eight channels are read at a time.
uint64_t NarrowWorkspace(const Problem& p) {
  const uint64_t channels = RoundedUp(p.channels, 8), filters = RoundedUp(p.filters, 8);
  const uint64_t of_images = Product(p.images, p.bytes_each);
  const uint64_t image = Product(of_images, Product(channels, p.pixels));
  const uint64_t out = Product(of_images, Product(filters, p.out_pixels));
  const uint64_t filter = p.pointwise() && channels == p.channels && filters == p.filters
                              ? 0
                              : Product(Product(channels, filters), p.window * p.bytes_each);
  // What the last 2 KiB are for is not known.
  constexpr uint64_t kOfFilterGradient = 2048;
  return image + out + filter + kHead +
         (p.kind == ConvolutionKind::kBackwardFilter ? kAligned + 1 + kOfFilterGradient : 0);
}

}  // namespace

double ConvolutionFlops(const Convolution& c) {
  double each = 2;  // w's dimensions behind the first: input channels of a group and the window
  for (int i = 1; i < std::min(c.filter.count, kMostDims); ++i)
    each *= static_cast<double>(Positive(c.filter.dims[i]));
  return each * static_cast<double>(c.out.elements());
}

Workspace ConvolutionWorkspace(const Convolution& c, const Chip& chip, bool tensor_cores) {
  const uint64_t bits = TypeBits(c.image.type);
  const bool narrow = bits <= 16;
  if (c.image.channels_last()) {
    // 16-bit filter gradients are summed up in fp32 before they are narrowed.
    return {c.kind == ConvolutionKind::kBackwardFilter && narrow ? Product(c.filter.elements(), 4)
                                                                 : 0};
  }
  if (!tensor_cores || bits > 32 || bits < 16) return {};
  if (!narrow && chip.compute_capability < 80) return {};  // TF32 needs 8.0
  const Problem p = ProblemOf(c);
  const bool measured = chip.compute_capability == 90 && p.plane && !p.grouped &&
                        (narrow ? c.kind != ConvolutionKind::kBackwardData
                                : !p.small() || c.kind != ConvolutionKind::kBackwardFilter);
  return {narrow ? NarrowWorkspace(p) : Tf32Workspace(p, chip), measured};
}

Workspace AttentionWorkspace(const Attention& attention, const Chip& chip) {
  // Hopper's kernels count their tiles. Of others nothing was read off a card.
  if (chip.compute_capability < 90) return {};
  constexpr uint64_t kCounters = 256;
  uint64_t bytes = kCounters;
  const Shape &q = attention.query, &k = attention.key, &v = attention.value;
  if (attention.backward && q.count == 4 && k.count == 4 && v.count == 4 &&
      (k.dims[1] != q.dims[1] || v.dims[1] != q.dims[1])) {
    // Query heads that share keys and values each make gradients of them, summed up afterwards.
    const uint64_t rows =
        Product(Product(Positive(q.dims[0]), Positive(q.dims[1])), Positive(k.dims[2]));
    bytes +=
        Product(Product(rows, Positive(k.dims[3]) + Positive(v.dims[3])), TypeBits(k.type)) / 8;
  }
  return {bytes, chip.compute_capability == 90};
}

}  // namespace vramscope::emulated::cudnn
