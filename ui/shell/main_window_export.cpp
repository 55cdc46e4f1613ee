// Reports, pictures and tables of what is shown, as files.
#include <QFileInfo>
#include <ostream>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/exporters/csv.h"
#include "profiler/exporters/html_report.h"
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

void MainWindow::ExportPictureDialog() {
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
  if (suffix == QLatin1String("html") || suffix == QLatin1String("htm")) {
    exporters::HtmlReportOptions report{.title = title};
    if (session().baseline() != nullptr && session().baseline() != session().shown()) {
      report.baseline = session().baseline()->trace;
      report.baseline_title = session().baseline()->name;
    }
    // By pointer, for the exporter keeps it while it reads.
    return WriteFile(
        path, [report, trace = session().shown()->trace](const trace::Trace&, std::ostream& out) {
          const i18n::InEnglish english;  // as its headings, and as the command line writes it
          out << exporters::HtmlReport(trace, report);
          return absl::OkStatus();
        });
  }
  if (suffix == QLatin1String("csv"))
    return WriteFile(path, [](const trace::Trace& trace, std::ostream& out) {
      return exporters::WriteCsv(trace, out);
    });
  if (suffix == QLatin1String("png") || suffix == QLatin1String("pdf") ||
      suffix == QLatin1String("svg")) {
    timeline::PictureOptions picture = timeline_->pictureOptions();
    picture.format = suffix == QLatin1String("pdf")   ? timeline::PictureFormat::kPdf
                     : suffix == QLatin1String("svg") ? timeline::PictureFormat::kSvg
                                                      : timeline::PictureFormat::kPng;
    picture.scale = kPictureScale;
    picture.title = title;
    return WriteFile(
        path, [picture, data = timeline_->data()](const trace::Trace&, std::ostream& out) {
          const absl::StatusOr<std::string> bytes = timeline::DrawPicture(data, picture);
          if (bytes.ok()) out << *bytes;
          return bytes.status();
        });
  }
  exportChrome(path);
}

}  // namespace vramscope::ui
