// Exports reports, images and tables of the shown run.
#include <QFileInfo>
#include <algorithm>
#include <ostream>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/exporters/exporter.h"
#include "ui/panels/qt_theme.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/picture.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

constexpr double kPictureScale = 2;

}  // namespace

void MainWindow::ExportReportDialog() {
  const QString suffix = QStringLiteral("html");
  const QString path =
      AskForSaveName(tr("Export a report"), tr("Web page (*.html)"), suffix, proposedName(suffix));
  if (!path.isEmpty()) exportAs(path);
}

void MainWindow::ExportImageDialog() {
  const QString suffix = QStringLiteral("png");
  const QString path = AskForSaveName(
      tr("Export an image"),
      tr("Timeline as PNG (*.png);;Timeline as SVG (*.svg);;Timeline as PDF (*.pdf)"), suffix,
      proposedName(suffix));
  if (!path.isEmpty()) exportAs(path);
}

void MainWindow::exportAs(const QString& path) {
  if (session().shown() == nullptr) return;
  const QString suffix = QFileInfo(path).suffix().toLower();
  const std::string title = session().shown()->name;
  const std::string kind =
      suffix == QLatin1String("htm") ? std::string("html") : suffix.toStdString();
  const auto& all = exporters::AllExporters();
  if (const auto exporter = std::ranges::find(all, kind, &exporters::ExporterEntry::suffix);
      exporter != all.end()) {
    // The request shares the ownership of the trace, so the trace exists until the export ends.
    exporters::ExportRequest request{.trace = session().shown()->trace, .title = title};
    if (session().baseline() != nullptr && session().baseline() != session().shown()) {
      request.baseline = session().baseline()->trace;
      request.baseline_title = session().baseline()->name;
    }
    return WriteFile(
        path, [request, write = exporter->write](const trace::Trace&, std::ostream& out) {
          const i18n::InEnglish english;  // because the report's headings are English too
          return write(request, out);
        });
  }
  if (suffix == QLatin1String("png") || suffix == QLatin1String("pdf") ||
      suffix == QLatin1String("svg")) {
    timeline::ImageOptions picture = timeline_->imageOptions();
    picture.format = suffix == QLatin1String("pdf")   ? timeline::ImageFormat::kPdf
                     : suffix == QLatin1String("svg") ? timeline::ImageFormat::kSvg
                                                      : timeline::ImageFormat::kPng;
    picture.scale = kPictureScale;
    picture.title = title;
    return WriteFile(path,
                     [picture, data = timeline_->data()](const trace::Trace&, std::ostream& out) {
                       const absl::StatusOr<std::string> bytes = timeline::DrawImage(data, picture);
                       if (bytes.ok()) out << *bytes;
                       return bytes.status();
                     });
  }
  exportChrome(path);
}

}  // namespace vramscope::ui
