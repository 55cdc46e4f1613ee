#include "ui/shell/keys_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/key_bindings.h"
#include "ui/timeline/canvas_keys.h"

namespace vramscope::ui {
namespace {

QString KeysText(const KeyBindings::Keys& keys) {
  QStringList texts;
  for (const QKeySequence& key : keys) texts << key.toString(QKeySequence::NativeText);
  return texts.join(QStringLiteral(", "));
}

// Returns whether this is a key that the canvas itself handles while it has the focus.
bool IsOfCanvas(const QKeySequence& key) {
  if (key.count() != 1) return false;
  const QKeyCombination first = key[0];
  return timeline::KeyOf(QKeyEvent(QEvent::KeyPress, first.key(), first.keyboardModifiers()))
      .has_value();
}

}  // namespace

KeyEdit::KeyEdit(QWidget* parent) : QLineEdit(parent) {
  setReadOnly(true);
  setPlaceholderText(tr("Press a key"));
}

void KeyEdit::setKey(const QKeySequence& key) {
  if (key == key_) return;
  key_ = key;
  setText(key.toString(QKeySequence::NativeText));
  Q_EMIT keyChanged();
}

// Also receives keys that are shortcuts of the window's commands, instead of the commands.
bool KeyEdit::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    event->accept();
    return true;
  }
  return QLineEdit::event(event);
}

void KeyEdit::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  Qt::KeyboardModifiers held = event->modifiers() & ~(Qt::KeypadModifier | Qt::GroupSwitchModifier);
  switch (key) {
    case 0:
    case Qt::Key_unknown:
    case Qt::Key_Shift:
    case Qt::Key_Control:
    case Qt::Key_Alt:
    case Qt::Key_AltGr:
    case Qt::Key_Meta:
      return;  // a modifier alone is not a key
    case Qt::Key_Escape:
      if (held == Qt::NoModifier) return setKey({});
      break;
    default:
      break;
  }
  // Store a key such as "?" without its Shift, because only some keyboards need Shift to type it.
  const QString text = event->text();
  if (!text.isEmpty() && text[0].isPrint() && !text[0].isLetter() && !text[0].isSpace())
    held &= ~Qt::ShiftModifier;
  setKey(QKeySequence(QKeyCombination(held, static_cast<Qt::Key>(key))));
}

KeysPage::KeysPage(const ActionRegistry& registry, KeyBindings* bindings, QWidget* parent)
    : QWidget(parent), registry_(registry), bindings_(bindings) {
  setObjectName(QStringLiteral("keysPage"));
  auto* column = new QVBoxLayout(this);
  filter_ = new QLineEdit;
  filter_->setObjectName(QStringLiteral("keysFilter"));
  filter_->setPlaceholderText(tr("Find a command, or a key such as Ctrl+F"));
  filter_->setClearButtonEnabled(true);
  column->addWidget(filter_);
  model_ = new TableModel(this);
  view_ = new TableView;
  view_->setObjectName(QStringLiteral("keysTable"));
  view_->setRowModel(model_);
  view_->setSelectionMode(QAbstractItemView::SingleSelection);
  view_->setEmptyText(tr("No command has this name or key."));
  column->addWidget(view_, 1);
  of_ = MakeLabel({}, LabelRole::kBold);
  column->addWidget(of_);
  auto* line = new QHBoxLayout;
  edit_ = new KeyEdit;
  edit_->setObjectName(QStringLiteral("keyEdit"));
  line->addWidget(edit_, 1);
  const auto button = [&](const char* name, const QString& text, const QString& tip) {
    auto* made = new QPushButton(text);
    made->setObjectName(QString::fromLatin1(name));
    made->setToolTip(tip);
    made->setAutoDefault(false);
    line->addWidget(made);
    return made;
  };
  set_ = button("keySet", tr("Set"), tr("Make this key the only key of the command"));
  add_ = button("keyAdd", tr("Add"), tr("Add this key to the command"));
  remove_ = button("keyRemove", tr("Clear"),
                   tr("Remove all keys of the command. The command stays in the menus"));
  reset_ = button("keyReset", tr("Reset"), tr("Restore the default keys of the command"));
  column->addLayout(line);
  auto* below = new QHBoxLayout;
  said_ = MakeLabel({}, LabelRole::kDim);
  said_->setObjectName(QStringLiteral("keysSaid"));
  said_->setWordWrap(true);
  below->addWidget(said_, 1);
  reset_all_ = new QPushButton(tr("Reset all"));
  reset_all_->setObjectName(QStringLiteral("keysResetAll"));
  reset_all_->setAutoDefault(false);
  below->addWidget(reset_all_);
  column->addLayout(below);

  connect(filter_, &QLineEdit::textChanged, this, &KeysPage::Fill);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    if (!filling_) ShowChosen();
  });
  connect(edit_, &KeyEdit::keyChanged, this, &KeysPage::ShowChosen);
  connect(set_, &QPushButton::clicked, this, [this] { Set(false); });
  connect(add_, &QPushButton::clicked, this, [this] { Set(true); });
  connect(remove_, &QPushButton::clicked, this, [this] {
    const QString id = Chosen();
    Say(bindings_->set(id, {}), tr("%1 has no keys now").arg(NameOf(id)));
  });
  connect(reset_, &QPushButton::clicked, this, [this] {
    const QString id = Chosen();
    Say(bindings_->reset(id), tr("%1 has its default keys again").arg(NameOf(id)));
  });
  connect(reset_all_, &QPushButton::clicked, this,
          [this] { Say(bindings_->resetAll(), tr("All commands have their default keys again")); });
  Fill();
  if (!bindings_->error().isEmpty())
    Say(absl::InvalidArgumentError(bindings_->error().toStdString()), {});
}

