#include "profiler/query/block_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "profiler/query/occupancy.h"
#include "profiler/query/pyramid.h"
#include "profiler/query/time_span.h"
#include "profiler/trace/packed_column.h"

namespace vramscope::query {
namespace {

constexpr size_t kBase = 16;     // blocks per bottom node
constexpr int kKeyBits = 20;     // bits of each coordinate in the sort key
constexpr float kFaint = 0.02f;  // cells with less coverage count as empty (rounding errors)
constexpr double kKeyMax = (1 << kKeyBits) - 1;
constexpr size_t kFewBlocks = 4096;  // with fewer blocks, queries read every block and need no map
constexpr int kOccupancyBits = 21;   // log2 of the number of cells of the finest maps
// Blocks of a group differ by at most a factor of 2^kClassBits in each dimension.
constexpr int kClassBits = 4;

struct Item {
  int64_t begin, end;
  uint64_t offset, bytes;
  uint32_t row;
};

// Stores items in packed columns. These compress well, because consecutive items are similar.
class Items {
 public:
  void Reserve(size_t n) {
    begin_.reserve(n);
    duration_.reserve(n);
    offset_.reserve(n);
    bytes_.reserve(n);
    row_.reserve(n);
  }
  void Add(const Item& i) {
    begin_.push_back(i.begin);
    duration_.push_back(Duration(i.begin, i.end));
    offset_.push_back(i.offset);
    bytes_.push_back(i.bytes);
    row_.push_back(i.row);
  }
  size_t size() const { return row_.size(); }
  Item operator[](size_t i) const {
    const int64_t begin = begin_[i];
    return {.begin = begin,
            .end = static_cast<int64_t>(static_cast<uint64_t>(begin) + duration_[i]),
            .offset = offset_[i],
            .bytes = bytes_[i],
            .row = row_[i]};
  }
  size_t MemoryBytes() const {
    return begin_.MemoryBytes() + duration_.MemoryBytes() + offset_.MemoryBytes() +
           bytes_.MemoryBytes() + row_.MemoryBytes();
  }

 private:
  trace::PackedColumn<int64_t> begin_;
  trace::PackedColumn<uint64_t> duration_, offset_, bytes_;
  trace::PackedColumn<uint32_t> row_;
};

// Summary of blocks that are near each other and have similar shapes.
struct Node {
  int64_t begin, end;
  uint64_t low, high;  // offsets on the packed address axis (AddressAxis)
  uint64_t min_duration, max_duration;
  uint64_t min_bytes, max_bytes;
  double area;  // sum of duration x bytes
  double largest_area;
  uint32_t largest;  // row of the block with the largest area
};

Node NodeOf(const Item& i) {
  // Every block lasts at least 1 ns, so that a block without duration is drawn, too.
  const uint64_t d = std::max<uint64_t>(1, Duration(i.begin, i.end));
  const double area = static_cast<double>(d) * static_cast<double>(i.bytes);
  return {.begin = i.begin,
          .end = std::max(i.end, i.begin == INT64_MAX ? i.begin : i.begin + 1),
          .low = i.offset,
          .high = i.offset + i.bytes,
          .min_duration = d,
          .max_duration = d,
          .min_bytes = i.bytes,
          .max_bytes = i.bytes,
          .area = area,
          .largest_area = area,
          .largest = i.row};
}

void Merge(Node& n, const Node& m) {
  n.begin = std::min(n.begin, m.begin);
  n.end = std::max(n.end, m.end);
  n.low = std::min(n.low, m.low);
  n.high = std::max(n.high, m.high);
  n.min_duration = std::min(n.min_duration, m.min_duration);
  n.max_duration = std::max(n.max_duration, m.max_duration);
  n.min_bytes = std::min(n.min_bytes, m.min_bytes);
  n.max_bytes = std::max(n.max_bytes, m.max_bytes);
  n.area += m.area;
  if (m.largest_area > n.largest_area) {
    n.largest_area = m.largest_area;
    n.largest = m.largest;
  }
}

// A packed R-tree. Items are in Z order of (begin, offset), and nodes summarize consecutive items.
struct Group {
  Items items;
  std::vector<Item> plain;  // the items while the index is built; empty afterwards
  Pyramid<Node> levels;

