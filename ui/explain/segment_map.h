// The layout of segments and their blocks in the segment map. All segments have the same scale.
// They are placed in rows: small segments share a row, and a large segment takes several rows. Each
// pool begins a new row for each of its streams. Does not use Qt.
//
//   SegmentMap map(explain::SegmentsAt(*trace, event), width, height);
//   for (const SegmentMap::Piece& p : map.pieces()) Fill(p.rect, ...);
//   map.At(x, y);
//
// Immutable; plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/explain/explain.h"
#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui {

class SegmentMap {
 public:
  using Rect = timeline::Rect;
  struct Piece {
    Rect rect;
    uint32_t segment = 0;  // index in segments()
    uint32_t piece = 0;    // index in its pieces
  };
  struct Outline {  // the part of a segment's outline that is in one row
    Rect rect;
    uint32_t segment = 0;
    bool begins = false, ends = false;
  };
  struct Title {
    Rect rect;
    std::string text;  // "large pool · stream 0 · 12 segments · 1.25 GiB, 0.31 GiB free"
  };
  struct Hit {
    uint32_t segment = 0, piece = 0;
  };

  SegmentMap() = default;
  // If `bytes_per_row` is 0, a scale is chosen at which all segments fit into the height, unless
  // rows would have so many bytes that they are not readable. `owners` has the names for the titles
  // of private pools.
  SegmentMap(std::vector<explain::SegmentView> segments, float width, float height,
             uint64_t bytes_per_row = 0, std::vector<explain::PoolOwner> owners = {});

  const std::vector<explain::SegmentView>& segments() const { return segments_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  const std::vector<Outline>& outlines() const { return outlines_; }
  const std::vector<Title>& titles() const { return titles_; }
  float height() const { return height_; }  // total height; may be more than the view's
  uint64_t bytes_per_row() const { return bytes_per_row_; }
  std::optional<Hit> At(double x, double y) const;
  // Returns the rectangles of an allocation, or none if it is not in the map.
  std::vector<Rect> RectsOf(trace::AllocationId allocation) const;

 private:
  void Place(float width, bool draw);
  std::string TitleOf(std::span<const explain::SegmentView> group) const;
  std::vector<explain::SegmentView> segments_;
  std::vector<explain::PoolOwner> owners_;
  std::vector<Piece> pieces_;  // sorted from top to bottom, then from left to right
  std::vector<Outline> outlines_;
  std::vector<Title> titles_;
  float height_ = 0;
  uint64_t bytes_per_row_ = 1;
};

}  // namespace vramscope::ui
