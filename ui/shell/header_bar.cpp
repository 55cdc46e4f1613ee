#include "ui/shell/header_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "profiler/base/i18n.h"
#include "profiler/program/verdict.h"
#include "profiler/run/evidence.h"
#include "profiler/run/seq.h"
#include "profiler/trace/processes.h"
#include "ui/panels/device_dialog.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/run_panel.h"
#include "ui/panels/techniques.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kTitleWidth = 420;  // maximum width in pixels
// The chip of unused memory is hidden if fewer bytes than this are unused.
constexpr uint64_t kUnusedShown = 1 << 20;

QString Short(uint64_t bytes, int decimals = 2) {
  return QString::fromStdString(timeline::FormatBytesShort(bytes, decimals));
}

void SetChip(QToolButton* chip, const QString& text, const char* tone, const QString& tip) {
  chip->setText(text);
  chip->setVisible(!text.isEmpty());
  chip->setToolTip(tip);
  chip->setProperty("tone", QString::fromLatin1(tone));
  chip->update();
}

// Returns how accurate a plan's bytes are, if this was measured, or else what the bytes are based
// on.
QString WhatAPlanRestsOn(const trace::TraceInfo& info) {
  if (const std::optional<run::Evidence> evidence = run::EvidenceOf(info.config))
    return ToQString(i18n::Text(evidence->what));
  return QObject::tr(
      "This plan was not compared with a recording. The allocations and the allocator are "
      "PyTorch's own. Times are modelled, and so is the order in which the driver returns "
      "addresses. Memory of other libraries is not included.");
}

}  // namespace