  size_t size() const { return plain.empty() ? items.size() : plain.size(); }
  Item At(size_t i) const { return plain.empty() ? items[i] : plain[i]; }
  void Build() {
    levels = BuildPyramid<Node>(
        size(), kBase, [this](size_t i) { return NodeOf(At(i)); }, Merge);
  }
  void Pack() {
    items.Reserve(plain.size());
    for (const Item& item : plain) items.Add(item);
    std::vector<Item>().swap(plain);  // frees the memory, too
  }
};

// Inserts a zero bit after each bit of v, which has kKeyBits bits.
uint64_t Spread(uint64_t v) {
  v = (v | v << 16) & 0x0000ffff0000ffffu;
  v = (v | v << 8) & 0x00ff00ff00ff00ffu;
  v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
  v = (v | v << 2) & 0x3333333333333333u;
  return (v | v << 1) & 0x5555555555555555u;
}

struct Keyed {
  uint64_t key;
  uint32_t row;
};

// Radix sort by key, stable, one byte per pass: three times as fast as std::sort for millions of
// rows.
void SortByKey(std::vector<Keyed>& rows, int bits) {
  std::vector<Keyed> other(rows.size());
  for (int shift = 0; shift < bits; shift += 8) {
    std::array<size_t, 257> start{};
    for (const Keyed& k : rows) ++start[(k.key >> shift & 0xff) + 1];
    if (std::find(start.begin(), start.end(), rows.size()) != start.end())
      continue;  // all keys have the same byte here
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    for (const Keyed& k : rows) other[start[k.key >> shift & 0xff]++] = k;
    rows.swap(other);
  }
}

int ClassOf(uint64_t value) { return static_cast<int>(std::bit_width(value)) / kClassBits; }

class BlockQuery {
 public:
  BlockQuery(int64_t begin, int64_t end, uint64_t low, uint64_t high, int width, int height,
             const BlockIndex::Options& options)
      : begin_(begin), end_(end), low_(low), high_(high) {
    view.cell_px = std::max(1, options.cell_px);
    view.grid_columns = (width + view.cell_px - 1) / view.cell_px;
    view.grid_rows = (height + view.cell_px - 1) / view.cell_px;
    view.cells.resize(static_cast<size_t>(view.grid_columns) * static_cast<size_t>(view.grid_rows));
    best_.resize(view.cells.size());
    const double ns_per_px = (static_cast<double>(end) - static_cast<double>(begin)) / width;
    const double bytes_per_px = static_cast<double>(high - low) / height;
    min_ns_ = options.min_rect_px * ns_per_px;
    min_bytes_ = options.min_rect_px * bytes_per_px;
    cell_ns_ = ns_per_px * view.cell_px;
    cell_bytes_ = bytes_per_px * view.cell_px;
    cells_per_ns_ = 1.0 / cell_ns_;
    cells_per_byte_ = 1.0 / cell_bytes_;
  }

  // Call it to compute only rectangles. FillGrid() then fills the grid.
  void SkipSmall() { skip_small_ = true; }

  // Fills the grid from the map, minus the area that the rectangles cover.
  void FillGrid(const OccupancyMap& map, const OccupancyWindow& window) {
    map.Sample(window, view.grid_columns, view.grid_rows,
               [this](int x, int y, float coverage, uint32_t largest) {
                 view.cells[At(x, y)] = {.coverage = coverage, .largest = largest};
               });
    for (const BlockRect& r : view.rects) {
      const Box box = BoxOf(r.begin_ns, r.end_ns, r.offset, r.offset + r.bytes);
      ForEachCell(box, [this](size_t cell, double part) {
        float& coverage = view.cells[cell].coverage;
        coverage -= static_cast<float>(part);
        if (coverage < kFaint) coverage = 0;
      });
    }
  }

