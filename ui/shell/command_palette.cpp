#include "ui/shell/command_palette.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>
#include <tuple>

#include "profiler/base/i18n.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kWidth = 560, kHeight = 380;

// A key or a mouse gesture of the canvas. These are not actions, because their effect depends on
// the mouse position.
struct CanvasKey {
  const char* keys;
  const char* what;
};
constexpr CanvasKey kCanvasKeys[] = {
    {TEXT_MARK("W / S, Ctrl+wheel"), TEXT_MARK("zoom in / out at the pointer")},
    {TEXT_MARK("A / D, wheel"), TEXT_MARK("pan left / right")},
    {TEXT_MARK("Drag"), TEXT_MARK("select a range")},
    {TEXT_MARK("Ctrl+drag"), TEXT_MARK("zoom to the dragged time range")},
    {TEXT_MARK("Shift+drag, middle drag"), TEXT_MARK("pan")},
    {TEXT_MARK("Click"), TEXT_MARK("select a block, place the cursor")},
    {TEXT_MARK("Double-click"), TEXT_MARK("zoom to the block")},
    {TEXT_MARK("F"), TEXT_MARK("zoom to the selection or the range")},
    {TEXT_MARK("Home, Space"), TEXT_MARK("show the whole trace")},
    {TEXT_MARK("P"), TEXT_MARK("go to the peak")},
    {TEXT_MARK("R"), TEXT_MARK("select the time range of the selected block")},
    {TEXT_MARK("[ / ]"), TEXT_MARK("previous / next kernel, or block of the same category")},
    {TEXT_MARK("Ctrl+Up / Ctrl+Down"), TEXT_MARK("previous / next track")},
    {TEXT_MARK("C / T / H"), TEXT_MARK("fold, pin or hide the track")},
    {TEXT_MARK("Alt+Up / Alt+Down"), TEXT_MARK("move the track up / down")},
    {TEXT_MARK("Alt++ / Alt+-"), TEXT_MARK("make the track taller / shorter")},
    {TEXT_MARK("Page Up / Page Down"), TEXT_MARK("scroll the tracks")},
    {TEXT_MARK("Esc"), TEXT_MARK("clear the selection")},
};

QString Clean(QString text) { return text.remove(QLatin1Char('&')); }

}  // namespace

