#include "ui/shell/header_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/run_panel.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr double kGiB = 1073741824.0;
// A plan's reserved bytes are held to within one segment of a recorded run; what comes from the
// large pool's common segment has this size (c10/cuda/CUDACachingAllocator.cpp, kLargeBuffer).
constexpr double kSegmentBytes = 20.0 * 1048576;

QString GiB(double bytes, int digits = 2) { return QString::number(bytes / kGiB, 'f', digits); }

QString Millions(uint64_t count) {
  if (count >= 1'000'000'000)
    return QStringLiteral("%1 B").arg(static_cast<double>(count) / 1e9, 0, 'f', 2);
  if (count >= 1'000'000)
    return QStringLiteral("%1 M").arg(std::lround(static_cast<double>(count) / 1e6));
  return QString::number(count);
}

QString OptimizerText(const run::OptimizerConfig& optimizer) {
  switch (optimizer.name) {
    case run::OptimizerName::kAdam:
      return QStringLiteral("Adam");
    case run::OptimizerName::kAdamW:
      return QStringLiteral("AdamW");
    case run::OptimizerName::kSgd:
      return optimizer.momentum > 0 ? QStringLiteral("SGD + momentum") : QStringLiteral("SGD");
  }
  return {};
}

void SetChip(QToolButton* chip, const QString& text, const char* tone, const QString& tip) {
  chip->setText(text);
  chip->setVisible(!text.isEmpty());
  chip->setToolTip(tip);
  chip->setProperty("tone", QString::fromLatin1(tone));
  chip->style()->unpolish(chip);
  chip->style()->polish(chip);
}

}  // namespace

ChipTexts MakeChipTexts(const Digest& digest) {
  const trace::TraceInfo& info = digest.trace->info;
  const analysis::Summary& summary = digest.summary;
  ChipTexts out;
  out.title = QString::fromStdString(info.model.name.empty() ? info.title : info.model.name);
  QStringList parts;
  if (info.model.layers > 0) parts << QObject::tr("%1 layers").arg(info.model.layers);
  if (info.model.parameter_count > 0) parts << Millions(info.model.parameter_count);
  if (info.has_config) {
    QString batch = QObject::tr("batch %1 × %2").arg(info.config.batch).arg(info.config.seq);
    if (info.config.micro_batches > 1)
      batch += QObject::tr(" × %1 passes").arg(info.config.micro_batches);
    parts << batch << OptimizerText(info.config.optimizer);
  }
  out.subtitle = parts.join(QStringLiteral(" · "));

  out.backend = QStringLiteral("%1 · %2").arg(
      ToQString(trace::Name(info.backend)),
      info.measured ? QObject::tr("measured") : QObject::tr("modelled"));
  out.backend_tip = info.measured
                        ? QObject::tr("Sizes and times were measured while the step ran.")
                        : QObject::tr(
                              "Nothing was computed: sizes are what PyTorch asks for, times "
                              "come from a roofline model of the device.");
  if (info.device.memory_bytes > 0) out.device = ShortDeviceName(info.device);
  const double peak = static_cast<double>(summary.peak.allocated);
  const double reserved = static_cast<double>(summary.peak.reserved);
  out.peak = QObject::tr("peak %1 GiB").arg(GiB(peak));
  if (summary.peak.reserved > 0) {
    out.reserved = QObject::tr("reserved %1").arg(GiB(reserved));
    if (info.measured) {
      out.reserved += QObject::tr(" GiB");
    } else {
      out.reserved += QObject::tr(" ±%1").arg(GiB(kSegmentBytes));
      out.reserved_tip =
          QObject::tr(
              "%1 bytes held by the caching allocator at most; a plan is within one 20 MiB "
              "segment of a recorded run.")
              .arg(QString::fromStdString(timeline::FormatCount(summary.peak.reserved)));
    }
  }
  if (info.device.memory_bytes > 0 && summary.peak.reserved > 0) {
    out.does_fit = summary.fits;
    const double free = static_cast<double>(summary.headroom_bytes);
    out.fits = summary.fits ? QObject::tr("fits, %1 GiB free").arg(GiB(free, 1))
                            : QObject::tr("%1 GiB too much").arg(GiB(-free, 1));
    out.fits_tip =
        QObject::tr(
            "%1 GiB of the card − %2 GiB for the CUDA context and libraries − %3 GiB reserved")
            .arg(GiB(static_cast<double>(info.device.memory_bytes)),
                 GiB(static_cast<double>(info.device.context_bytes)), GiB(reserved));
  }
  return out;
}