  void Visit(const Group& g, size_t level, size_t index) {
    const Node& n = g.levels[level][index];
    if (n.end <= begin_ || n.begin >= end_ || n.high <= low_ || n.low >= high_) return;
    const bool small = IsSmall(n.max_duration, n.max_bytes);
    if (small && skip_small_) return;
    if (small && IsCompact(n)) {
      Splat(n);
    } else if (level > 0) {
      Visit(g, level - 1, 2 * index);
      if (2 * index + 1 < g.levels[level - 1].size()) Visit(g, level - 1, 2 * index + 1);
    } else {
      const size_t last = std::min(g.size(), (index + 1) * kBase);
      for (size_t i = index * kBase; i < last; ++i) VisitItem(g.At(i));
    }
  }

  BlockView view;

 private:
  bool IsSmall(uint64_t duration, uint64_t bytes) const {
    return static_cast<double>(duration) < min_ns_ || static_cast<double>(bytes) < min_bytes_;
  }
  // Whether the node's box describes its blocks well enough. In each dimension, either the box is
  // not larger than a cell, or every block is at least half as large as the box.
  bool IsCompact(const Node& n) const {
    const double ns = static_cast<double>(Duration(n.begin, n.end));
    const double bytes = static_cast<double>(n.high - n.low);
    return (ns <= cell_ns_ || 2.0 * static_cast<double>(n.min_duration) >= ns) &&
           (bytes <= cell_bytes_ || 2.0 * static_cast<double>(n.min_bytes) >= bytes);
  }
  void VisitItem(const Item& i) {
    const Node n = NodeOf(i);
    if (n.end <= begin_ || n.begin >= end_ || n.high <= low_ || n.low >= high_) return;
    if (IsSmall(n.max_duration, n.max_bytes)) {
      if (!skip_small_) Splat(n);
    } else {
      view.rects.push_back({i.row, i.begin, i.end, i.offset, i.bytes});
    }
  }

  // A box clipped to the window. Its coordinates are in cells, from the window's corner.
  struct Box {
    double x0, x1, y0, y1;
  };
  Box BoxOf(int64_t begin, int64_t end, uint64_t low, uint64_t high) const {
    const auto x = [this](int64_t t) {
      return (static_cast<double>(t) - static_cast<double>(begin_)) * cells_per_ns_;
    };
    return {
        .x0 = std::max(0.0, x(begin)),
        .x1 = std::min<double>(view.grid_columns, x(end)),
        .y0 = low <= low_ ? 0.0 : static_cast<double>(low - low_) * cells_per_byte_,
        .y1 = std::min<double>(view.grid_rows, static_cast<double>(high - low_) * cells_per_byte_)};
  }
  size_t At(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(view.grid_columns) + static_cast<size_t>(x);
  }
  // Calls visit(cell, fraction) for each cell in the box, with the fraction of the cell that is
  // inside.
  template <class Visit>
  void ForEachCell(const Box& box, Visit visit) const {
    const int left = std::min(static_cast<int>(box.x0), view.grid_columns - 1);
    const int right = std::min(static_cast<int>(box.x1), view.grid_columns - 1);
    const int bottom = std::min(static_cast<int>(box.y0), view.grid_rows - 1);
    const int top = std::min(static_cast<int>(box.y1), view.grid_rows - 1);
    for (int y = bottom; y <= top; ++y) {
      const double h = std::min<double>(y + 1, box.y1) - std::max<double>(y, box.y0);
      if (!(h > 0)) continue;
      const size_t line = At(0, y);
      const auto edge = [&](int x) {
        const double w = std::min<double>(x + 1, box.x1) - std::max<double>(x, box.x0);
        if (w > 0) visit(line + static_cast<size_t>(x), w * h);
      };
      edge(left);
      for (int x = left + 1; x < right; ++x) visit(line + static_cast<size_t>(x), h);
      if (right > left) edge(right);
    }
  }
  // Spreads the node's area evenly over its box.
  void Splat(const Node& n) {
    const double density = std::min(1.0, n.area / (static_cast<double>(Duration(n.begin, n.end)) *
                                                   static_cast<double>(n.high - n.low)));
    ForEachCell(BoxOf(n.begin, n.end, n.low, n.high), [&](size_t cell, double part) {
      const auto covered = static_cast<float>(part * density);
      view.cells[cell].coverage = std::min(1.0f, view.cells[cell].coverage + covered);
      if (covered > best_[cell]) {
        best_[cell] = covered;
        view.cells[cell].largest = n.largest;
      }
    });
  }