int MatchScore(const QString& typed, const ActionSpec& spec, const QString& name) {
  // The tiers, from the best to the worst. Their scores are far apart, so the position of the match
  // matters only between two matches of the same tier.
  enum Tier { kName, kWord, kNameBegins, kWordBegins, kAlso, kInside, kWords, kScattered };
  constexpr int kTier = 10'000;
  const auto score = [](Tier tier, qsizetype at) {
    return static_cast<int>(tier * kTier + std::min<qsizetype>(at, kTier - 1));
  };
  const QString wanted = typed.simplified().toLower(), text = name.toLower();
  if (wanted.isEmpty()) return 0;
  if (text == wanted) return score(kName, 0);
  const auto letter = [](const QString& in, qsizetype at) {
    return at >= 0 && at < in.size() && in[at].isLetterOrNumber();
  };
  qsizetype begins = -1, inside = -1;
  for (qsizetype at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const bool word_begins = !letter(text, at - 1);
    if (word_begins && !letter(text, at + wanted.size())) return score(kWord, at);
    if (word_begins && begins < 0) begins = at;
    if (inside < 0) inside = at;
  }
  const auto named = [&](const QString& word) { return word == wanted; };
  if (std::any_of(spec.words.begin(), spec.words.end(), named)) return score(kWord, text.size());
  if (begins == 0) return score(kNameBegins, text.size());
  if (begins > 0) return score(kWordBegins, begins);
  for (const QString& word : spec.words)
    if (word.startsWith(wanted)) return score(kAlso, 0);
  if (inside >= 0) return score(kInside, inside);
  // Each typed word may begin a word of the menu or of the name: "view dark" finds "Dark theme" in
  // the menu "View".
  const QString all = spec.menu.toLower() + QLatin1Char(' ') + text;
  bool words = true;
  for (const QString& part : wanted.split(QLatin1Char(' '))) {
    bool found = false;
    for (qsizetype at = all.indexOf(part); at >= 0 && !found; at = all.indexOf(part, at + 1))
      found = !letter(all, at - 1);
    words = words && found;
  }
  if (words) return score(kWords, 0);
  if (spec.careful) return -1;
  qsizetype at = 0, first = -1;
  for (const QChar c : wanted) {
    if (c.isSpace()) continue;
    const qsizetype found = text.indexOf(c, at);
    if (found < 0) return -1;
    if (first < 0) first = found;
    at = found + 1;
  }
  return score(kScattered, at - first);
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

int CommandPalette::shown() const { return static_cast<int>(ids().size()); }

QStringList CommandPalette::ids() const {
  QStringList out;
  for (int row = 0; row < list_->count(); ++row) {
    const QString id = list_->item(row)->data(Qt::UserRole).toString();
    if (!id.isEmpty()) out << id;
  }
  return out;
}

void CommandPalette::Filter(const QString& text) {
  list_->clear();
  struct Hit {
    int score;
    const ActionRegistry::Entry* entry;
  };
  std::vector<Hit> hits;
  for (const ActionRegistry::Entry& entry : registry_.entries()) {
    // Skip the unused entries of the list of recent files.
    if (!entry.action->isVisible() || entry.action->text().isEmpty()) continue;
    const int score = MatchScore(text, entry.spec, Clean(entry.action->text()));
    if (score >= 0) hits.push_back({score, &entry});
  }
  // Disabled commands come last.
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& x, const Hit& y) {
    const bool x_off = !x.entry->action->isEnabled(), y_off = !y.entry->action->isEnabled();
    return std::tie(x_off, x.score) < std::tie(y_off, y.score);
  });
  for (const Hit& hit : hits) {
    const QString menu = hit.entry->spec.menu + QStringLiteral(": ");
    const QString name = Clean(hit.entry->action->text());
    // Do not put the menu before a name that begins with the menu, such as "Explain: leaks".
    QString line = name.startsWith(menu) ? name : menu + name;
    const QKeySequence key = hit.entry->action->shortcut();
    if (!key.isEmpty()) line += QStringLiteral("    ") + key.toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(line, list_);
    item->setData(Qt::UserRole, hit.entry->spec.id);
    if (!hit.entry->action->isEnabled()) item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
  }
  if (hits.empty()) {
    auto* none = new QListWidgetItem(tr("No command matches."), list_);
    none->setFlags(Qt::NoItemFlags);
  }
  list_->setCurrentRow(0);
}

void CommandPalette::RunCurrent() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr) return;
  QAction* action = registry_.Find(item->data(Qt::UserRole).toString());
  if (action == nullptr || !action->isEnabled()) return;
  close();
  action->trigger();
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
    if (entry.action->shortcuts().isEmpty()) continue;
    if (entry.spec.menu != menu) heading(menu = entry.spec.menu);
    QStringList keys;
    for (const QKeySequence& key : entry.action->shortcuts())
      keys << key.toString(QKeySequence::NativeText);
    row(Clean(entry.action->text()), keys.join(tr(" or ")));
  }
  heading(tr("Timeline"));
  for (const CanvasKey& key : kCanvasKeys)
    row(QString::fromStdString(i18n::Text(key.what)), QString::fromStdString(i18n::Text(key.keys)));
  grid->setColumnStretch(0, 1);
  scroll->setWidget(inside);
  outer->addWidget(scroll);
  if (QAction* change = registry.Find(QStringLiteral("help.keys"))) {
    auto* button = new QPushButton(Clean(change->text()));
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, [this, change] {
      close();
      change->trigger();
    });
    outer->addWidget(button, 0, Qt::AlignLeft);
  }
  // Make the sheet wide enough for commands with several keys.
  constexpr int kBesideKeys = 28;  // for the scroll bar and some space
  resize(std::max(520, inside->sizeHint().width() + kBesideKeys + outer->contentsMargins().left() +
                           outer->contentsMargins().right()),
         640);
}

}  // namespace vramscope::ui