void KeysPage::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

QString KeysPage::NameOf(const QString& id) const {
  const QAction* action = registry_.Find(id);
  return action == nullptr ? id : action->text().remove(QLatin1Char('&'));
}

void KeysPage::Fill() {
  const QString chosen = Chosen(), wanted = filter_->text().trimmed();
  Table table;
  table.columns = {{tr("Command").toStdString(), false, 300},
                   {tr("Keys").toStdString(), false, 110},
                   {tr("Default").toStdString(), false, 110}};
  for (size_t i = 0; i < registry_.entries().size(); ++i) {
    const ActionRegistry::Entry& entry = registry_.entries()[i];
    if (entry.action->text().isEmpty()) continue;  // an unused entry for a recent file
    const QString name = QStringLiteral("%1: %2").arg(entry.spec.menu, NameOf(entry.spec.id));
    const KeyBindings::Keys keys = bindings_->keysOf(entry.spec.id);
    const QString text = KeysText(keys), came = KeysText(entry.spec.shortcuts);
    if (!name.contains(wanted, Qt::CaseInsensitive) && !text.contains(wanted, Qt::CaseInsensitive))
      continue;
    const bool twice = std::any_of(keys.begin(), keys.end(), [&](const QKeySequence& key) {
      return !bindings_->usersOf(key, entry.spec.id).isEmpty();
    });
    Row row;
    row.group = static_cast<uint32_t>(i);
    row.marked = bindings_->changed(entry.spec.id);
    row.cells = {
        {.text = name.toStdString(), .exact = entry.spec.id.toStdString()},
        {.text = text.toStdString(), .tone = twice ? Cell::Tone::kBad : Cell::Tone::kPlain},
        {.text = came.toStdString(), .tone = Cell::Tone::kDim}};
    table.rows.push_back(std::move(row));
  }
  filling_ = true;
  model_->setTable(std::move(table));
  filling_ = false;
  if (chosen.isEmpty())
    view_->selectRow(0);
  else
    choose(chosen);
  ShowChosen();
}

void KeysPage::choose(const QString& id) {
  for (int row = 0; row < model_->rowCount(); ++row)
    if (model_->cell(row, 0)->exact == id.toStdString()) {
      view_->selectRow(row);
      view_->scrollTo(model_->index(row, 0));
    }
}

QString KeysPage::Chosen() const {
  const QModelIndex now = view_->currentIndex();
  return now.isValid() && now.row() < model_->rowCount()
             ? QString::fromStdString(model_->cell(now.row(), 0)->exact)
             : QString();
}

// Updates the buttons and the text. The text names the command to which the pressed key belongs
// now.
void KeysPage::ShowChosen() {
  const QString id = Chosen();
  const QKeySequence key = edit_->key();
  of_->setText(id.isEmpty() ? tr("Choose a command above")
                            : tr("Press the new key for “%1”").arg(NameOf(id)));
  edit_->setEnabled(!id.isEmpty());
  const bool can = !id.isEmpty() && !key.isEmpty() && bindings_->error().isEmpty();
  const KeyBindings::Keys has = bindings_->keysOf(id);
  set_->setEnabled(can && has != KeyBindings::Keys{key});
  add_->setEnabled(can && !has.contains(key) && has.size() < KeyBindings::kMostKeys);
  remove_->setEnabled(!id.isEmpty() && !has.isEmpty() && bindings_->error().isEmpty());
  reset_->setEnabled(!id.isEmpty() && bindings_->changed(id));
  reset_all_->setEnabled(bindings_->any());
  const QStringList others = key.isEmpty() ? QStringList() : bindings_->usersOf(key, id);
  set_->setText(others.isEmpty() ? tr("Set") : tr("Reassign"));
  if (!bindings_->error().isEmpty()) return;
  const QString text = key.toString(QKeySequence::NativeText);
  if (!others.isEmpty()) {
    said_->setText(
        tr("“%2” currently uses %1 and will lose this key").arg(text, NameOf(others.front())));
    SetTone(said_, "bad");
  } else if (!key.isEmpty() && IsOfCanvas(key)) {
    said_->setText(tr("The timeline currently uses %1 and will lose this key").arg(text));
    SetTone(said_, "bad");
  } else {
    said_->clear();
    SetTone(said_, "dim");
  }
}

void KeysPage::Set(bool beside) {
  const QString id = Chosen();
  const QKeySequence key = edit_->key();
  if (id.isEmpty() || key.isEmpty()) return;
  KeyBindings::Keys keys = beside ? bindings_->keysOf(id) : KeyBindings::Keys();
  keys << key;
  const absl::Status status = bindings_->set(id, keys);
  edit_->setKey({});
  Say(status, tr("%1: %2").arg(NameOf(id), KeysText(keys)));
}

void KeysPage::Say(const absl::Status& status, const QString& done) {
  Fill();
  said_->setText(status.ok() ? done : ToQString(std::string(status.message())));
  SetTone(said_, status.ok() ? "dim" : "bad");
}

}  // namespace vramscope::ui