  int64_t begin_, end_;
  uint64_t low_, high_;
  double min_ns_, min_bytes_, cell_ns_, cell_bytes_, cells_per_ns_, cells_per_byte_;
  bool skip_small_ = false;
  std::vector<float> best_;  // area covered by the largest block of each cell
};

void FindAt(const Group& g, size_t level, size_t index, int64_t time, uint64_t offset,
            std::optional<uint32_t>& found) {
  const Node& n = g.levels[level][index];
  if (found || time < n.begin || time >= n.end || offset < n.low || offset >= n.high) return;
  if (level > 0) {
    FindAt(g, level - 1, 2 * index, time, offset, found);
    if (2 * index + 1 < g.levels[level - 1].size()) {
      FindAt(g, level - 1, 2 * index + 1, time, offset, found);
    }
    return;
  }
  const size_t last = std::min(g.size(), (index + 1) * kBase);
  for (size_t i = index * kBase; i < last; ++i) {
    const Item item = g.At(i);
    if (time >= item.begin && time < item.end && offset >= item.offset &&
        offset - item.offset < item.bytes) {
      found = item.row;
      return;
    }
  }
}

}  // namespace

struct BlockIndex::Impl {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<Group> groups;
  uint64_t top = 0;    // end of the address axis
  int64_t end_ns = 0;  // end of the drawn time, and of blocks that are never freed
  OccupancyMap occupancy;

  // Returns one query per occupancy map, over all times and addresses. The maps differ in the shape
  // of their cells: some suit windows that are narrow in time, others windows narrow in addresses.
  std::vector<BlockQuery> OccupancyQueries() const {
    std::vector<BlockQuery> queries;
    const size_t blocks = trace->allocations.size();
    if (blocks < kFewBlocks || top == 0 || trace->begin_ns() >= end_ns) return queries;
    const int bits = std::min(kOccupancyBits, static_cast<int>(std::bit_width(blocks)) + 2);
    for (int row_bits : {7, 9, 11})
      queries.emplace_back(
          trace->begin_ns(), end_ns, 0, top, 1 << (bits - row_bits), 1 << row_bits,
          BlockIndex::Options{.min_rect_px = std::numeric_limits<double>::infinity(),
                              .cell_px = 1});
    return queries;
  }