ChipTexts MakeChipTexts(const Digest& digest, bool running) {
  const trace::TraceInfo& info = digest.trace->info;
  const analysis::Summary& summary = digest.summary;
  ChipTexts out;
  out.title = QString::fromStdString(info.model.name.empty() ? info.title : info.model.name);
  QStringList parts;
  if (info.model.layers > 0)
    parts << (info.model.layers == 1 ? QObject::tr("%1 layer") : QObject::tr("%1 layers"))
                 .arg(info.model.layers);
  if (info.model.parameter_count > 0)
    parts << ToQString(timeline::FormatParameters(info.model.parameter_count));
  if (info.has_config) {
    QString batch = QObject::tr("batch %1 × %2")
                        .arg(info.config.batch)
                        .arg(ToQString(run::ShortSeqText(info.config)));
    if (info.config.micro_batches > 1)
      batch += QObject::tr(" × %1 micro-batches").arg(info.config.micro_batches);
    parts << batch << ToQString(OptimizerName(info.config));
  }
  if (digest.watched()) parts.prepend(QString::fromStdString(program::ShortCommand(info.title)));
  out.subtitle = parts.join(QStringLiteral(" · "));

  const bool imported = info.backend == trace::Backend::kImported;
  out.backend = imported ? QObject::tr("recorded file")
                         : QStringLiteral("%1 · %2").arg(
                               ToQString(i18n::Text(trace::Name(info.backend))),
                               info.measured ? QObject::tr("measured") : QObject::tr("modelled"));
  out.backend_tip =
      imported ? QString::fromStdString(info.source)
      : digest.program()
          ? QObject::tr(
                "%1 ran on an emulated %2, with PyTorch's own allocator and the host part of "
                "PyTorch's CUDA code and operators. No values were computed; times come from a "
                "roofline model of the GPU.")
                .arg(QString::fromStdString(info.title),
                     info.device.name.empty() ? QObject::tr("GPU")
                                              : QString::fromStdString(info.device.name))
      : digest.watched() ? QObject::tr(
                               "%1 ran on this GPU. Sizes and times are measured; categories come "
                               "from PyTorch hooks.")
                               .arg(QString::fromStdString(info.title))
      : info.measured ? QObject::tr("Sizes and times were measured while the step ran.")
                      : QObject::tr(
                            "Nothing was computed. The sizes are those that PyTorch requests, and "
                            "the times come from a roofline model of the GPU.");
  if (digest.inferred()) {
    out.inferred = QObject::tr("categories inferred");
    QStringList lines{
        QObject::tr("The file has no categories. The categories of the memory at the peak were "
                    "inferred by these rules:")};
    for (const Fact& rule : RecordingFactsOf(digest, {}).rules)
      lines << QStringLiteral("%1  %2").arg(QString::fromStdString(rule.label),
                                            QString::fromStdString(rule.value));
    out.inferred_tip = lines.join(QLatin1Char('\n'));
  }
  if (!running) {
    for (const run::Assumption& a : trace::AssumptionsOf(*digest.trace))
      out.assumptions << QString::fromStdString(AssumptionText(a));
    const auto count = out.assumptions.size();
    if (count > 0)
      out.assumed =
          count == 1 ? QObject::tr("1 assumption") : QObject::tr("%1 assumptions").arg(count);
    out.assumed_tip = QObject::tr("Assumptions of this plan. Click to list them.");
  }
  if (info.device.memory_bytes > 0) out.device = ShortDeviceName(info.device);
  const auto name_of = [&](uint8_t device) {
    return QString::fromStdString(
        trace::NameOfDevice(digest.whole != nullptr ? *digest.whole : *digest.trace, device));
  };
  for (const analysis::DevicePeak& of : digest.devices)
    out.gpus.push_back(
        {of.device, QObject::tr("%1   peak %2").arg(name_of(of.device), Short(of.peak.allocated)),
         of.device == digest.device});
  if (digest.device) {
    out.gpu = QObject::tr("%1 of %2 GPUs").arg(name_of(*digest.device)).arg(digest.devices.size());
    out.gpu_tip = QObject::tr(
        "The values in this window are for this GPU only. Click to see the other GPUs and their "
        "peaks.");
  }
  const bool ended = digest.trace->complete;
  const bool ours = info.has_config || digest.watched();
  if (!ended && !running && ours) {
    out.unfinished = QObject::tr("did not finish");
    out.unfinished_tip = QString::fromStdString(i18n::Shown(digest.trace->end_message));
  }
  const bool whole = ended || !ours;
  // A snapshot without history has no peak.
  const bool state = info.content == trace::Content::kState;
  // A snapshot may have statistics but no blocks. Then it has no chip, because a 0 would be wrong.
  if (!state || digest.trace->events.size() > 0)
    out.peak = (state   ? QObject::tr("allocated %1")
                : whole ? QObject::tr("peak %1")
                        : QObject::tr("peak so far %1"))
                   .arg(Short(summary.peak.allocated));
  const uint64_t reserved = summary.peak.reserved;
  if (reserved > 0) {
    out.reserved = QObject::tr("reserved %1").arg(Short(reserved));
    out.reserved_tip = QObject::tr("The caching allocator reserved at most %1 bytes. ")
                           .arg(QString::fromStdString(timeline::FormatCount(reserved)));
    if (digest.program()) {
      out.reserved_tip += QObject::tr("PyTorch's own allocator computed this value. ");
    } else if (info.backend == trace::Backend::kPlan) {
      const std::optional<run::Evidence> evidence = run::EvidenceOf(info.config);
      if (evidence && whole)
        out.reserved += QObject::tr(" ±%1").arg(
            QString::number(static_cast<double>(evidence->reserved_within) / 1073741824.0, 'f', 2));
      out.reserved_tip += WhatAPlanRestsOn(info) + QLatin1Char(' ');
    }
    out.reserved_tip += QObject::tr("Click to see how to reclaim some reserved memory.");
  }
  if (digest.unused >= kUnusedShown) {
    out.unused = QObject::tr("unused %1").arg(Short(digest.unused));
    out.unused_tip = QObject::tr(
                         "%1 bytes are reserved but not allocated at the peak. Click to see where "
                         "they are and what keeps them reserved.")
                         .arg(QString::fromStdString(timeline::FormatCount(digest.unused)));
  }
  if (digest.out_of_memory > 0) {
    out.out_of_memory = digest.out_of_memory == 1
                            ? QObject::tr("out of memory")
                            : QObject::tr("out of memory %1×").arg(digest.out_of_memory);
    out.out_of_memory_tip =
        QObject::tr("Click to see what was requested, what was free and what would help");
  }
  // While a run is in progress, it may turn out that it does not fit, but not yet that it fits. If
  // the GPU is not in the device table, the size of its CUDA context is unknown.
  if (info.device.memory_bytes > 0 && info.device.context_bytes > 0 && reserved > 0 &&
      !digest.recorded() && (whole || !summary.fits)) {
    out.does_fit = summary.fits;
    const auto free = static_cast<uint64_t>(std::abs(summary.headroom_bytes));
    out.fits = summary.fits ? QObject::tr("fits, %1 free").arg(Short(free, 1))
               : summary.headroom_bytes < 0
                   ? QObject::tr("%1 too much").arg(Short(free, 1))
                   : QObject::tr("does not fit");  // figures lack the failed allocation
    out.fits_tip = QObject::tr(
                       "The GPU has %1 of memory. The CUDA context and libraries take %2, and the "
                       "caching allocator reserves %3.")
                       .arg(Short(info.device.memory_bytes), Short(info.device.context_bytes),
                            Short(summary.most_used.reserved));
    if (summary.most_used.past_allocator > 0)
      out.fits_tip += QObject::tr(" Libraries allocated %1 outside the allocator.")
                          .arg(Short(summary.most_used.past_allocator));
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
  title_ = new ElidedLabel(LabelRole::kBold, Qt::ElideMiddle);
  title_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
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
  unfinished_ = AddChip(line, QStringLiteral("unfinished"));
  inferred_ = AddChip(line, QStringLiteral("inferred"));
  assumed_ = AddChip(line, QStringLiteral("assumed"));
  assumed_->setPopupMode(QToolButton::InstantPopup);
  assumed_->setMenu(new QMenu(assumed_));
  gpu_ = AddChip(line, QStringLiteral("gpu"));
  gpu_->setPopupMode(QToolButton::InstantPopup);
  gpu_->setMenu(new QMenu(gpu_));
  device_ = AddChip(line, QStringLiteral("device"));
  peak_ = AddChip(line, QStringLiteral("peak"));
  reserved_ = AddChip(line, QStringLiteral("reserved"));
  unused_ = AddChip(line, QStringLiteral("unused"));
  fits_ = AddChip(line, QStringLiteral("fits"));
  out_of_memory_ = AddChip(line, QStringLiteral("out-of-memory"));
  line->addStretch(1);
  busy_ = MakeLabel({}, LabelRole::kDim);
  line->addWidget(busy_);
  commands_ = new QToolButton;
  commands_->setProperty("role", "quiet");
  commands_->setText(tr("Ctrl+K commands"));
  commands_->setFont(PanelFont(timeline::Font::kSmall));
  connect(commands_, &QToolButton::clicked, this, &HeaderBar::commandsClicked);
  line->addWidget(commands_);
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
  title_->setFullText(texts.title);
  const int title = title_->fontMetrics().horizontalAdvance(texts.title) + 2;
  title_->setMinimumWidth(std::min(title, 80));
  title_->setMaximumWidth(std::min(title, kTitleWidth));
  subtitle_->setFullText(texts.subtitle);
  subtitle_->setMaximumWidth(subtitle_->fontMetrics().horizontalAdvance(texts.subtitle) + 4);
  SetChip(backend_, texts.backend, "accent", texts.backend_tip);
  SetChip(unfinished_, texts.unfinished, "bad", texts.unfinished_tip);
  SetChip(gpu_, texts.gpu, "accent", texts.gpu_tip);
  FillGpus(texts.gpus);
  SetChip(inferred_, texts.inferred, "", texts.inferred_tip);
  SetChip(assumed_, texts.assumed, "", texts.assumed_tip);
  assumed_->menu()->clear();
  for (const QString& assumption : texts.assumptions)
    assumed_->menu()->addAction(assumption)->setEnabled(false);
  SetChip(device_, texts.device, "", tr("The GPU to plan for"));
  SetChip(peak_, texts.peak, "", tr("Allocated bytes at the peak. Click to go to the peak."));
  SetChip(reserved_, texts.reserved, "", texts.reserved_tip);
  SetChip(unused_, texts.unused, "", texts.unused_tip);
  SetChip(fits_, texts.fits, texts.does_fit ? "good" : "bad", texts.fits_tip);
  SetChip(out_of_memory_, texts.out_of_memory, "bad", texts.out_of_memory_tip);
  Fit();
}

void HeaderBar::FillGpus(const std::vector<ChipTexts::Gpu>& gpus) {
  gpu_->menu()->clear();
  for (const ChipTexts::Gpu& gpu : gpus) {
    QAction* action = gpu_->menu()->addAction(gpu.text);
    action->setCheckable(true);
    action->setChecked(gpu.shown);
    connect(action, &QAction::triggered, this,
            [this, device = int{gpu.device}] { Q_EMIT gpuChosen(device); });
  }
}

void HeaderBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  Fit();
}

