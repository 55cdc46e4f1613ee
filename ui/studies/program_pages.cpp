#include "ui/studies/program_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <QFile>
#include <QJsonArray>
#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/device_profile.h"
#include "profiler/run/units.h"
#include "ui/studies/fit_rows.h"
#include "ui/studies/study_controls.h"

namespace vramscope::ui {
namespace {

QString Text(const std::string& text) { return QString::fromStdString(text); }

QString Sentence(const absl::Status& status) {
  QString text = Text(std::string(status.message()));
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text.endsWith(QLatin1Char('.')) ? text : text + QLatin1Char('.');
}

// Returns a text such as "lora=16".
std::string ToggleText(const QJsonObject& toggle) {
  const QString name = toggle.value(QLatin1String("name")).toString();
  const QString value = toggle.value(QLatin1String("value")).toString();
  return (value.isEmpty() ? name : name + QLatin1Char('=') + value).toStdString();
}

std::string FactorText(const QJsonObject& of) {
  const double factor = of.value(QLatin1String("time_factor")).toDouble();
  return factor > 0 ? FormatFactor(factor) : std::string();
}

}  // namespace

absl::StatusOr<CommandProgram> ProgramOf(const program::Request& request) {
  const absl::StatusOr<std::vector<std::string>> command = program::CommandOf(request);
  if (!command.ok()) return command.status();
  CommandProgram out;
  for (const std::string& word : *command) out.words << QFile::decodeName(word.c_str());
  out.folder = QFile::decodeName(program::FolderOf(request).c_str());
  return out;
}

QStringList StudyArguments(const QString& command, const program::Request& request,
                           const std::vector<std::string>& toggles) {
  QStringList words = {command};
  for (const std::string& word : program::StudyOptionsOf(request)) words << Text(word);
  for (const std::string& toggle : toggles) words << QStringLiteral("--toggle") << Text(toggle);
  return words;
}

ProgramStudyPage::ProgramStudyPage(const StudyPrograms& programs, const char* name, QWidget* parent)
    : StudyPage(programs, name, parent) {}

void ProgramStudyPage::setRequest(const program::Request& request) {
  request_ = request;
  SayWhatItIs();
}

void ProgramStudyPage::StartOn(const QStringList& arguments, const QString& says) {
  if (!request_.planned())
    return Say(tr("Only a plan can be changed: choose \"Plan: an emulated GPU\" on the left."));
  const absl::StatusOr<CommandProgram> program = ProgramOf(request_);
  if (!program.ok()) return Say(Sentence(program.status()));
  asking_ = request_;
  found_.clear();
  Say(says);
  Start(arguments, {}, *program);
}

void ProgramStudyPage::Show(const QJsonObject& result) {
  asked_ = asking_;
  ShowResult(result);
}

void ProgramStudyPage::Found(const QString& text) {
  found_ = text;
  SayWhatItIs();
}

void ProgramStudyPage::SayWhatItIs() {
  if (found_.isEmpty() || busy()) return;
  const bool same = request_.script == asked_.script && request_.device == asked_.device;
  Say(same ? found_
           : tr("%1 These results are for %2 on %3.")
                 .arg(found_, Text(asked_.script.substr(asked_.script.rfind('/') + 1)),
                      Text(asked_.device)));
}

// Returns the budget that the user typed or, if it is empty, the memory of the program's GPU.
QString ProgramStudyPage::Budget(const QString& typed) const {
  if (!typed.trimmed().isEmpty()) return typed.trimmed();
  const absl::StatusOr<run::DeviceProfile> device = run::FindDevice(request_.device);
  return device.ok() ? QStringLiteral("%1B").arg(device->memory_bytes) : QString();
}

ProgramFitPage::ProgramFitPage(const StudyPrograms& programs, QWidget* parent)
    : ProgramStudyPage(programs, "programFitPage", parent),
      fit_(new FitControls(
          this, controls_,
          {.name = "programFitBudget",
           .budget_tip = tr("GPU memory that the program may use, such as 24GiB"),
           .make_tip = tr("Search for techniques with which the program fits, as `vramscope fit -- "
                          "PROGRAM` does. vramscope switches the techniques on without changing "
                          "the program. The search takes up to a minute"),
           .use = tr("Open %1"),
           .use_tip = tr("Plan this proposal in a new tab, and compare it with the program")},
          [this] { makeItFit(); }, [this](int proposal) { open(proposal); })) {
  fit_->setDefaultBudget(tr("GPU memory"));
  view_->setEmptyText(
      tr("Combinations of techniques with which your program fits, and the lines of code to write. "
         "Each combination is planned. Enter a budget and press \"Make it fit\"."));
}

void ProgramFitPage::makeItFit() {
  QStringList arguments = StudyArguments(QStringLiteral("fit"), request_, request_.toggles);
  arguments << QStringLiteral("--budget") << Budget(fit_->budget());
  StartOn(arguments, tr("Planning combinations …"));
}

void ProgramFitPage::open(int proposal) {
  if (proposal < 0 || proposal >= static_cast<int>(proposals_.size())) return;
  program::Request request = asked_;
  request.toggles = proposals_[static_cast<size_t>(proposal)];
  const QString variant = Text(fmt::format("{}", fmt::join(request.toggles, " + ")));
  Q_EMIT planRequested(request, asked_, variant);
}

void ProgramFitPage::ShowResult(const QJsonObject& result) {
  proposals_.clear();
  Table table = FitTable();
  const QJsonObject start = result.value(QLatin1String("start")).toObject();
  AddStartRow(table, start);
  const double needed = start.value(QLatin1String("needed")).toDouble();
  for (const QJsonValue& value : result.value(QLatin1String("proposals")).toArray()) {
    const QJsonObject proposal = value.toObject();
    const QJsonArray toggles = proposal.value(QLatin1String("toggles")).toArray();
    std::vector<std::string> names;
    for (const QJsonValue& toggle : toggles) names.push_back(ToggleText(toggle.toObject()));
    const double needs = proposal.value(QLatin1String("needed")).toDouble();
    AddFitRow(table, i18n::Format("{}. Needs {}", proposals_.size() + 1, SignedSize(needs)),
              SignedSize(needed - needs), FactorText(proposal), FitVerdict(proposal), true);
    for (const QJsonValue& each : toggles) {
      const QJsonObject toggle = each.toObject();
      // List the lines to write in the program, each with its place there.
      std::string why;
      for (const QJsonValue& one : toggle.value(QLatin1String("change")).toArray()) {
        const QJsonObject change = one.toObject();
        const std::string where = change.value(QLatin1String("where")).toString().toStdString();
        why += fmt::format("{}{}{}{}", why.empty() ? "" : "; ", where.substr(where.rfind('/') + 1),
                           where.empty() ? "" : ": ",
                           change.value(QLatin1String("text")).toString().toStdString());
      }
      AddFitRow(table, "   " + ToggleText(toggle), "", "", why, false);
    }
    proposals_.push_back(std::move(names));
  }
  model_->setTable(std::move(table));
  fit_->showProposals(proposals_.size());
  Found(FitControls::found(result,
                           tr("No technique applies to this program, or none could be planned.")));
}

QJsonObject ProgramFitPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("proposals"), static_cast<int>(proposals_.size()));
  return state;
}

