// The techniques of a user's program. Each toggle that applies has a switch, its saving, and the
// line to write in the program. The widget runs nothing itself.
//
//   toggles->beginSearch(request);
//   toggles->setPart(part);             // a line of `vramscope toggles --savings --json-lines`
//   toggles->endSearch(result, error);  // the last one
//   connect(toggles, &ProgramToggles::chosenChanged, ..., [&] { Plan(toggles->chosen()); });
#pragma once

#include <QDateTime>
#include <QJsonObject>
#include <QWidget>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/program/request.h"
#include "profiler/program/toggles.h"
#include "ui/timeline/theme.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace vramscope::ui {

class ToggleSwitch;
class WrappedLabel;

class ProgramToggles : public QWidget {
  Q_OBJECT
 public:
  explicit ProgramToggles(QWidget* parent = nullptr);
  void setTheme(const timeline::Theme& theme);
  // Sets the program of the form. The toggles of other scripts are kept, and are shown again if the
  // form returns to such a script.
  void setRequest(const program::Request& request);
  // `toggles`: NAME or NAME=VALUE. A toggle without a known saving gets a row, too.
  void setChosen(const std::vector<std::string>& toggles);
  const std::vector<std::string>& chosen() const { return now_->chosen; }
  // Call it when planning the toggles of `request` begins. The button then cancels. If the last
  // search had the same settings, its savings stay until new savings arrive.
  void beginSearch(const program::Request& request);
  void setPart(const QJsonObject& part);
  void endSearch(const QJsonObject& result, const QString& error);  // what has arrived stays
  void say(const QString& text);  // below the button; empty: nothing
  void setCanSearch(bool can);
  void setIdle(bool idle);  // no program runs: the switches can be used
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void chosenChanged();    // by the user
  void switchedByMouse();  // after chosenChanged()
  void searchRequested();
  void cancelRequested();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  enum class State : uint8_t { kNotPlanned, kWaits, kBegan, kPlanned };
  // A row of the list. Texts are in English. They are empty if no result contained the toggle.
  struct Entry {
    std::string toggle;  // "lora=16"
    std::string label, explains, changes;
    std::vector<std::string> excludes;    // names
    QStringList lines;                    // to write, each with its place
    std::optional<double> saves, factor;  // bytes; relative time
    bool effect = false;
    std::string error;
    State state = State::kNotPlanned;
  };
  // What is known about a script.
  struct Known {
    program::Request asked;  // of the last search
    QDateTime saved;         // when its script was last saved
    std::vector<std::string> chosen;
    std::vector<Entry> entries;
    std::vector<program::ToggleReport> do_not_apply;
    double start_ms = 0;       // the time of a step without toggles
    int planned = 0, all = 0;  // of the last search's toggles; `all` 0: not known yet
    QString says;
  };
  struct Line {
    QWidget* widget = nullptr;
    ToggleSwitch* toggle = nullptr;
    WrappedLabel* title = nullptr;
    WrappedLabel* explanation = nullptr;
    WrappedLabel* lines = nullptr;
    QLabel* saving = nullptr;
    QLabel* factor = nullptr;
  };
  static Entry ReadEntry(const QJsonObject& json, double start_ms);
  static void AddChosen(Known& of);
  static void Sort(Known& of);  // the largest saving first
  static void SetSavings(Known& of, const QJsonObject& result);
  static void SetPlanning(Known& of, const QJsonObject& part);
  void Show(const Known& of);  // if it is the program in the form
  void ShowEntry(const Known& of, size_t at);
  Known& Of(const std::string& script);
  static bool IsOf(const Known& known, program::Request request);
  bool Outdated() const;
  void ShowInapplicable();
  void Rebuild();
  Line MakeRow(const Entry& entry);
  void Fill(const Line& line, const Entry& entry);
  QString Explanation(const Entry& entry) const;
  void Update();
  void Switch(const std::string& toggle, bool on);
  bool IsOn(const std::string& toggle) const;
  QString LinesToWrite() const;  // for the toggles that are on

  std::map<std::string, Known> programs_;  // by script
  program::Request request_;               // in the form
  Known* now_ = &programs_[request_.script];
  std::string searched_;     // the script of the running search
  std::vector<Line> lines_;  // of now_->entries
  timeline::Theme theme_ = timeline::Theme::Dark();
  bool idle_ = true, searching_ = false, can_search_ = false;
  QPushButton* search_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QVBoxLayout* column_ = nullptr;  // of the rows
  WrappedLabel* empty_ = nullptr;
  WrappedLabel* says_ = nullptr;
  WrappedLabel* note_ = nullptr;    // that the savings are outdated
  WrappedLabel* others_ = nullptr;  // the toggles that do not apply
  QPushButton* copy_ = nullptr;
};

}  // namespace vramscope::ui
