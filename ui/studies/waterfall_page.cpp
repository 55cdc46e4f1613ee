#include <fmt/format.h>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QVBoxLayout>
#include <cmath>
#include <functional>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/fit/waterfall.h"
#include "profiler/program/request.h"
#include "profiler/run/toggles.h"
#include "profiler/run/units.h"
#include "ui/panels/qt_theme.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {

namespace {

std::string Bytes(double bytes) { return run::FormatBytes(static_cast<uint64_t>(std::abs(bytes))); }
std::string Signed(double bytes) { return (bytes > 0 ? "+" : "\u2212") + Bytes(bytes); }

// The titles of the toggles that this rung switches on; if there are none, the settings that it
// changes.
QString TitleOf(const fit::Rung& rung, const run::RunConfig& before) {
  QStringList titles;
  for (const run::ToggleRow& row : run::Toggles())
    if (run::IsOn(*row.toggle, rung.config) && !run::IsOn(*row.toggle, before))
      titles << ToQString(row.toggle->title);
  if (titles.isEmpty())
    for (const auto& [key, value] : rung.settings)
      titles << QString::fromStdString(key + "=" + value);
  return titles.join(QStringLiteral(", "));
}

}  // namespace

struct Bar {
  QString name;
  double from = 0, to = 0;
  bool whole = false;  // true for the first and last bar: the defaults and the current run
};

// The bars, one line each. All but the first and the last can be dragged to another place.
class BarsWidget : public QWidget {
 public:
  explicit BarsWidget(std::function<void(int, int)> moved) : moved_(std::move(moved)) {
    setMouseTracking(true);
  }
  void setBars(std::vector<Bar> bars) {
    bars_ = std::move(bars);
    dragged_ = -1;
    setFixedHeight(static_cast<int>(bars_.size()) * kLine + 8);
    update();
  }
  void setTheme(const timeline::Theme& theme) {
    theme_ = theme;
    update();
  }

 protected:
  static constexpr int kLine = 22, kTop = 4;
  bool Movable(int line) const {
    return line > 0 && line + 1 < static_cast<int>(bars_.size()) && bars_.size() > 3;
  }
  int LineAt(const QPointF& at) const {
    return static_cast<int>(std::floor((at.y() - kTop) / kLine));
  }
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.fillRect(rect(), ToQColor(theme_.panel));
    double top = 1;
    for (const Bar& bar : bars_) top = std::max({top, bar.from, bar.to});
    int widest = 0;
    for (const Bar& bar : bars_)
      widest = std::max(widest, painter.fontMetrics().horizontalAdvance(bar.name));
    const double left = std::clamp(widest + 24, 150, std::max(150, width() / 3));
    const double right = 100, plot = std::max(50.0, width() - left - right);
    for (size_t i = 0; i < bars_.size(); ++i) {
      const Bar& bar = bars_[i];
      const double y = kTop + static_cast<double>(i) * kLine;
      const double low = std::min(bar.from, bar.to), high = std::max(bar.from, bar.to);
      if (static_cast<int>(i) == dragged_)
        painter.fillRect(QRectF(0, y - 2, width(), kLine), ToQColor(theme_.raised));
      // Color is not the only signal, because the text has the sign too.
      const timeline::Color colour = bar.whole ? timeline::Mix(theme_.panel, theme_.dim, 0.6)
                                     : bar.to > bar.from ? theme_.bad
                                                         : theme_.good;
      painter.fillRect(
          QRectF(left + low / top * plot, y, std::max(1.0, (high - low) / top * plot), kLine - 6),
          ToQColor(colour));
      painter.setPen(ToQColor(theme_.text));
      painter.drawText(
          QRectF(4, y, left - 12, kLine - 4), Qt::AlignRight | Qt::AlignVCenter,
          painter.fontMetrics().elidedText(bar.name, Qt::ElideRight, static_cast<int>(left) - 12));
      const double change = bar.to - bar.from;
      painter.drawText(QRectF(left + plot + 6, y, right, kLine - 4), Qt::AlignVCenter,
                       QString::fromStdString(bar.whole ? Bytes(change) : Signed(change)));
    }
    if (dragged_ < 0 || target_ == dragged_) return;
    const int line = target_ > dragged_ ? target_ + 1 : target_;
    painter.fillRect(QRectF(0, kTop + line * kLine - 4, width(), 2), ToQColor(theme_.accent));
  }
  void mousePressEvent(QMouseEvent* event) override {
    const int line = LineAt(event->position());
    if (event->button() != Qt::LeftButton || !Movable(line)) return;
    dragged_ = target_ = line;
    setCursor(Qt::ClosedHandCursor);
    update();
  }
  void mouseMoveEvent(QMouseEvent* event) override {
    const int line = LineAt(event->position());
    if (dragged_ < 0) {
      setCursor(Movable(line) ? Qt::OpenHandCursor : Qt::ArrowCursor);
      return;
    }
    target_ = std::clamp(line, 1, static_cast<int>(bars_.size()) - 2);
    update();
  }
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (event->button() != Qt::LeftButton || dragged_ < 0) return;
    const int from = std::exchange(dragged_, -1);
    setCursor(Qt::ArrowCursor);
    update();
    if (target_ != from) moved_(from - 1, target_ - 1);
  }

 private:
  std::function<void(int, int)> moved_;  // arguments: old and new index in the page's order_
  std::vector<Bar> bars_;
  timeline::Theme theme_ = timeline::Theme::Dark();
  int dragged_ = -1, target_ = -1;
};

