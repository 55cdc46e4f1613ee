// The commands that search everywhere or in a table, and go to the next match.
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTabWidget>

#include "ui/panels/allocations_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {

void MainWindow::AddFindActions() {
  const QString menu = tr("Edit");
  actions_.Add(
      {.id = "edit.find",
       .menu = menu,
       .text = tr("Find …"),
       .shortcuts = {QKeySequence(QStringLiteral("Ctrl+F"))},
       .run =
           [this] {
             openPage(QStringLiteral("search"));
             search_->focusEdit();
           },
       .enabled = [this] { return session().shown() != nullptr && !StateIsShown(); },
       .tip = tr("Finds blocks, kernels, calls, ops, modules, stacks and annotations"),
       .why_not = tr("A snapshot without a history has no timeline. Filter the tables instead"),
       .words = {tr("search"), tr("filter")}});
  actions_.Add({.id = "edit.filter",
                .menu = menu,
                .text = tr("Filter the current table (default: Allocations)"),
                .shortcuts = {QKeySequence(QStringLiteral("/"))},
                .run =
                    [this] {
                      tables_dock_->show();
                      QLineEdit* filter = allocations_->searchEdit();
                      for (QLineEdit* edit : tabs_->currentWidget()->findChildren<QLineEdit*>())
                        if (edit->objectName().endsWith(QLatin1String("Filter")) &&
                            edit->isVisible())
                          filter = edit;
                      if (filter == allocations_->searchEdit())
                        tabs_->setCurrentWidget(allocations_);
                      filter->setFocus();
                      filter->selectAll();
                    },
                .enabled = [this] { return session().shown() != nullptr; }});
  const auto step = [this](int direction) {
    if (tabs_->currentWidget() == search_)
      search_->step(direction);
    else if (tabs_->currentWidget() == kernels_)
      kernels_->step(direction);
    else if (tabs_->currentWidget() == allocations_)
      allocations_->step(direction);
    else if (TableView* table = TableInFront())
      table->step(direction);
  };
  actions_.Add(
      {.id = "edit.find-next",
       .menu = menu,
       .text = tr("Find next"),
       .shortcuts = {QKeySequence(QStringLiteral("F3"))},
       .run = [step] { step(1); },
       .enabled = [this] { return session().shown() != nullptr; },
       .tip =
           tr("Selects the next row of the current table and shows its blocks in the timeline")});
  actions_.Add({.id = "edit.find-previous",
                .menu = menu,
                .text = tr("Find previous"),
                .shortcuts = {QKeySequence(QStringLiteral("Shift+F3"))},
                .run = [step] { step(-1); },
                .enabled = [this] { return session().shown() != nullptr; }});
}

// If the focused widget does not use Esc, Esc moves the focus to the timeline. A field that
// contains text keeps the focus, because leaving it may apply the text.
void MainWindow::keyPressEvent(QKeyEvent* event) {
  const QWidget* focus = QApplication::focusWidget();
  const auto* field = qobject_cast<const QLineEdit*>(focus);
  const auto* box = qobject_cast<const QComboBox*>(focus);
  const bool typing = (field != nullptr && !field->text().isEmpty()) ||
                      (box != nullptr && box->isEditable()) ||
                      qobject_cast<const QAbstractSpinBox*>(focus) != nullptr;
  if (event->key() == Qt::Key_Escape && event->modifiers() == Qt::NoModifier && !typing &&
      timeline_->isVisible())
    timeline_->setFocus();
  else
    QMainWindow::keyPressEvent(event);
}

}  // namespace vramscope::ui
