#include "ui/timeline/picture.h"

#include <QBuffer>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <cmath>

#include "profiler/base/i18n.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/raster/raster_renderer.h"
#include "ui/timeline/svg.h"

namespace vramscope::ui::timeline {
namespace {

constexpr int kPointsPerInch = 72;
// The resolution, in pixels per point, of the images in a PDF or SVG, which show very small blocks.
constexpr double kPdfScale = 2;

absl::StatusOr<std::string> Png(TimelineModel* model, RasterRenderer* renderer,
                                const ImageOptions& options) {
  DrawList list;
  model->BuildData(renderer->measure(), &list);
  QImage image(static_cast<int>(std::ceil(options.width * options.scale)),
               static_cast<int>(std::ceil(options.height * options.scale)), QImage::Format_RGB32);
  if (image.isNull())
    return absl::ResourceExhaustedError(
        i18n::Text("an image of this size does not fit into memory"));
  image.setDevicePixelRatio(options.scale);
  renderer->Render(list, &image);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!image.save(&buffer, "PNG"))
    return absl::InternalError(i18n::Text("the image could not be encoded"));
  return bytes.toStdString();
}

absl::StatusOr<std::string> Pdf(TimelineModel* model, RasterRenderer* renderer,
                                const ImageOptions& options) {
  DrawList list;
  model->BuildData(renderer->measure(), &list);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setCreator(QStringLiteral("vramscope"));
    writer.setTitle(QString::fromStdString(options.title));
    writer.setResolution(kPointsPerInch);  // so that one logical pixel is one point
    writer.setPageMargins({});
    writer.setPageSize(QPageSize(QSizeF(options.width, options.height), QPageSize::Point, QString(),
                                 QPageSize::ExactMatch));
    QPainter painter;
    if (!painter.begin(&writer))
      return absl::InternalError(i18n::Text("the PDF could not be created"));
    painter.fillRect(QRectF(0, 0, options.width, options.height),
                     QColor::fromRgba(model->state().theme.ground.argb()));
    renderer->Paint(list, &painter);
  }
  return bytes.toStdString();
}

std::string Svg(TimelineModel* model, RasterRenderer* renderer, const ImageOptions& options) {
  DrawList list;
  model->BuildData(renderer->measure(), &list);
  return SvgOf(list, renderer->measure(),
               {.width = options.width,
                .height = options.height,
                .ground = model->state().theme.ground,
                .title = options.title});
}

}  // namespace

absl::StatusOr<std::string> DrawImage(const std::shared_ptr<const TimelineData>& data,
                                      const ImageOptions& options) {
  for (const int side : {options.width, options.height})
    if (side < kMinImageSide || side > kMaxImageSide)
      return absl::InvalidArgumentError(
          i18n::Format("the image has a side of {} pixels; {} to {} are allowed", side,
                       kMinImageSide, kMaxImageSide));
  if (!(options.scale >= 0.5 && options.scale <= 4))
    return absl::InvalidArgumentError(
        i18n::Text("the scale of an image must be between 0.5 and 4"));
  if (data == nullptr || data->is_state())
    return absl::InvalidArgumentError(
        i18n::Text("the snapshot has no history, so there is no timeline to draw"));
  const double scale = options.format == ImageFormat::kPng ? options.scale : kPdfScale;
  TimelineModel model;
  model.SetAnimations(false);
  model.SetTheme(options.dark ? Theme::Dark() : Theme::Light());
  model.SetDeviceLimit(data->trace().info.device.memory_bytes);
  model.Resize(static_cast<float>(options.width), static_cast<float>(options.height), scale);
  model.SetData(data, false, 0);
  if (options.view) model.SetView(*options.view);
  RasterRenderer renderer(&model.crew());
  switch (options.format) {
    case ImageFormat::kPng:
      return Png(&model, &renderer, options);
    case ImageFormat::kPdf:
      return Pdf(&model, &renderer, options);
    case ImageFormat::kSvg:
      return Svg(&model, &renderer, options);
  }
  return absl::InternalError(i18n::Text("unknown image format"));
}

}  // namespace vramscope::ui::timeline
