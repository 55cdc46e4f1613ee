#include <fmt/format.h>

#include <QHBoxLayout>
#include <QJsonArray>
#include <QPushButton>

#include "profiler/base/i18n.h"
#include "profiler/reproduce/report.h"
#include "profiler/run/check_run.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {
namespace {

std::vector<Column> Columns() {
  return {{.title = i18n::Text("Experiment"), .width = 150},
          {.title = i18n::Text("Title"), .width = 260},
          {.title = i18n::Text("Figure"), .width = 150},
          {.title = i18n::Text("Published"), .number = true},
          {.title = i18n::Text("Planned"), .number = true},
          {.title = i18n::Text("Error"), .number = true},
          {.title = i18n::Text("Tolerance"), .number = true},
          {.title = i18n::Text("Verdict"), .width = 110}};
}

std::string Text(const QJsonObject& json, const char* key) {
  return json.value(QLatin1String(key)).toString().toStdString();
}

// Returns the text of a value. A value in GiB or % always has three decimals, so that the values of
// a column are aligned.
std::string InColumn(const reproduce::Figure& figure, double value) {
  if (figure.scale() == 1 && figure.unit != "%") return reproduce::ValueText(figure, value);
  return fmt::format("{:.3f} {}", value / figure.scale(), figure.unit);
}

// Returns a number of the JSON as a text with the figure's unit.
std::string Number(const QJsonObject& json, const char* key) {
  const QJsonValue value = json.value(QLatin1String(key));
  if (!value.isDouble()) return "";
  reproduce::Figure figure;
  figure.unit = Text(json, "unit");
  return InColumn(figure, value.toDouble());
}

}  // namespace

ExperimentsPage::ExperimentsPage(const StudyPrograms& programs, QWidget* parent)
    : StudyPage(programs, "experimentsPage", parent),
      plan_(new QPushButton(tr("Plan all"))),
      open_(new QPushButton(tr("Open as a run"))) {
  plan_->setToolTip(tr("Plan every published experiment again, as `vramscope reproduce` does"));
  open_->setToolTip(tr("Plan the selected experiment here (or double-click it)"));
  controls_->insertWidget(0, plan_);
  controls_->insertWidget(1, open_);
  connect(plan_, &QPushButton::clicked, this, &ExperimentsPage::planAll);
  connect(open_, &QPushButton::clicked, this, [this] { open(view_->currentIndex().row()); });
  connect(view_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { open(index.row()); });
  Table table{.columns = Columns(), .rows = {}};
  const auto documents = reproduce::Documents();
  if (documents.ok()) {
    for (const reproduce::Document& document : **documents) {
      for (const reproduce::Experiment& e : document.experiments) {
        const reproduce::Figure* head = e.headline();
        Row row;
        const std::string published =
            head != nullptr && head->published.has_value() ? InColumn(*head, *head->published) : "";
        for (const std::string& text :
             {e.id, i18n::Text(e.title),
              head == nullptr ? std::string() : reproduce::ShownFigure(head->name), published,
              std::string(), std::string(),
              head == nullptr ? std::string() : reproduce::ToleranceText(*head), std::string()}) {
          row.cells.push_back({.text = text, .exact = i18n::Text(e.note)});
        }
        table.rows.push_back(std::move(row));
        ids_.push_back(e.id);
        settings_.push_back(e.runs.empty() ? reproduce::Settings() : e.runs.front().settings);
      }
    }
  }
  model_->setTable(std::move(table));
  Say(tr("Published experiments, not planned yet."));
}

void ExperimentsPage::planAll() {
  Say(tr("Planning %1 experiments …").arg(ids_.size()));
  Start({QStringLiteral("reproduce")});
}