ProgramWaterfallPage::ProgramWaterfallPage(const StudyPrograms& programs, QWidget* parent)
    : ProgramStudyPage(programs, "programWaterfallPage", parent),
      bars_(new WaterfallControls(
          this, {controls_, column_, model_, view_},
          tr("Draw a bar for each technique that is switched on in the program, as `vramscope "
             "waterfall -- PROGRAM` does"),
          [this] { draw(); },
          [this](const std::vector<std::string>& order) {
            if (!busy()) DrawInOrder(order);
          })) {
  bars_->addButton(tr("Open"),
                   tr("Plan the program with the techniques up to the selected bar, in a new tab"),
                   [this] { Open(view_->currentIndex().row()); });
  connect(view_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { Open(index.row()); });
  view_->setEmptyText(
      tr("One bar for each technique that is switched on in your program. Switch some on under "
         "\"Your program\" on the left, then press \"Draw\"."));
}

void ProgramWaterfallPage::setTheme(const timeline::Theme& theme) {
  StudyPage::setTheme(theme);
  bars_->bars()->setTheme(theme);
}

void ProgramWaterfallPage::draw() {
  bars_->forgetMoved();
  if (request_.toggles.empty())
    return Say(tr("No technique is switched on under \"Your program\" on the left."));
  DrawInOrder(request_.toggles);
}

void ProgramWaterfallPage::DrawInOrder(const std::vector<std::string>& order) {
  StartOn(StudyArguments(QStringLiteral("waterfall"), request_, order), tr("Planning …"));
}

void ProgramWaterfallPage::move(int by) { bars_->move(by); }

// Finds the row's bar by its name, because the table may be sorted differently.
void ProgramWaterfallPage::Open(int row) {
  const Cell* bar = row >= 0 ? model_->cell(row, 0) : nullptr;
  if (bar == nullptr) return Say(tr("Select a bar first."));
  program::Request request = asked_;
  const std::vector<std::string>& order = bars_->order();
  const auto found = std::ranges::find(order, bar->text);
  request.toggles.assign(order.begin(), found == order.end() ? order.begin() : found + 1);
  const QString variant = request.toggles.empty()
                              ? tr("without techniques")
                              : Text(fmt::format("{}", fmt::join(request.toggles, " + ")));
  Q_EMIT planRequested(request, asked_, variant);
}

void ProgramWaterfallPage::ShowResult(const QJsonObject& result) {
  const QJsonArray json = result.value(QLatin1String("bars")).toArray();
  std::vector<std::string> order;
  for (qsizetype i = 1; i < json.size(); ++i)
    order.push_back(json.at(i).toObject().value(QLatin1String("toggle")).toString().toStdString());
  bars_->show(
      ReadBars(
          json,
          [](size_t at, const QString& name) { return at == 0 ? tr("without techniques") : name; },
          tr("now")),
      std::move(order));
  Found(tr(
      "Each bar shows how the peak changes when its technique is added to the techniques above."));
}

QJsonObject ProgramWaterfallPage::dumpState() const {
  QJsonObject state = StudyPage::dumpState();
  state.insert(QStringLiteral("order"), bars_->orderJson());
  return state;
}

}  // namespace vramscope::ui