  void AddOccupancy(const BlockQuery& query) {
    OccupancyLevel level{.columns = query.view.grid_columns,
                         .rows = query.view.grid_rows,
                         .coverage = {},
                         .largest = {}};
    level.coverage.reserve(query.view.cells.size());
    level.largest.reserve(query.view.cells.size());
    for (const BlockCell& c : query.view.cells) {
      level.coverage.push_back(static_cast<uint8_t>(std::ceil(c.coverage * 255.0f)));
      level.largest.push_back(c.largest);
    }
    occupancy.Add(std::move(level));
  }
};

BlockIndex::BlockIndex(std::shared_ptr<const trace::Trace> trace, const AddressAxis& axis)
    : impl_(std::make_unique<Impl>()) {
  impl_->trace = std::move(trace);
  impl_->end_ns = axis.end_ns();
  const trace::Trace& t = *impl_->trace;
  const trace::AllocationTable& a = t.allocations;
  const double begin = static_cast<double>(t.begin_ns());
  const double per_ns =
      kKeyMax / std::max(1.0, static_cast<double>(Duration(t.begin_ns(), impl_->end_ns)));
  const double per_byte = kKeyMax / std::max(1.0, static_cast<double>(axis.size()));
  const auto end_of = [&](uint32_t row) {
    return a.free_event[row] == trace::kNoEvent ? impl_->end_ns : a.end_ns[row];
  };
  const auto key_part = [](double v) { return static_cast<uint64_t>(std::clamp(v, 0.0, kKeyMax)); };

  std::map<std::pair<int, int>, std::vector<Keyed>> by_shape;
  for (uint32_t row = 0; row < a.size(); ++row) {
    const uint64_t offset = axis.OffsetOf({row});
    const uint64_t duration = Duration(a.begin_ns[row], end_of(row));
    const uint64_t key = Spread(key_part((static_cast<double>(a.begin_ns[row]) - begin) * per_ns)) |
                         Spread(key_part(static_cast<double>(offset) * per_byte)) << 1;
    by_shape[{ClassOf(duration), ClassOf(a.bytes_rounded[row])}].push_back({key, row});
  }
  impl_->top = axis.size();
  std::vector<BlockQuery> occupancy = impl_->OccupancyQueries();
  for (auto& [shape, rows] : by_shape) {
    SortByKey(rows, 2 * kKeyBits);
    Group g;
    g.plain.reserve(rows.size());
    for (const Keyed& k : rows) {
      g.plain.push_back({a.begin_ns[k.row], end_of(k.row), axis.OffsetOf({k.row}),
                         a.bytes_rounded[k.row], k.row});
    }
    std::vector<Keyed>().swap(rows);
    g.Build();
    for (BlockQuery& query : occupancy) query.Visit(g, g.levels.size() - 1, 0);
    g.Pack();
    impl_->groups.push_back(std::move(g));
  }
  for (const BlockQuery& query : occupancy) impl_->AddOccupancy(query);
}

BlockIndex::~BlockIndex() = default;
BlockIndex::BlockIndex(BlockIndex&&) noexcept = default;
BlockIndex& BlockIndex::operator=(BlockIndex&&) noexcept = default;

BlockView BlockIndex::Query(int64_t begin_ns, int64_t end_ns, uint64_t offset_begin,
                            uint64_t offset_end, int width_px, int height_px,
                            const Options& options) const {
  if (begin_ns >= end_ns || offset_begin >= offset_end || width_px <= 0 || height_px <= 0) {
    return {};
  }
  BlockQuery query(begin_ns, end_ns, offset_begin, offset_end, width_px, height_px, options);
  const trace::Trace& t = *impl_->trace;
  OccupancyWindow window;
  bool far = false;
  if (!impl_->occupancy.empty()) {
    const double begin = static_cast<double>(t.begin_ns());
    const double span = static_cast<double>(Duration(t.begin_ns(), impl_->end_ns));
    const double top = static_cast<double>(impl_->top);
    window = {.left = (static_cast<double>(begin_ns) - begin) / span,
              .right = (static_cast<double>(end_ns) - begin) / span,
              .bottom = static_cast<double>(offset_begin) / top,
              .top = static_cast<double>(offset_end) / top};
    const double part = std::max(0.0, std::min(1.0, window.right) - std::max(0.0, window.left)) *
                        std::max(0.0, std::min(1.0, window.top) - window.bottom);
    far = part * static_cast<double>(t.allocations.size()) >
          static_cast<double>(options.max_exact_blocks);
  }
  if (far) query.SkipSmall();
  for (const Group& g : impl_->groups) query.Visit(g, g.levels.size() - 1, 0);
  if (far) query.FillGrid(impl_->occupancy, window);
  return std::move(query.view);
}

std::optional<trace::AllocationId> BlockIndex::At(int64_t time_ns, uint64_t offset) const {
  std::optional<uint32_t> found;
  for (const Group& g : impl_->groups) {
    FindAt(g, g.levels.size() - 1, 0, time_ns, offset, found);
    if (found) return trace::AllocationId{*found};
  }
  return std::nullopt;
}

size_t BlockIndex::MemoryBytes() const {
  size_t bytes = impl_->occupancy.MemoryBytes();
  for (const Group& g : impl_->groups) {
    bytes += g.items.MemoryBytes();
    for (const auto& level : g.levels) bytes += level.capacity() * sizeof(Node);
  }
  return bytes;
}

}  // namespace vramscope::query
