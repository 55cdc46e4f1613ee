// Draws the timeline of a trace for a file: a PNG at any scale, or a PDF or SVG. In a PDF or SVG,
// curves, boxes and texts are vector shapes.
//
//   ASSIGN_OR_RETURN(std::string png, DrawImage(TimelineData::Build(trace),
//                                                 {.format = ImageFormat::kPng, .scale = 2}));
//
// Needs a QGuiApplication (for the fonts) but no display. May be called on any thread.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/model/viewport.h"

namespace vramscope::ui::timeline {

enum class ImageFormat : uint8_t { kPng, kPdf, kSvg };

struct ImageOptions {
  ImageFormat format = ImageFormat::kPng;
  int width = 1680, height = 1050;  // in logical pixels; for a PDF, in points
  double scale = 1;                 // of a PNG: device pixels per logical pixel
  bool dark = false;
  std::optional<Span> view = {};  // times since the trace's begin; nullopt: the whole trace
  std::string title = {};         // title of the PDF or SVG document
};
inline constexpr int kMinImageSide = 320, kMaxImageSide = 8192;

// Returns the file's bytes. Returns kInvalidArgument if the size is too small or too large, or if
// the trace is a snapshot without history. Returns kInternal if the image could not be encoded.
absl::StatusOr<std::string> DrawImage(const std::shared_ptr<const TimelineData>& data,
                                      const ImageOptions& options);

}  // namespace vramscope::ui::timeline
