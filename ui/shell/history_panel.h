// The history of the shown document. Each result has a row: what was changed, the allocated and
// reserved peaks, the step time and the time of day. A click shows the result. Dragging a row onto
// another row compares the two results. C compares the selected row with the current result.
//
//   auto* panel = new HistoryPanel;
//   connect(panel, &HistoryPanel::chosen, this, &MainWindow::showEntry);
//   panel->setHistory(document);
//
// UI thread only.
#pragma once

#include <QAbstractListModel>
#include <QJsonArray>
#include <QListView>
#include <QStyledItemDelegate>
#include <QWidget>
#include <vector>

#include "ui/documents/document.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class HistoryModel;
class HistoryView;

class HistoryPanel : public QWidget {
  Q_OBJECT
 public:
  explicit HistoryPanel(QWidget* parent = nullptr);
  void setHistory(const Document& document);
  void setTheme(const timeline::Theme& theme);
  // Returns the rows, the oldest first, for tests and --dump-state.
  QJsonArray dumpState() const;
  QListView* list() const;  // for tests

  struct Row {
    QString change, clock, allocated, reserved, time, difference, tip;
    int notes = 0;     // number of notes on the result
    int64_t less = 0;  // difference from the previous result in bytes; < 0: less memory
    bool current = false;
    friend bool operator==(const Row&, const Row&) = default;
  };

 Q_SIGNALS:
  void chosen(size_t entry);
  void compareRequested(size_t shown, size_t with);

 private:
  HistoryModel* model_ = nullptr;
  HistoryView* view_ = nullptr;
};

class HistoryModel : public QAbstractListModel {
  Q_OBJECT
 public:
  using QAbstractListModel::QAbstractListModel;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  void setRows(std::vector<HistoryPanel::Row> rows);
  const std::vector<HistoryPanel::Row>& rows() const { return rows_; }
  int current() const;

 private:
  std::vector<HistoryPanel::Row> rows_;
};

class HistoryDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  HistoryDelegate(const HistoryModel* model, QObject* parent)
      : QStyledItemDelegate(parent), model_(model) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  timeline::Theme theme;

 private:
  const HistoryModel* model_;
};

class HistoryView : public QListView {
  Q_OBJECT
 public:
  explicit HistoryView(HistoryModel* model);

 Q_SIGNALS:
  void chosen(size_t entry);
  void compareRequested(size_t shown, size_t with);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void startDrag(Qt::DropActions actions) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  HistoryModel* model_;
};

}  // namespace vramscope::ui
