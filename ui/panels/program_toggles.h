// The techniques of a user's program: a switch for each toggle that applies, what it saves, and the
// line to write for it. The widget runs nothing itself.
//
//   toggles->beginSearch(same);
//   toggles->setPart(part);             // a line of `vramscope toggles --savings --json-lines`
//   toggles->endSearch(result, error);  // the last one
//   connect(toggles, &ProgramToggles::chosenChanged, ..., [&] { Plan(toggles->chosen()); });
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  // NAME or NAME=VALUE. Toggles without known savings get a row, too.
  void setChosen(const std::vector<std::string>& toggles);
  const std::vector<std::string>& chosen() const { return chosen_; }
  // The toggles are being planned: the button cancels. `same`: with the settings of the last
  // search, so its savings stay until others arrive.
  void beginSearch(bool same);
  void setPart(const QJsonObject& part);
  // What has arrived stays if there is an error. Both empty: the search was of another program.
  void endSearch(const QJsonObject& result, const QString& error);
  // The program would not be planned as it was for these savings.
  void setOutdated(bool outdated);
  void forget();                  // another program: no rows, none chosen
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
  // A row of the result; its texts are in English. A toggle that was only chosen has no texts.
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
  void SetSavings(const QJsonObject& result);
  void SetPlanning(const QJsonObject& part);
  void Put(Entry entry);
  void ShowProgress();
  void Sort();  // the largest saving first
  void AddChosen();
  void ShowOthers();
  void Rebuild();
  Line MakeRow(const Entry& entry);
  void Fill(const Line& line, const Entry& entry);
  QString Explanation(const Entry& entry) const;
  void Update();
  void Switch(const std::string& toggle, bool on);
  bool IsOn(const std::string& toggle) const;
  QString LinesToWrite() const;  // of the toggles that are on

  std::vector<std::string> chosen_;
  std::vector<Entry> entries_;
  std::vector<Line> lines_;  // of entries_
  std::vector<program::ToggleReport> do_not_apply_;
  double start_ms_ = 0;       // the time of a step without toggles
  int planned_ = 0, of_ = 0;  // toggles of this search; of_ 0: not known yet
  timeline::Theme theme_ = timeline::Theme::Dark();
  bool idle_ = true, searching_ = false, can_search_ = false, outdated_ = false;
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
