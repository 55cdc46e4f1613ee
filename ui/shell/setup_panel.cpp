#include "ui/shell/setup_panel.h"

#include <QProgressBar>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "profiler/run/units.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kPermille = 1000;
constexpr int kBarHeight = 6;
constexpr int kSecondsPerMinute = 60;

QString Bytes(quint64 bytes) { return QString::fromStdString(run::FormatBytes(bytes)); }

QString TimeLeft(double seconds) {
  const int whole = static_cast<int>(seconds) + 1;
  return whole < 2 * kSecondsPerMinute
             ? SetupPanel::tr("%1 s left").arg(whole)
             : SetupPanel::tr("%1 min left").arg(whole / kSecondsPerMinute);
}

// Returns `path` with a zero-width space after each slash, so that a label can break the line
// there.
QString BreakablePath(QString path) {
  return path.replace(QLatin1Char('/'), QStringLiteral("/\u200b"));
}

}  // namespace

QString ProgressText(const TorchDownload::Progress& progress) {
  using Phase = TorchDownload::Phase;
  switch (progress.phase) {
    case Phase::kAsking:
      return SetupPanel::tr("Querying the package index");
    case Phase::kWaiting:
      return SetupPanel::tr("No connection, trying again. %1 of %2 downloaded")
          .arg(Bytes(progress.done), Bytes(progress.total));
    case Phase::kDownloading: {
      QString text =
          SetupPanel::tr("Downloaded %1 of %2").arg(Bytes(progress.done), Bytes(progress.total));
      if (progress.bytes_per_s > 0) {
        const double left = static_cast<double>(progress.total - progress.done);
        text += SetupPanel::tr(", %1/s, %2")
                    .arg(Bytes(static_cast<quint64>(progress.bytes_per_s)),
                         TimeLeft(left / progress.bytes_per_s));
      }
      return text;
    }
    case Phase::kChecking:
      return SetupPanel::tr("Verifying the download");
    case Phase::kUnpacking:
      return SetupPanel::tr("Unpacking: %1 of %2").arg(Bytes(progress.done), Bytes(progress.total));
  }
  return {};
}

SetupPanel::SetupPanel(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("setupPanel"));
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 9);
  column->setSpacing(5);
  title_ = new WrappedLabel(LabelRole::kBold);
  text_ = new WrappedLabel(LabelRole::kDim);
  details_ = new WrappedLabel(LabelRole::kDim);
  error_ = new WrappedLabel(LabelRole::kBody);
  SetTone(error_, "bad");
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  state_ = new WrappedLabel(LabelRole::kDim);
  bar_ = new QProgressBar;
  bar_->setObjectName(QStringLiteral("setupProgress"));
  bar_->setFixedHeight(kBarHeight);
  bar_->setTextVisible(false);
  bar_->setRange(0, kPermille);
  button_ = new QToolButton;
  button_->setObjectName(QStringLiteral("setupButton"));
  button_->setProperty("role", "chip");
  button_->setFont(PanelFont(timeline::Font::kSmallBold));
  for (QWidget* widget :
       std::initializer_list<QWidget*>{title_, text_, details_, error_, bar_, state_})
    column->addWidget(widget);
  column->addWidget(button_, 0, Qt::AlignLeft);
  connect(button_, &QToolButton::clicked, this, [this] {
    if (downloading_)
      Q_EMIT cancelRequested();
    else
      Q_EMIT downloadRequested();
  });
  hide();
}

void SetupPanel::setMissing(const Missing& missing) {
  missing_ = missing;
  error_->hide();
  ShowIdle();
  show();
}

void SetupPanel::ShowIdle() {
  downloading_ = false;
  title_->setWrappedText(missing_.samples ? tr("Sample runs") : missing_.why);
  QString text;
  if (missing_.samples)
    text = tr("%1. The runs shown here were planned in advance. You can switch a toggle only if "
              "the resulting run is also one of them.")
               .arg(missing_.why);
  if (missing_.can_download)
    text += (text.isEmpty() ? QString() : QStringLiteral(" ")) +
            tr("With LibTorch, all models, settings and techniques work. Recordings and your own "
               "programs do not need LibTorch.");
  text_->setWrappedText(text);
  text_->setVisible(!text.isEmpty());
  details_->setWrappedText(missing_.details);
  details_->setVisible(!missing_.details.isEmpty());
  bar_->hide();
  state_->setVisible(missing_.can_download);
  QString size =
      tr("%1 to download. LibTorch takes %2 on disk, in %3")
          .arg(Bytes(missing_.bytes), Bytes(missing_.unpacked), BreakablePath(missing_.folder));
  if (missing_.there > 0) size += tr(". %1 is already downloaded").arg(Bytes(missing_.there));
  state_->setWrappedText(size);
  button_->setVisible(missing_.can_download);
  button_->setEnabled(true);
  button_->setText(error_->isHidden() ? tr("Download LibTorch") : tr("Try again"));
}

void SetupPanel::setProgress(const TorchDownload::Progress& progress) {
  downloading_ = true;
  error_->hide();
  text_->hide();
  details_->hide();
  title_->setWrappedText(tr("LibTorch is being installed"));
  bar_->setValue(static_cast<int>(progress.fraction() * kPermille));
  bar_->show();
  state_->setWrappedText(ProgressText(progress));
  state_->show();
  button_->setText(tr("Cancel"));
  button_->setEnabled(true);
  button_->show();
}

void SetupPanel::setFailed(const QString& why) {
  error_->setWrappedText(why.isEmpty() ? QString()
                                       : tr("LibTorch was not installed: %1.").arg(why));
  error_->setVisible(!why.isEmpty());
  ShowIdle();
}

QJsonObject SetupPanel::dumpState() const {
  if (isHidden()) return {};
  return {{"title", title_->text()},
          {"text", text_->isHidden() ? QString() : text_->text()},
          {"details", details_->isHidden() ? QString() : details_->text()},
          {"error", error_->isHidden() ? QString() : error_->text()},
          {"state", state_->isHidden() ? QString() : state_->text()},
          {"progress", bar_->isHidden() ? -1 : bar_->value()},
          {"button", button_->isHidden() ? QString() : button_->text()},
          {"downloading", downloading_}};
}

}  // namespace vramscope::ui
