// The tabs of the documents, above the canvas. They are hidden while there is only one document.
// Dragging a tab onto another tab compares the two documents. Dragging a tab between two tabs moves
// it there.
//
//   auto* tabs = new DocumentTabs;
//   connect(tabs, &DocumentTabs::chosen, this, &MainWindow::showDocument);
//   tabs->setDocuments(documents);
//
// UI thread only.
#pragma once

#include <QJsonArray>
#include <QTabBar>
#include <QWidget>
#include <vector>

#include "ui/documents/document_list.h"
#include "ui/timeline/theme.h"

class QToolButton;

namespace vramscope::ui {

// The MIME type of a dragged tab. Its data is the document's id.
inline constexpr const char* kDocumentMime = "application/x-vramscope-document";

class DocumentTabBar;

class DocumentTabs : public QWidget {
  Q_OBJECT
 public:
  explicit DocumentTabs(QWidget* parent = nullptr);
  void setDocuments(const DocumentList& documents);
  void setTheme(const timeline::Theme& theme);
  // For each tab, returns its title, its state and whether it is shown, for tests and --dump-state.
  QJsonArray dumpState() const;
  QTabBar* bar() const;  // for tests

 Q_SIGNALS:
  void chosen(vramscope::ui::DocumentId id);
  void closeRequested(vramscope::ui::DocumentId id);
  void closeOtherTabsRequested(vramscope::ui::DocumentId id);
  void compareRequested(vramscope::ui::DocumentId shown, vramscope::ui::DocumentId with);
  void moved(size_t from, size_t to);
  void newRequested();

 private:
  struct Tab {
    DocumentId id = 0;
    QString title, tip;
    DocumentState state = DocumentState::kEmpty;
    bool unseen = false;
    friend bool operator==(const Tab&, const Tab&) = default;
  };
  void Fill(const std::vector<Tab>& tabs);
  void ShowMenu(int tab, const QPoint& at);
  QIcon IconOf(const Tab& tab) const;

  std::vector<Tab> tabs_;
  timeline::Theme theme_;
  DocumentTabBar* bar_ = nullptr;
  QToolButton* new_ = nullptr;
  friend class DocumentTabBar;
};

// The tab bar of DocumentTabs, with drag and drop.
class DocumentTabBar : public QTabBar {
  Q_OBJECT
 public:
  explicit DocumentTabBar(DocumentTabs* tabs);
  // What happens if the dragged tab is dropped at a position.
  struct Drop {
    int onto = -1;    // the tab with which it is compared; -1: no comparison
    int before = -1;  // the tab before which it moves; count(): to the end; -1: no move
  };
  Drop DropAt(const QPoint& at) const;

 Q_SIGNALS:
  void middleClicked(int tab);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  QSize minimumTabSizeHint(int index) const override;

 private:
  DocumentTabs* tabs_;
  QPoint press_;
  int pressed_ = -1;
  Drop drop_;
};

}  // namespace vramscope::ui
