#include "ui/panels/gpu_bar.h"

#include <QJsonObject>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/panels/form_widgets.h"
#include "ui/panels/legend.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using explain::DeviceMemory;
using What = DeviceMemory::What;

constexpr int kHeight = 12;

timeline::Color ColorOf(What what, const timeline::Theme& theme) {
  switch (what) {
    case What::kRequested:
    case What::kBlocks:
      return theme.accent;
    case What::kRounding:
      return timeline::Mix(theme.accent, theme.text, 0.4);
    case What::kHoles:
      return timeline::Mix(theme.accent, theme.panel, 0.45);
    case What::kCached:
    case What::kUnplaced:
      return timeline::Mix(theme.accent, theme.panel, 0.7);
    case What::kLibraries:
      return theme.category(trace::Category::kWorkspace);
    case What::kCommunication:
      return theme.category(trace::Category::kCommunication);
    case What::kContext:
      return theme.dim;
    case What::kOtherProcesses:
      return theme.warning;
    case What::kDriver:
      return timeline::Mix(theme.dim, theme.panel, 0.5);
    case What::kRemainder:
      return theme.bad;
  }
  return theme.text;
}

QString Bytes(int64_t bytes) {
  const auto size = static_cast<uint64_t>(bytes < 0 ? -bytes : bytes);
  return (bytes < 0 ? QStringLiteral("−") : QString()) +
         QString::fromStdString(timeline::FormatBytes(size));
}

}  // namespace

class GpuBar::Bar : public QWidget {
 public:
  explicit Bar(GpuBar* of) : of_(of) {
    setFixedHeight(kHeight);
    setMouseTracking(true);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.fillRect(rect(), ToQColor(of_->theme_.raised));
    Each([&](const DeviceMemory::Part& part, double left, double right) {
      painter.fillRect(QRectF(left, 0, std::max(right - left - 1, 1.0), height()),
                       ToQColor(ColorOf(part.what, of_->theme_)));
      return true;
    });
  }
  void mouseMoveEvent(QMouseEvent* event) override {
    QString text = GpuBar::tr("free: %1")
                       .arg(Bytes(static_cast<int64_t>(of_->memory_.total) -
                                  std::max<int64_t>(0, of_->memory_.used)));
    if (of_->memory_.total == 0) text.clear();
    Each([&](const DeviceMemory::Part& part, double left, double right) {
      const double x = event->position().x();
      if (x < left || x >= right) return true;
      text = QStringLiteral("%1: %2 (%3)\n%4")
                 .arg(ToQString(explain::Name(part.what)), Bytes(part.bytes),
                      ToQString(explain::Name(part.source)), ToQString(part.about));
      return false;
    });
    QToolTip::showText(event->globalPosition().toPoint(), text, this);
  }

 private:
  // Calls use(part, left, right) for each part that has bytes, until `use` returns false.
  template <class Use>
  void Each(const Use& use) const {
    const DeviceMemory& m = of_->memory_;
    const double whole = std::max({1.0, static_cast<double>(m.total), static_cast<double>(m.used)});
    double x = 0;
    for (const DeviceMemory::Part& part : m.parts) {
      if (part.bytes <= 0) continue;
      const double right = x + static_cast<double>(part.bytes) / whole * width();
      if (!use(part, x, right)) return;
      x = right;
    }
  }
  GpuBar* of_;
};

GpuBar::GpuBar(QWidget* parent) : QWidget(parent), theme_(timeline::Theme::Dark()) {
  setObjectName(QStringLiteral("cardBar"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 2, 0, 2);
  column->setSpacing(5);
  caption_ = new ElidedLabel(LabelRole::kGroup);
  bar_ = new Bar(this);
  legend_ = new Legend;
  column->addWidget(caption_);
  column->addWidget(bar_);
  column->addWidget(legend_);
}

void GpuBar::set(const DeviceMemory& memory, const timeline::Theme& theme) {
  memory_ = memory;
  theme_ = theme;
  setVisible(!memory.parts.empty());
  caption_->setFullText(
      memory.of_host     ? tr("Host memory: %1").arg(Bytes(memory.used))
      : memory.total > 0 ? tr("GPU memory: %1 of %2")
                               .arg(Bytes(memory.used), Bytes(static_cast<int64_t>(memory.total)))
                         : tr("GPU memory: %1").arg(Bytes(memory.used)));
  std::vector<Legend::Entry> entries;
  for (const DeviceMemory::Part& part : memory.parts) {
    if (part.bytes == 0) continue;  // a red line "not accounted for 0 B" would look like an error
    entries.emplace_back(
        ColorOf(part.what, theme),
        QStringLiteral("%1 %2").arg(ToQString(explain::Name(part.what)), Bytes(part.bytes)));
  }
  legend_->set(std::move(entries), theme);
  bar_->update();
}

QJsonArray GpuBar::dumpState() const {
  QJsonArray parts;
  for (const DeviceMemory::Part& part : memory_.parts)
    parts.append(QJsonObject{{"name", ToQString(explain::Name(part.what))},
                             {"bytes", static_cast<double>(part.bytes)},
                             {"source", ToQString(explain::Name(part.source))}});
  return parts;
}

}  // namespace vramscope::ui
