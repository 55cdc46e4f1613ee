#include "ui/shell/command_palette.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kWidth = 560, kHeight = 380;

// Keys of the canvas itself: they are no actions, for they work under the mouse.
struct CanvasKey {
  const char* keys;
  const char* what;
};
constexpr CanvasKey kCanvasKeys[] = {
    {"W / S, Ctrl+wheel", "zoom in / out at the mouse"},
    {"A / D, wheel", "pan left / right"},
    {"Drag", "select a range"},
    {"Shift+drag, middle drag", "pan"},
    {"Click", "select a block, place the cursor"},
    {"Double click", "zoom to the block"},
    {"Esc", "clear the selection"},
};

QString Clean(QString text) { return text.remove(QLatin1Char('&')); }

}  // namespace

int MatchScore(const QString& typed, const QString& name) {
  if (typed.isEmpty()) return 0;
  const qsizetype whole = name.indexOf(typed, 0, Qt::CaseInsensitive);
  if (whole >= 0) return static_cast<int>(whole);
  qsizetype at = 0;
  int score = 100;
  for (const QChar c : typed) {
    if (c.isSpace()) continue;
    const qsizetype found = name.indexOf(c, at, Qt::CaseInsensitive);
    if (found < 0) return -1;
    score += static_cast<int>(found - at);
    at = found + 1;
  }
  return score;
}

CommandPalette::CommandPalette(const ActionRegistry& registry, QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint), registry_(registry) {
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName(QStringLiteral("commandPalette"));
  resize(kWidth, kHeight);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 10);
  input_ = new QLineEdit;
  input_->setPlaceholderText(tr("Type a command"));
  list_ = new QListWidget;
  list_->setFont(PanelFont(timeline::Font::kBody));
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  column->addWidget(input_);
  column->addWidget(list_);
  input_->installEventFilter(this);
  connect(input_, &QLineEdit::textChanged, this, &CommandPalette::Filter);
  connect(input_, &QLineEdit::returnPressed, this, &CommandPalette::RunCurrent);
  connect(list_, &QListWidget::itemActivated, this, &CommandPalette::RunCurrent);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::RunCurrent);
  Filter({});
  input_->setFocus();
}

int CommandPalette::shown() const { return list_->count(); }

void CommandPalette::Filter(const QString& text) {
  list_->clear();
  struct Hit {
    int score;
    const ActionRegistry::Entry* entry;
  };
  std::vector<Hit> hits;
  for (const ActionRegistry::Entry& entry : registry_.entries()) {
    const QString name = QStringLiteral("%1: %2").arg(entry.spec.menu, Clean(entry.action->text()));
    const int score = MatchScore(text.trimmed(), name);
    if (score >= 0) hits.push_back({score, &entry});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& x, const Hit& y) { return x.score < y.score; });
  for (const Hit& hit : hits) {
    QString line =
        QStringLiteral("%1: %2").arg(hit.entry->spec.menu, Clean(hit.entry->action->text()));
    const QKeySequence key = hit.entry->action->shortcut();
    if (!key.isEmpty()) line += QStringLiteral("    ") + key.toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(line, list_);
    item->setData(Qt::UserRole, hit.entry->spec.id);
    if (!hit.entry->action->isEnabled()) item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
  }
  list_->setCurrentRow(0);
}

void CommandPalette::RunCurrent() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr) return;
  QAction* action = registry_.Find(item->data(Qt::UserRole).toString());
  close();
  if (action != nullptr) action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == input_ && event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {
      const int step = key->key() == Qt::Key_Down ? 1 : -1;
      list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, list_->count() - 1));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

ShortcutSheet::ShortcutSheet(const ActionRegistry& registry, QWidget* parent) : QDialog(parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName(QStringLiteral("shortcutSheet"));
  setWindowTitle(tr("Keyboard shortcuts"));
  auto* outer = new QVBoxLayout(this);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  auto* inside = new QWidget;
  auto* grid = new QGridLayout(inside);
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(5);
  int line = 0;
  QString menu;
  auto heading = [&](const QString& text) {
    QLabel* label = MakeLabel(text.toUpper(), LabelRole::kHeading);
    label->setContentsMargins(0, line > 0 ? 10 : 0, 0, 2);
    grid->addWidget(label, line++, 0, 1, 2);
  };
  auto row = [&](const QString& what, const QString& keys) {
    grid->addWidget(MakeLabel(what, LabelRole::kBody), line, 0);
    grid->addWidget(MakeLabel(keys, LabelRole::kNumberDim), line++, 1);
  };
  for (const ActionRegistry::Entry& entry : registry.entries()) {
    if (entry.spec.shortcuts.isEmpty()) continue;
    if (entry.spec.menu != menu) heading(menu = entry.spec.menu);
    QStringList keys;
    for (const QKeySequence& key : entry.spec.shortcuts)
      keys << key.toString(QKeySequence::NativeText);
    row(Clean(entry.action->text()), keys.join(tr(" or ")));
  }
  heading(tr("Timeline"));
  for (const CanvasKey& key : kCanvasKeys)
    row(QString::fromUtf8(key.what), QString::fromUtf8(key.keys));
  grid->setColumnStretch(0, 1);
  scroll->setWidget(inside);
  outer->addWidget(scroll);
  resize(520, 640);
}

}  // namespace vramscope::ui
