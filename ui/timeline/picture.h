// Draws the timeline of a trace for a file: a PNG at any scale, or a PDF or SVG, in which curves,
// boxes and texts are vector shapes.
//
//   ASSIGN_OR_RETURN(std::string png, DrawImage(TimelineData::Build(trace),
//                                                 {.format = ImageFormat::kPng, .scale = 2}));
//
// Needs a QGuiApplication (for the fonts) but no display. Any thread.
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
  int width = 1680, height = 1050;  // logical pixels; points for a PDF
  double scale = 1;                 // of a PNG: device pixels per logical pixel
  bool dark = false;
  std::optional<Span> view = {};  // time from the trace's begin; nullopt: all
  std::string title = {};         // title of the PDF or SVG document
};
inline constexpr int kMinImageSide = 320, kMaxImageSide = 8192;

// Returns the file's bytes. kInvalidArgument means that the size is too small or too large, or that
// the trace is a snapshot without history. kInternal means that the image could not be encoded.
absl::StatusOr<std::string> DrawImage(const std::shared_ptr<const TimelineData>& data,
                                      const ImageOptions& options);

}  // namespace vramscope::ui::timeline