WaterfallPage::WaterfallPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "waterfallPage", parent),
      bars_(new BarsWidget([this](int from, int to) { Move(from, to); })),
      bars_area_(new QScrollArea) {
  bars_->setObjectName(QStringLiteral("waterfallBars"));
  bars_->setToolTip(tr("Drag a bar to another place in the order"));
  int at = 0;
  const auto button = [&](const QString& text, const QString& tip, auto run) {
    auto* made = new QPushButton(text);
    made->setToolTip(tip);
    controls_->insertWidget(at++, made);
    connect(made, &QPushButton::clicked, this, run);
  };
  button(tr("Draw"),
         tr("Draw bars from the model's defaults to the run on the left, as `vramscope waterfall` "
            "does"),
         [this] {
           order_.clear();
           selected_.clear();
           draw();
         });
  button(
      tr("Up"),
      tr("Move the selected bar earlier (Alt+Up): its saving depends on the techniques before it"),
      [this] { move(-1); });
  button(tr("Down"), tr("Move the selected bar later (Alt+Down)"), [this] { move(1); });
  for (const auto& [key, by] : {std::pair{Qt::Key_Up, -1}, std::pair{Qt::Key_Down, 1}})
    connect(new QShortcut(QKeySequence(Qt::ALT | key), this, nullptr, nullptr,
                          Qt::WidgetWithChildrenShortcut),
            &QShortcut::activated, this, [this, by] { move(by); });
  button(tr("Copy image"), {}, [this] { QApplication::clipboard()->setPixmap(image()); });
  button(tr("Copy table"), {}, [this] { view_->copySelection(); });
  button(tr("Copy command"), {}, [this] { QApplication::clipboard()->setText(command()); });
  // If the window is not tall enough for all bars, they scroll; the table below keeps its header
  // and some rows.
  bars_area_->setWidget(bars_);
  bars_area_->setWidgetResizable(true);
  bars_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  bars_area_->setMaximumHeight(0);
  column_->insertWidget(1, bars_area_, 3);
  view_->setMinimumHeight(90);
  view_->setEmptyText(
      tr("One bar for each technique, from the defaults to the current run: the difference of two "
         "plans."));
}

void WaterfallPage::setConfig(const run::RunConfig& config) {
  StudyPage::setConfig(config);
  SayWhatItIs();
}

void WaterfallPage::SayWhatItIs() {
  if (found_.isEmpty() || busy()) return;
  Say(run::ToJson(config_) == run::ToJson(asked_)
          ? found_
          : tr("These bars precede your last change. \"Draw\" plans again."));
}

void WaterfallPage::draw() {
  asked_ = config_;
  found_.clear();
  QStringList arguments = {QStringLiteral("waterfall")};
  if (!order_.isEmpty()) arguments << QStringLiteral("--order") << order_.join(QLatin1Char(','));
  Say(tr("Planning …"));
  Start(arguments, run::ToJson(asked_));
}

void WaterfallPage::setTheme(const timeline::Theme& theme) {
  StudyPage::setTheme(theme);
  bars_->setTheme(theme);
}

void WaterfallPage::move(int by) {
  // Row 0 is the baseline.
  const int row = view_->currentIndex().row() - 1;
  Move(row, row + by);
}

void WaterfallPage::Move(int from, int to) {
  if (busy() || from < 0 || from >= order_.size() || to < 0 || to >= order_.size()) return;
  selected_ = order_[from];
  order_.move(from, to);
  draw();
}

