// The techniques that can be switched on in a user's program. Each toggle that applies has a
// switch, its saving, and the line to write in the program. The widget runs nothing itself.
//
//   toggles->beginSearch(request);
//   toggles->setPart(part);             // from `vramscope toggles --savings --json-lines`
//   toggles->endSearch(result, error);  // `result`: the last line
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
  // Sets the program that the form describes. What is known about other scripts is remembered, and
  // shown again when the form returns to them.
  void setRequest(const program::Request& request);
  // Sets the toggles that are on, as NAME or NAME=VALUE. A toggle whose saving is not known also
  // gets a row.
  void setChosen(const std::vector<std::string>& toggles);
  const std::vector<std::string>& chosen() const { return now_->chosen; }
  // Call it when planning the toggles of `request` begins. From then on, the button cancels the
  // search. If the last search had the same settings, its savings stay visible until new savings
  // arrive.
  void beginSearch(const program::Request& request);
  void setPart(const QJsonObject& part);
  void endSearch(const QJsonObject& result, const QString& error);  // arrived savings stay shown
  void say(const QString& text);  // shows `text` below the button; empty: nothing
  void setCanSearch(bool can);
  void setIdle(bool idle);  // whether no program runs, so that the switches can be used
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void chosenChanged();    // the user changed chosen()
  void switchedByMouse();  // the change was made with the mouse; emitted after chosenChanged()
  void searchRequested();
  void cancelRequested();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  enum class State : uint8_t { kNotPlanned, kWaits, kBegan, kPlanned };
  // A row of the list. Texts are in English, and empty if no result contained the toggle.
  struct Entry {
    std::string toggle;  // "lora=16"
    std::string label, explains, changes;
    std::vector<std::string> excludes;         // names of toggles
    std::vector<program::ToggleChange> lines;  // what to write in the program
    std::optional<double> saves, factor;       // saves: bytes; factor: relative time
    bool effect = false;
    std::string error;
    State state = State::kNotPlanned;
  };
  // What is known about a script and its toggles.
  struct Known {
    program::Request asked;  // the request of the last search
    QDateTime saved;         // when the script was last saved
    std::vector<std::string> chosen;
    std::vector<Entry> entries;
    std::vector<program::ToggleReport> do_not_apply;
    double start_ms = 0;       // the time of a step without toggles
    int planned = 0, all = 0;  // of the last search's toggles: planned so far, all (0: unknown)
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
  static void Sort(Known& of);  // sorts by saving, the largest first
  static void SetSavings(Known& of, const QJsonObject& result);
  static void SetPlanning(Known& of, const QJsonObject& part);
  void Show(const Known& of);  // shows `of` if it is about the program in the form
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
  static QString TextOf(const std::vector<program::ToggleChange>& lines);
  QString LinesToWrite() const;  // the lines of the toggles that are on

  std::map<std::string, Known> programs_;  // key: the script
  program::Request request_;               // the request in the form
  Known* now_ = &programs_[request_.script];
  std::string searched_;     // the script of the running search
  std::vector<Line> lines_;  // the widgets of now_->entries
  timeline::Theme theme_ = timeline::Theme::Dark();
  bool idle_ = true, searching_ = false, can_search_ = false;
  QPushButton* search_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QVBoxLayout* column_ = nullptr;  // the layout of the rows
  WrappedLabel* empty_ = nullptr;
  WrappedLabel* says_ = nullptr;
  WrappedLabel* note_ = nullptr;    // states that the savings are outdated
  WrappedLabel* others_ = nullptr;  // lists the toggles that do not apply
  QPushButton* copy_ = nullptr;
};

}  // namespace vramscope::ui
