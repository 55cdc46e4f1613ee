#include <fmt/format.h>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "profiler/run/seq.h"
#include "profiler/run/units.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {

struct Bar {
  QString name;
  double from = 0, to = 0;
  bool whole = false;  // baseline, now
};

// The bars, one line each.
class BarsWidget : public QWidget {
 public:
  using QWidget::QWidget;
  void setBars(std::vector<Bar> bars) {
    bars_ = std::move(bars);
    setMinimumHeight(static_cast<int>(bars_.size()) * kLine + 8);
    update();
  }

 protected:
  static constexpr int kLine = 22;
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.fillRect(rect(), palette().base());
    double top = 1;
    for (const Bar& bar : bars_) top = std::max({top, bar.from, bar.to});
    const double left = 150, right = 90, plot = std::max(50.0, width() - left - right);
    for (size_t i = 0; i < bars_.size(); ++i) {
      const Bar& bar = bars_[i];
      const double y = 4 + static_cast<double>(i) * kLine;
      const double low = std::min(bar.from, bar.to), high = std::max(bar.from, bar.to);
      // Colour-blind safe, and the sign is in the text.
      const QColor colour = bar.whole           ? palette().mid().color()
                            : bar.to > bar.from ? QColor(0xd5, 0x5e, 0x00)
                                                : QColor(0x00, 0x9e, 0x73);
      painter.fillRect(
          QRectF(left + low / top * plot, y, std::max(1.0, (high - low) / top * plot), kLine - 6),
          colour);
      painter.setPen(palette().text().color());
      painter.drawText(QRectF(4, y, left - 12, kLine - 4), Qt::AlignRight | Qt::AlignVCenter,
                       bar.name);
      const double change = bar.to - bar.from;
      const std::string size = run::FormatBytes(static_cast<uint64_t>(std::abs(change)));
      painter.drawText(QRectF(left + plot + 6, y, right, kLine - 4), Qt::AlignVCenter,
                       QString::fromStdString(bar.whole ? size : (change > 0 ? "+" : "-") + size));
    }
  }

 private:
  std::vector<Bar> bars_;
};

WaterfallPage::WaterfallPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "waterfallPage", parent), bars_(new BarsWidget) {
  bars_->setObjectName(QStringLiteral("waterfallBars"));
  int at = 0;
  const auto button = [&](const QString& text, const QString& tip, auto run) {
    auto* made = new QPushButton(text);
    made->setToolTip(tip);
    controls_->insertWidget(at++, made);
    connect(made, &QPushButton::clicked, this, run);
  };
  button(tr("Draw"),
         tr("From the model's defaults to the run on the left; `vramscope waterfall` "
            "does the same"),
         [this] {
           order_.clear();
           draw();
         });
  button(tr("Up"), tr("The selected bar earlier: what it saves depends on what is on already"),
         [this] { move(-1); });
  button(tr("Down"), tr("The selected bar later"), [this] { move(1); });
  button(tr("Copy picture"), {}, [this] { QApplication::clipboard()->setPixmap(picture()); });
  button(tr("Copy table"), {}, [this] { view_->copySelection(); });
  button(tr("Copy command"), {}, [this] { QApplication::clipboard()->setText(command()); });
  column_->insertWidget(1, bars_);
  view_->setEmptyText(
      tr("Baseline to now: a bar for every technique, each the difference of two "
         "plans."));
}

void WaterfallPage::draw() {
  asked_ = config_;
  QStringList arguments = {QStringLiteral("waterfall")};
  if (!order_.isEmpty()) arguments << QStringLiteral("--order") << order_.join(QLatin1Char(','));
  Say(tr("Planning …"));
  Start(arguments, run::ToJson(asked_));
}

void WaterfallPage::move(int by) {
  // Row 0 is the baseline, the last one is now.
  const int row = view_->currentIndex().row() - 1;
  const int to = row + by;
  if (row < 0 || row >= order_.size() || to < 0 || to >= order_.size()) return;
  order_.move(row, to);
  draw();
}

QString WaterfallPage::command() const {
  QString text = QStringLiteral("vramscope waterfall --preset %1%2")
                     .arg(QString::fromStdString(asked_.model), sets_);
  if (!order_.isEmpty()) text += QStringLiteral(" --order ") + order_.join(QLatin1Char(','));
  return text;
}

QPixmap WaterfallPage::picture() const { return bars_->grab(); }

void WaterfallPage::Show(const QJsonObject& result) {
  Table table{.columns = {{.title = "Bar", .width = 160},
                          {.title = "Peak", .number = true},
                          {.title = "Change", .number = true},
                          {.title = "Reserved", .number = true},
                          {.title = "Step", .number = true},
                          {.title = "Settings", .width = 260}},
              .rows = {}};
  std::vector<Bar> bars;
  order_.clear();
  sets_ = QStringLiteral(" --set batch=%1 --set seq=%2")
              .arg(asked_.batch)
              .arg(QString::fromStdString(run::SeqText(asked_)));
  double before = 0;
  for (const QJsonValue& value : result.value(QLatin1String("bars")).toArray()) {
    const QJsonObject json = value.toObject();
    const QString name = json.value(QLatin1String("name")).toString();
    const double peak = json.value(QLatin1String("peak")).toDouble();
    const bool baseline = bars.empty();
    if (!baseline) order_ << name;
    QString settings;
    const QJsonObject changed = json.value(QLatin1String("settings")).toObject();
    for (auto it = changed.begin(); it != changed.end(); ++it) {
      settings += QStringLiteral("%1%2=%3").arg(
          settings.isEmpty() ? QString() : QStringLiteral(" "), it.key(), it.value().toString());
      sets_ += QStringLiteral(" --set %1=%2").arg(it.key(), it.value().toString());
    }
    bars.push_back({name, baseline ? 0 : before, peak, baseline});
    const double change = peak - before;
    const auto bytes = [](double n) {
      return run::FormatBytes(static_cast<uint64_t>(std::abs(n)));
    };
    Row row;
    row.cells.push_back({.text = name.toStdString()});
    row.cells.push_back({.text = bytes(peak), .sort = peak, .bytes = static_cast<int64_t>(peak)});
    row.cells.push_back({.text = baseline ? "" : (change > 0 ? "+" : "-") + bytes(change),
                         .sort = change,
                         .bytes = static_cast<int64_t>(change),
                         .tone = baseline     ? Cell::Tone::kDim
                                 : change > 0 ? Cell::Tone::kBad
                                              : Cell::Tone::kGood});
    const double reserved = json.value(QLatin1String("reserved")).toDouble();
    row.cells.push_back({.text = bytes(reserved), .sort = reserved});
    const double ms = json.value(QLatin1String("step_ms")).toDouble();
    row.cells.push_back({.text = fmt::format("{:.1f} ms", ms), .sort = ms});
    row.cells.push_back({.text = settings.toStdString()});
    table.rows.push_back(std::move(row));
    before = peak;
  }
  bars.push_back({tr("now"), 0, before, true});
  model_->setTable(std::move(table));
  bars_->setBars(std::move(bars));
  Say(order_.isEmpty() ? tr("The run on the left is the model's defaults: no technique is on.")
                       : tr("Each bar is the difference of two plans, in this order."));
}

QJsonObject WaterfallPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("order"), QJsonArray::fromStringList(order_));
  state.insert(QStringLiteral("command"), command());
  return state;
}

}  // namespace vramscope::ui
