#include <fmt/format.h>
#include <fmt/ranges.h>

#include <QHBoxLayout>
#include <QJsonArray>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/program/vary.h"
#include "profiler/run/units.h"
#include "ui/studies/program_pages.h"
#include "ui/studies/vary_chart.h"

namespace vramscope::ui {
namespace {

std::string BytesText(const QJsonObject& row, const char* key) {
  return run::FormatBytes(static_cast<uint64_t>(row.value(QLatin1String(key)).toDouble()));
}

std::vector<std::string> Strings(const QJsonArray& array) {
  std::vector<std::string> out;
  for (const QJsonValue& value : array) out.push_back(value.toString().toStdString());
  return out;
}

// Returns a row of the table: the values, then the plan's figures, or why there is no plan.
Row RowOf(const QJsonObject& json) {
  Row row;
  for (const std::string& value : Strings(json.value(QLatin1String("values")).toArray()))
    row.cells.push_back({.text = value, .sort = QString::fromStdString(value).toDouble()});
  const std::string error = ShownText(json, "error");
  for (const char* key : {"peak", "reserved", "needed"}) {
    const double bytes = json.value(QLatin1String(key)).toDouble();
    row.cells.push_back({.text = error.empty() ? BytesText(json, key) : std::string(),
                         .sort = bytes,
                         .bytes = static_cast<int64_t>(bytes)});
  }
  const double ms = json.value(QLatin1String("step_ms")).toDouble();
  row.cells.push_back(
      {.text = error.empty() ? fmt::format("{:.1f} ms", ms) : std::string(), .sort = ms});
  const bool fits = json.value(QLatin1String("fits")).toBool();
  row.cells.push_back({.text = !error.empty() ? error
                               : fits         ? i18n::Text("fits")
                                              : i18n::Text("does not fit"),
                       .sort = fits ? 1.0 : 0.0,
                       .tone = fits ? Cell::Tone::kGood : Cell::Tone::kBad});
  return row;
}

}  // namespace

VaryPage::VaryPage(const StudyPrograms& programs, QWidget* parent)
    : ProgramStudyPage(programs, "varyPage", parent),
      argument_(new QLineEdit),
      budget_(new QLineEdit),
      chart_(new VaryChart([this](int point) { Open(points_[static_cast<size_t>(point)]); })) {
  argument_->setObjectName(QStringLiteral("varyArgument"));
  argument_->setPlaceholderText(QStringLiteral("--batch-size=1..64"));
  argument_->setToolTip(
      tr("An argument of your program and its values, such as --batch-size=1..64 (each value is "
         "twice the previous one) or --seq=512,1024. Separate several arguments with spaces. Every "
         "combination is planned"));
  argument_->setAccessibleName(tr("Argument and values"));
  argument_->setMinimumWidth(180);
  setFocusProxy(argument_);
  budget_->setObjectName(QStringLiteral("varyBudget"));
  budget_->setMaximumWidth(90);
  budget_->setPlaceholderText(tr("GPU memory"));
  budget_->setToolTip(tr("GPU memory that the program may use, such as 24GiB"));
  budget_->setAccessibleName(tr("Budget"));
  auto* start = new QPushButton(tr("Vary"));
  start->setToolTip(tr("Plan the program with each value, as `vramscope fit --vary` does"));
  int at = 0;
  for (QWidget* widget : std::initializer_list<QWidget*>{argument_, budget_, start})
    controls_->insertWidget(at++, widget);
  connect(start, &QPushButton::clicked, this, &VaryPage::vary);
  for (QLineEdit* edit : {argument_, budget_})
    connect(edit, &QLineEdit::returnPressed, this, &VaryPage::vary);
  connect(view_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { open(index.row()); });
  chart_->setObjectName(QStringLiteral("varyChart"));
  chart_->setAccessibleName(tr("Memory that the program needs with each value"));
  chart_->hide();
  column_->insertWidget(1, chart_, 3);
  view_->setMinimumHeight(60);
  view_->setEmptyText(
      tr("The memory that your program needs with other values of its arguments. Enter an argument "
         "with values, such as --batch-size=1..64, and press \"Vary\"."));
}

void VaryPage::setTheme(const timeline::Theme& theme) {
  StudyPage::setTheme(theme);
  chart_->setTheme(theme);
}

void VaryPage::vary() {
  const auto words = program::SplitWords(argument_->text().toStdString());
  if (!words.ok()) return Say(QString::fromStdString(std::string(words.status().message())));
  if (words->empty())
    return Say(tr("Enter an argument of the program and its values, such as --batch-size=1..64."));
  QStringList arguments = StudyArguments(QStringLiteral("fit"), request_, request_.toggles);
  for (const std::string& word : *words) {
    if (const auto parsed = program::ParseVariation(word); !parsed.ok())
      return Say(QString::fromStdString(std::string(parsed.status().message())));
    arguments << QStringLiteral("--vary=") + QString::fromStdString(word);
  }
  arguments << QStringLiteral("--budget") << Budget(budget_->text());
  StartOn(arguments, tr("Planning each value …"));
}

// Opens the plan of a row. Reads the values from the row, because the table may be sorted
// differently.
void VaryPage::open(int row) {
  std::vector<std::string> values;
  for (size_t i = 0; i < names_.size(); ++i) {
    const Cell* cell = row < 0 ? nullptr : model_->cell(row, static_cast<int>(i));
    if (cell == nullptr) return;
    values.push_back(cell->text);
  }
  Open(values);
}

void VaryPage::Open(const std::vector<std::string>& values) {
  program::Request request = asked_;
  QStringList variant;
  for (size_t i = 0; i < std::min(names_.size(), values.size()); ++i) {
    absl::StatusOr<program::Request> changed =
        program::RequestWithValue(request, names_[i], values[i]);
    if (!changed.ok()) return Say(QString::fromStdString(std::string(changed.status().message())));
    request = *std::move(changed);
    variant << QString::fromStdString(names_[i] + "=" + values[i]);
  }
  Q_EMIT planRequested(request, asked_, variant.join(QLatin1Char(' ')));
}

void VaryPage::ShowResult(const QJsonObject& result) {
  names_ = Strings(result.value(QLatin1String("vary")).toArray());
  Table table;
  for (const std::string& name : names_) table.columns.push_back({.title = name, .number = true});
  for (const std::string& title :
       {i18n::Text("Peak"), i18n::Text("Reserved"), i18n::Text("Needs"), i18n::Text("Step")})
    table.columns.push_back({.title = title, .number = true});
  table.columns.push_back({.title = i18n::Text("Fits"), .width = 220});
  std::vector<VaryPoint> points;
  points_.clear();
  for (const QJsonValue& value : result.value(QLatin1String("rows")).toArray()) {
    const QJsonObject row = value.toObject();
    table.rows.push_back(RowOf(row));
    points_.push_back(Strings(row.value(QLatin1String("values")).toArray()));
    points.push_back(
        {.label = QString::fromStdString(fmt::format("{}", fmt::join(points_.back(), " · "))),
         .bytes = row.value(QLatin1String("needed")).toDouble(),
         .fits = row.value(QLatin1String("fits")).toBool(),
         .error = QString::fromStdString(ShownText(row, "error"))});
  }
  const bool all_fit = std::ranges::all_of(points, &VaryPoint::fits);
  const QJsonValue budget = result.value(QLatin1String("budget"));
  chart_->setPoints(std::move(points),
                    budget.isDouble() ? std::optional(budget.toDouble()) : std::nullopt);
  chart_->show();
  model_->setTable(std::move(table));
  const QJsonValue largest = result.value(QLatin1String("largest"));
  const int count = result.value(QLatin1String("plans")).toInt();
  const QString plans = (count == 1 ? tr("%1 plan made in %2 s. Click a point to open its plan.")
                                    : tr("%1 plans made in %2 s. Click a point to open its plan."))
                            .arg(count)
                            .arg(result.value(QLatin1String("seconds")).toDouble(), 0, 'f', 1);
  if (!largest.isDouble() || names_.empty()) return Found(plans);
  // The text names the largest planned value, because larger values were not planned.
  const QString found =
      all_fit ? tr("Every %1 up to %2 fits. %3") : tr("The largest %1 that fits is %2. %3");
  Found(found.arg(QString::fromStdString(names_.front())).arg(largest.toInteger()).arg(plans));
}

QJsonObject VaryPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("argument"), argument_->text());
  return state;
}

}  // namespace vramscope::ui