// Hides the least important parts until the others fit. To avoid flicker during a resize, first
// decides about all parts, then hides some.
void HeaderBar::Fit() {
  struct Part {
    QWidget* widget;
    bool wanted;
  };
  Part parts[] = {{commands_, true},
                  {subtitle_, true},
                  {device_, !device_->text().isEmpty()},
                  {backend_, !backend_->text().isEmpty()},
                  {inferred_, !inferred_->text().isEmpty()},
                  {assumed_, !assumed_->text().isEmpty()},
                  {unused_, !unused_->text().isEmpty()},
                  {reserved_, !reserved_->text().isEmpty()}};
  const auto width_of = [this](const QWidget* widget) {
    const bool gives = widget == subtitle_ || widget == title_;
    return (gives ? widget->minimumWidth() : widget->sizeHint().width()) + layout()->spacing();
  };
  const QMargins margins = layout()->contentsMargins();
  int needed = margins.left() + margins.right();
  for (int i = 0; i < layout()->count(); ++i) {
    const QLayoutItem* item = layout()->itemAt(i);
    const QWidget* widget = item->widget();
    const Part* part = std::ranges::find(parts, widget, &Part::widget);
    if (widget == nullptr)
      needed += item->sizeHint().width() + layout()->spacing();
    else if (part != std::end(parts) ? part->wanted : !widget->isHidden())
      needed += width_of(widget);
  }
  for (Part& part : parts) {
    if (needed <= width()) break;
    if (part.wanted) needed -= width_of(part.widget);
    part.wanted = false;
  }
  for (const Part& part : parts)
    if (part.widget->isHidden() == part.wanted) part.widget->setVisible(part.wanted);
}