void ExperimentsPage::open(int row) {
  const Cell* id = row >= 0 ? model_->cell(row, 0) : nullptr;
  if (id == nullptr) return Say(tr("Select an experiment first."));
  const auto at = std::ranges::find(ids_, id->text);
  if (at == ids_.end()) return;
  const auto& settings = settings_[static_cast<size_t>(at - ids_.begin())];
  if (settings.empty())
    return Say(
        tr("%1 is a formula: there is nothing to plan.").arg(QString::fromStdString(id->text)));
  const reproduce::ExperimentRun run = {.name = "run", .settings = settings};
  const absl::StatusOr<run::RunConfig> config = reproduce::ConfigOf(run, {});
  const absl::Status status = config.ok() ? run::CheckRun(*config).status() : config.status();
  if (!status.ok()) {
    return Say(!reproduce::OpenNames(run).empty()
                   ? tr("The publication does not give all values. Choose \"Plan all\": it finds "
                        "the missing values first.")
                   : QString::fromStdString(std::string(status.message())));
  }
  Say(tr("%1 is shown above.").arg(QString::fromStdString(id->text)));
  Q_EMIT editRequested(*config);
}

void ExperimentsPage::Show(const QJsonObject& result) {
  Table table{.columns = Columns(), .rows = {}};
  ids_.clear();
  settings_.clear();
  for (const QJsonValue& value : result.value(QLatin1String("experiments")).toArray()) {
    const QJsonObject e = value.toObject();
    const bool judged = e.value(QLatin1String("within_tolerance")).isBool();
    const bool within = e.value(QLatin1String("within_tolerance")).toBool();
    const std::string state = Text(e, "state");
    const std::string verdict = state != "run" ? state
                                : !judged      ? TEXT_MARK("not judged")
                                : within       ? TEXT_MARK("within")
                                               : TEXT_MARK("out of tolerance");
    const Cell::Tone tone = verdict == "within"                   ? Cell::Tone::kGood
                            : judged && !within && state == "run" ? Cell::Tone::kBad
                                                                  : Cell::Tone::kDim;
    std::string note = i18n::Text(Text(e, "note"));
    if (const std::string lacks = ShownText(e, "lacks"); !lacks.empty())
      note = i18n::Text("Not run: ") + lacks + (note.empty() ? "" : "\n" + note);
    const QJsonValue error = e.value(QLatin1String("error"));
    Row row;
    const auto add = [&](std::string text, double sort, Cell::Tone colour = Cell::Tone::kPlain) {
      row.cells.push_back({.text = std::move(text), .sort = sort, .exact = note, .tone = colour});
    };
    add(Text(e, "id"), 0);
    add(i18n::Text(Text(e, "title")), 0);
    add(reproduce::ShownFigure(Text(e, "figure")), 0);
    add(Number(e, "published"), e.value(QLatin1String("published")).toDouble());
    add(Number(e, "predicted"), e.value(QLatin1String("predicted")).toDouble());
    add(error.isDouble() ? fmt::format("{:+.2f} %", 100 * error.toDouble()) : "", error.toDouble());
    add(Text(e, "tolerance"), 0);
    add(i18n::Text(verdict), 0, tone);
    table.rows.push_back(std::move(row));
    ids_.push_back(Text(e, "id"));
    reproduce::Settings settings;
    const QJsonObject config = e.value(QLatin1String("config")).toObject();
    // Add the model first, because it sets defaults. The other settings replace some of these.
    if (config.contains(QLatin1String("model")))
      settings.emplace_back("model", Text(config, "model"));
    for (auto it = config.begin(); it != config.end(); ++it) {
      if (it.key() != QLatin1String("model"))
        settings.emplace_back(it.key().toStdString(), it.value().toString().toStdString());
    }
    settings_.push_back(std::move(settings));
  }
  model_->setTable(std::move(table));
  const QJsonObject summary = result.value(QLatin1String("summary")).toObject();
  const auto number = [&](const char* key) { return summary.value(QLatin1String(key)).toInt(); };
  Say(tr("%1 of %2 experiments were run. Experiments with published values: %3 of %4 are within "
         "tolerance. Expected relations, for example that one run needs less memory than another: "
         "%5 of %6 hold.")
          .arg(number("run"))
          .arg(number("experiments"))
          .arg(number("published_within"))
          .arg(number("published"))
          .arg(number("orders_hold"))
          .arg(number("orders")));
}

}  // namespace vramscope::ui
