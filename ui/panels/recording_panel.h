// The panel on the left side of the window when a recorded file is shown. It states what kind of
// file it is, where its labels come from, and why nothing can be toggled. The panel edits nothing.
#pragma once

#include <QJsonObject>
#include <QWidget>

#include "ui/panels/rows.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace vramscope::ui {

class WrappedLabel;

class RecordingPanel : public QWidget {
  Q_OBJECT
 public:
  explicit RecordingPanel(QWidget* parent = nullptr);
  void setDigest(const Digest& digest, const QString& file, bool partial);
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void planRequested();                     // the user wants a plan to compare with
  void partRequested();                     // the user wants to open a part of this file
  void pageRequested(const QString& page);  // `page`: id of an explain page, such as "what-if"

 private:
  QLabel* heading_ = nullptr;
  QLabel* calm_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QWidget* facts_box_ = nullptr;
  QLabel* inferred_ = nullptr;
  QGridLayout* rules_ = nullptr;
  QWidget* rules_box_ = nullptr;
  QLabel* assumed_ = nullptr;
  WrappedLabel* assumed_list_ = nullptr;
  QPushButton* what_if_ = nullptr;
  QPushButton* part_ = nullptr;
  RecordingFacts shown_;
};

}  // namespace vramscope::ui