// The command line with all settings in which the run differs from its model's defaults.
QString WaterfallPage::command() const {
  std::vector<std::string> words = {"vramscope", "waterfall"};
  run::RunConfigBuilder builder;
  if (builder.SetPreset(asked_.model).ok()) {
    words.insert(words.end(), {"--preset", asked_.model});
  } else {
    (void)builder.SetModelConfig(asked_.model, asked_.model_config_json);
    words.insert(words.end(), {"--model", "config.json"});
  }
  const absl::StatusOr<run::RunConfig> defaults = builder.Build();
  if (defaults.ok())
    for (const auto& [key, value] : fit::Changed(*defaults, asked_))
      if (key != "model" && key != "model_config_json" && key != "modelConfigJson")
        words.insert(words.end(), {"--set", key + "=" + value});
  if (!order_.isEmpty())
    words.insert(words.end(), {"--order", order_.join(QLatin1Char(',')).toStdString()});
  return QString::fromStdString(program::JoinWords(words));
}

QPixmap WaterfallPage::image() const { return bars_->grab(); }

void WaterfallPage::Show(const QJsonObject& result) {
  Table table{.columns = {{.title = i18n::Text("Bar"), .width = 160},
                          {.title = i18n::Text("Peak"), .number = true},
                          {.title = i18n::Text("Change"), .number = true},
                          {.title = i18n::Text("Reserved"), .number = true},
                          {.title = i18n::Text("Step"), .number = true},
                          {.title = i18n::Text("Settings"), .width = 260}},
              .rows = {}};
  std::vector<Bar> bars;
  std::vector<std::string> asked_order;
  for (const QString& name : order_) asked_order.push_back(name.toStdString());
  order_.clear();
  std::vector<fit::Rung> ladder;
  if (const absl::StatusOr<run::RunConfig> plain = fit::PlainRun(asked_); plain.ok())
    if (absl::StatusOr<std::vector<fit::Rung>> made = fit::Ladder(*plain, asked_, asked_order);
        made.ok())
      ladder = *std::move(made);
  double before = 0;
  for (const QJsonValue& value : result.value(QLatin1String("bars")).toArray()) {
    const QJsonObject json = value.toObject();
    const QString name = json.value(QLatin1String("name")).toString();
    const size_t at = bars.size();
    const QString title =
        at == 0 || at >= ladder.size() ? name : TitleOf(ladder[at], ladder[at - 1].config);
    const double peak = json.value(QLatin1String("peak")).toDouble();
    const bool baseline = bars.empty();
    if (!baseline) order_ << name;
    QString settings;
    const QJsonObject changed = json.value(QLatin1String("settings")).toObject();
    for (auto it = changed.begin(); it != changed.end(); ++it)
      settings += QStringLiteral("%1%2=%3").arg(
          settings.isEmpty() ? QString() : QStringLiteral(" "), it.key(), it.value().toString());
    bars.push_back({title, baseline ? 0 : before, peak, baseline});
    const double change = peak - before;
    Row row;
    row.cells.push_back({.text = title.toStdString()});
    row.cells.push_back({.text = Bytes(peak), .sort = peak, .bytes = static_cast<int64_t>(peak)});
    row.cells.push_back({.text = baseline ? "" : Signed(change),
                         .sort = change,
                         .bytes = static_cast<int64_t>(change),
                         .tone = baseline     ? Cell::Tone::kDim
                                 : change > 0 ? Cell::Tone::kBad
                                              : Cell::Tone::kGood});
    const double reserved = json.value(QLatin1String("reserved")).toDouble();
    row.cells.push_back({.text = Bytes(reserved), .sort = reserved});
    const double ms = json.value(QLatin1String("step_ms")).toDouble();
    row.cells.push_back({.text = fmt::format("{:.1f} ms", ms), .sort = ms});
    row.cells.push_back({.text = settings.toStdString()});
    table.rows.push_back(std::move(row));
    before = peak;
  }
  bars.push_back({tr("now"), 0, before, true});
  model_->setTable(std::move(table));
  bars_->setBars(std::move(bars));
  bars_area_->setMaximumHeight(bars_->height());
  // The moved bar stays selected, so that it can be moved again.
  if (const qsizetype at = order_.indexOf(selected_); at >= 0)
    view_->selectRow(static_cast<int>(at) + 1);
  found_ =
      order_.isEmpty()
          ? tr("The run on the left is the model's defaults: no technique is on.")
          : tr("Each bar is the change of the peak when its technique is added to those above it.");
  SayWhatItIs();
}

QJsonObject WaterfallPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("order"), QJsonArray::fromStringList(order_));
  state.insert(QStringLiteral("command"), command());
  return state;
}

}  // namespace vramscope::ui