HeaderBar::HeaderBar(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("header"));
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(44);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(15, 0, 12, 0);
  line->setSpacing(10);
  title_ = MakeLabel({}, LabelRole::kBold);
  QFont font = PanelFont(timeline::Font::kBodyBold);
  font.setPixelSize(15);
  title_->setFont(font);
  subtitle_ = new ElidedLabel(LabelRole::kDim);
  subtitle_->setFont(PanelFont(timeline::Font::kBody));
  subtitle_->setMinimumWidth(60);
  subtitle_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  line->addWidget(title_);
  line->addWidget(subtitle_, 100);
  line->addSpacing(12);
  backend_ = AddChip(line, QStringLiteral("backend"));
  device_ = AddChip(line, QStringLiteral("device"));
  peak_ = AddChip(line, QStringLiteral("peak"));
  reserved_ = AddChip(line, QStringLiteral("reserved"));
  fits_ = AddChip(line, QStringLiteral("fits"));
  line->addStretch(1);
  busy_ = MakeLabel({}, LabelRole::kDim);
  line->addWidget(busy_);
  auto* commands = new QToolButton;
  commands->setProperty("role", "quiet");
  commands->setText(tr("Ctrl+K commands"));
  commands->setFont(PanelFont(timeline::Font::kSmall));
  connect(commands, &QToolButton::clicked, this, &HeaderBar::commandsClicked);
  line->addWidget(commands);
}

QToolButton* HeaderBar::AddChip(QHBoxLayout* line, const QString& name) {
  auto* chip = new QToolButton;
  chip->setObjectName(QStringLiteral("chip-") + name);
  chip->setProperty("role", "chip");
  chip->setFont(PanelFont(timeline::Font::kSmallBold));
  chip->setCursor(Qt::PointingHandCursor);
  chip->hide();
  connect(chip, &QToolButton::clicked, this, [this, name] { Q_EMIT chipClicked(name); });
  line->addWidget(chip);
  return chip;
}

void HeaderBar::setTexts(const ChipTexts& texts) {
  title_->setText(texts.title);
  subtitle_->setFullText(texts.subtitle);
  subtitle_->setMaximumWidth(subtitle_->fontMetrics().horizontalAdvance(texts.subtitle) + 4);
  SetChip(backend_, texts.backend, "accent", texts.backend_tip);
  SetChip(device_, texts.device, "", tr("The GPU that is planned for"));
  SetChip(peak_, texts.peak, "", tr("Allocated bytes at the peak; click to go there"));
  SetChip(reserved_, texts.reserved, "", texts.reserved_tip);
  SetChip(fits_, texts.fits, texts.does_fit ? "good" : "bad", texts.fits_tip);
}

void HeaderBar::setBusy(const QString& text) { busy_->setText(text); }

QJsonObject HeaderBar::dumpState() const {
  return {{"title", title_->text()},     {"subtitle", subtitle_->fullText()},
          {"backend", backend_->text()}, {"device", device_->text()},
          {"peak", peak_->text()},       {"reserved", reserved_->text()},
          {"fits", fits_->text()},       {"busy", busy_->text()}};
}

Banner::Banner(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("banner"));
  setAttribute(Qt::WA_StyledBackground);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 8, 0);
  line->setSpacing(10);
  edge_ = new QFrame;
  edge_->setObjectName(QStringLiteral("bannerEdge"));
  edge_->setFixedWidth(3);
  line->addWidget(edge_);
  auto* words = new QVBoxLayout;
  words->setContentsMargins(6, 7, 0, 8);
  words->setSpacing(2);
  title_ = MakeLabel({}, LabelRole::kBold);
  text_ = MakeLabel({}, LabelRole::kDim);
  text_->setFont(PanelFont(timeline::Font::kBody));
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  words->addWidget(title_);
  words->addWidget(text_);
  line->addLayout(words, 1);
  action_ = new QToolButton;
  action_->setObjectName(QStringLiteral("banner-action"));
  action_->setProperty("role", "chip");
  action_->setFont(PanelFont(timeline::Font::kSmallBold));
  connect(action_, &QToolButton::clicked, this, [this] {
    const auto run = message_.run;
    clear();
    if (run) run();
  });
  line->addWidget(action_);
  auto* close = new QToolButton;
  close->setObjectName(QStringLiteral("banner-close"));
  close->setProperty("role", "quiet");
  close->setText(QStringLiteral("✕"));
  close->setToolTip(tr("Close"));
  connect(close, &QToolButton::clicked, this, [this] { clear(); });
  line->addWidget(close, 0, Qt::AlignTop);
  hide();
}

void Banner::show(const Message& message) {
  message_ = message;
  title_->setText(message.title);
  text_->setText(message.text);
  text_->setVisible(!message.text.isEmpty());
  action_->setText(message.action);
  action_->setVisible(!message.action.isEmpty());
  edge_->setProperty("tone", message.tone == Tone::kBad ? "bad" : "warning");
  edge_->style()->unpolish(edge_);
  edge_->style()->polish(edge_);
  QFrame::show();
}

void Banner::clear(const QString& kind) {
  if (!kind.isEmpty() && kind != message_.kind) return;
  message_ = {};
  hide();
}

QJsonObject Banner::dumpState() const {
  if (message_.kind.isEmpty()) return {};
  return {{"kind", message_.kind},
          {"tone", message_.tone == Tone::kBad ? "bad" : "warning"},
          {"title", message_.title},
          {"text", message_.text},
          {"action", message_.action}};
}

}  // namespace vramscope::ui