void HeaderBar::setBusy(const QString& text) { busy_->setText(text); }

QJsonObject HeaderBar::dumpState() const {
  return {{"title", title_->fullText()},
          {"subtitle", subtitle_->fullText()},
          {"gpu", gpu_->text()},
          {"unfinished", unfinished_->text()},
          {"reserved_tip", reserved_->toolTip()},
          {"backend", backend_->text()},
          {"device", device_->text()},
          {"peak", peak_->text()},
          {"reserved", reserved_->text()},
          {"fits", fits_->text()},
          {"inferred", inferred_->text()},
          {"assumed", assumed_->text()},
          {"unused", unused_->text()},
          {"out_of_memory", out_of_memory_->text()},
          {"busy", busy_->text()}};
}

namespace {

// Returns `text` with zero-width spaces in long words, such as paths, because a label can break
// lines only at spaces.
QString Breakable(const QString& text) {
  constexpr int kLongWord = 40;
  QString out;
  int since = 0;
  for (const QChar c : text) {
    since = c.isSpace() ? 0 : since + 1;
    out += c;
    if (since >= kLongWord || (since > kLongWord / 2 && c == QLatin1Char('/'))) {
      out += QChar(0x200b);
      since = 0;
    }
  }
  return out;
}

}  // namespace

Banner::Banner(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("banner"));
  setAttribute(Qt::WA_StyledBackground);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 8, 0);
  line->setSpacing(10);
  edge_ = new QFrame;
  edge_->setObjectName(QStringLiteral("bannerEdge"));
  edge_->setAttribute(Qt::WA_StyledBackground);
  edge_->setFixedWidth(3);
  line->addWidget(edge_);
  auto* words = new QVBoxLayout;
  words->setContentsMargins(6, 7, 0, 8);
  words->setSpacing(2);
  title_ = new ElidedLabel(LabelRole::kBold, Qt::ElideMiddle);
  text_ = new WrappedLabel(LabelRole::kDim);
  text_->setFont(PanelFont(timeline::Font::kBody));
  // Do not let a long path without a space widen the window.
  QSizePolicy wraps(QSizePolicy::Ignored, QSizePolicy::Preferred);
  wraps.setHeightForWidth(true);
  text_->setSizePolicy(wraps);
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
    ShowNext();
    if (run) run();
  });
  line->addWidget(action_);
  auto* close = new QToolButton;
  close->setObjectName(QStringLiteral("banner-close"));
  close->setProperty("role", "quiet");
  close->setText(QStringLiteral("✕"));
  close->setToolTip(tr("Close"));
  connect(close, &QToolButton::clicked, this, &Banner::ShowNext);
  line->addWidget(close, 0, Qt::AlignTop);
  hide();
}

void Banner::show(const Message& message) {
  std::erase_if(behind_, [&](const Message& other) { return other.kind == message.kind; });
  if (message_.of_window && message_.kind != message.kind) behind_.push_back(message_);
  Show(message);
}

void Banner::Show(const Message& message) {
  message_ = message;
  title_->setFullText(message.title);
  text_->setWrappedText(Breakable(message.text));
  text_->setVisible(!message.text.isEmpty());
  action_->setText(message.action);
  action_->setVisible(!message.action.isEmpty());
  edge_->setProperty("tone", message.tone == Tone::kBad ? "bad" : "warning");
  edge_->update();
  QFrame::show();
}

void Banner::clear(const QString& kind) {
  if (kind == message_.kind) return ShowNext();
  std::erase_if(behind_, [&](const Message& other) { return other.kind == kind; });
}

void Banner::clearOfDocument() {
  if (!message_.of_window) ShowNext();
}

// Removes the shown message.
void Banner::ShowNext() {
  if (behind_.empty()) {
    message_ = {};
    return hide();
  }
  const Message next = std::move(behind_.back());
  behind_.pop_back();
  Show(next);
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
