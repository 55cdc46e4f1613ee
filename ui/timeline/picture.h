// The whole of a trace's timeline as a file: a PNG at any scale, or a PDF or SVG whose curves,
// boxes and texts stay sharp.
//
//   ASSIGN_OR_RETURN(std::string png, DrawPicture(TimelineData::Build(trace),
//                                                 {.format = PictureFormat::kPng, .scale = 2}));
//
// Needs a QGuiApplication (for the fonts), no display. Any thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/model/viewport.h"

namespace vramscope::ui::timeline {

enum class PictureFormat : uint8_t { kPng, kPdf, kSvg };

struct PictureOptions {
  PictureFormat format = PictureFormat::kPng;
  int width = 1680, height = 1050;  // logical pixels; of a PDF points
  double scale = 1;                 // of a PNG: device pixels a logical one
  bool dark = false;
  std::optional<Span> view = {};  // of time, from the trace's begin; none: all
  std::string title = {};         // of a PDF's or SVG's document
};
inline constexpr int kLeastPicture = 320, kMostPicture = 8192;

// The file's bytes. kInvalidArgument: a size that is too small or too large, a trace that has no
// timeline (a state); kInternal: the picture could not be encoded.
absl::StatusOr<std::string> DrawPicture(const std::shared_ptr<const TimelineData>& data,
                                        const PictureOptions& options);

}  // namespace vramscope::ui::timeline
