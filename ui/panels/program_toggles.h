// The techniques of a user's program: a switch for each toggle that applies, what it saves, and the
// line to write for it. The widget runs nothing itself.
//
//   toggles->setSavings(result);   // of `vramscope toggles --savings --json -- PROGRAM`
//   connect(toggles, &ProgramToggles::chosenChanged, ..., [&] { Plan(toggles->chosen()); });
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

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
  void setSavings(const QJsonObject& result);
  void forget();                      // another program: no rows, none chosen
  void say(const QString& text);      // below the rows; empty: nothing
  void setSearching(bool searching);  // the button cancels then
  void setCanSearch(bool can);
  void setIdle(bool idle);  // no program runs: the switches can be used
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void chosenChanged();  // by the user
  void searchRequested();
  void cancelRequested();

 private:
  // A row of the result. A toggle that was only chosen has no figures.
  struct Entry {
    std::string toggle;  // "lora=16"
    QString label, explains, changes;
    std::vector<std::string> excludes;    // names
    QStringList lines;                    // to write, each with its place
    std::optional<double> saves, factor;  // bytes; relative time
    bool effect = false;
    QString error;
  };
  struct Line {
    QWidget* widget = nullptr;
    ToggleSwitch* toggle = nullptr;
    WrappedLabel* lines = nullptr;
    QLabel* saving = nullptr;
    QLabel* factor = nullptr;
  };
  static Entry ReadEntry(const QJsonObject& json, double start_ms);
  void Rebuild();
  Line MakeRow(const Entry& entry);
  void Update();
  void Switch(const std::string& toggle, bool on);
  bool IsOn(const std::string& toggle) const;
  QString LinesToWrite() const;  // of the toggles that are on

  std::vector<std::string> chosen_;
  std::vector<Entry> entries_;
  std::vector<Line> lines_;  // of entries_
  timeline::Theme theme_ = timeline::Theme::Dark();
  bool idle_ = true, searching_ = false, can_search_ = false;
  QPushButton* search_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QVBoxLayout* column_ = nullptr;  // of the rows
  WrappedLabel* empty_ = nullptr;
  WrappedLabel* says_ = nullptr;
  WrappedLabel* others_ = nullptr;  // the toggles that do not apply
  QPushButton* copy_ = nullptr;
};

}  // namespace vramscope::ui
