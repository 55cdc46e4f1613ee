// Changes the language of an open window. To find the English source of a label's text, searches
// the translations into the previous language. For a text with arguments, searches for the template
// that matches it.
#include <QAbstractItemModel>
#include <QAction>
#include <QComboBox>
#include <QCoreApplication>
#include <QLineEdit>
#include <QMetaProperty>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QTabBar>
#include <QWidget>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ui/language/language.h"
#include "ui/language/translations.h"

namespace vramscope::ui {
namespace {

const QRegularExpression& Placeholder() {
  // Does not match the placeholders of i18n::Format. Texts with such placeholders depend on data,
  // so the pages rebuild them.
  static const QRegularExpression expression(QStringLiteral("%L?(\\d{1,2}|n)"));
  return expression;
}

// A translated text with placeholders for arguments.
struct Template {
  QString begin;          // up to the first placeholder
  qsizetype letters = 0;  // number of letters outside of placeholders
  QRegularExpression whole;
  QStringList arguments;  // the placeholders' names, in the order of `expression`'s groups
  QList<AnsweredText> answered;
};

QStringList PlacesIn(const QString& text, QStringList* between) {
  QStringList places;
  qsizetype from = 0;
  auto matches = Placeholder().globalMatch(text);
  while (matches.hasNext()) {
    const QRegularExpressionMatch match = matches.next();
    *between << text.mid(from, match.capturedStart() - from);
    from = match.capturedEnd();
    places << match.captured(1);
  }
  *between << text.mid(from);
  return places;
}

std::vector<Template> MakeTemplates(const Answered& answered) {
  std::vector<Template> out;
  for (auto at = answered.begin(); at != answered.end(); ++at) {
    QStringList between;
    const QStringList places = PlacesIn(at.key(), &between);
    if (places.isEmpty()) continue;
    Template made;
    made.begin = between.front();
    qsizetype words = 0;
    // `words` counts letters. A Chinese character counts as two.
    for (const QString& text : between) {
      made.letters += text.size();
      for (const QChar c : text)
        if (c.isLetter()) words += c.unicode() < 0x2e80 ? 1 : 2;
    }
    if (words < 3) continue;  // "%1, %2" and "%1 of %2" would match too many texts
    QString pattern = QRegularExpression::escape(between.front());
    for (qsizetype i = 0; i < places.size(); ++i)
      pattern += QStringLiteral("(.*)") + QRegularExpression::escape(between[i + 1]);
    made.whole = QRegularExpression(QRegularExpression::anchoredPattern(pattern),
                                    QRegularExpression::DotMatchesEverythingOption);
    made.arguments = places;
    made.answered = at.value();
    out.push_back(std::move(made));
  }
  // Try templates with more literal text first: "%1 of %2 found" before "%1 found".
  std::stable_sort(out.begin(), out.end(),
                   [](const Template& a, const Template& b) { return a.letters > b.letters; });
  return out;
}

QString Now(const AnsweredText& text) {
  return QCoreApplication::translate(
      text.context.constData(), text.source.constData(),
      text.disambiguation.isEmpty() ? nullptr : text.disambiguation.constData(), text.n);
}

// Chooses between English texts with the same translation. Prefers the text of the innermost class
// of `contexts`, then a text of code without Qt, then texts of the outer classes.
const AnsweredText& Choose(const QList<AnsweredText>& answered, const QStringList& contexts) {
  const auto of = [&](const QString& context) {
    return std::find_if(answered.begin(), answered.end(), [&](const AnsweredText& text) {
      return QString::fromUtf8(text.context) == context;
    });
  };
  QStringList order = contexts;
  order.insert(std::min<qsizetype>(1, order.size()), QStringLiteral("text"));
  for (const QString& context : order)
    if (const auto found = of(context); found != answered.end()) return *found;
  return answered.front();
}

class Retranslator {
 public:
  Retranslator() : templates_(MakeTemplates(AnsweredBefore())) {}

  // Finds a text without arguments.
  std::optional<AnsweredText> Whole(const QString& text, const QStringList& contexts) const {
    const auto found = AnsweredBefore().find(text);
    if (text.isEmpty() || found == AnsweredBefore().end()) return std::nullopt;
    return Choose(found.value(), contexts);
  }
  std::optional<QString> Of(const QString& text, const QStringList& contexts) const {
    if (text.isEmpty()) return std::nullopt;
    if (const auto whole = Whole(text, contexts)) return Now(*whole);
    for (const Template& made : templates_) {
      if (!text.startsWith(made.begin)) continue;
      const QRegularExpressionMatch match = made.whole.match(text);
      if (match.hasMatch()) return Filled(made, match, contexts);
    }
    return std::nullopt;
  }

 private:
  QString Filled(const Template& made, const QRegularExpressionMatch& match,
                 const QStringList& contexts) const {
    QHash<QString, QString> values;
    const Answered& before = AnsweredBefore();
    for (qsizetype i = 0; i < made.arguments.size(); ++i) {
      QString value = match.captured(static_cast<int>(i) + 1);
      if (const auto found = before.find(value); found != before.end())
        value = Now(Choose(found.value(), contexts));
      values.insert(made.arguments[i], value);
    }
    QStringList between;
    const QStringList places = PlacesIn(Now(Choose(made.answered, contexts)), &between);
    QString out = between.front();
    for (qsizetype i = 0; i < places.size(); ++i) out += values.value(places[i]) + between[i + 1];
    return out;
  }

  std::vector<Template> templates_;
};

QStringList ContextsOf(const QObject* object) {
  QStringList contexts;
  for (const QObject* at = object; at != nullptr; at = at->parent()) {
    for (const QMetaObject* meta = at->metaObject(); meta != nullptr; meta = meta->superClass()) {
      const QString name = QString::fromLatin1(meta->className());
      if (name.startsWith(QLatin1Char('Q')) && name != QLatin1String("QObject")) break;
      contexts << name;
    }
  }
  return contexts;
}

// Returns true if the property contains the user's input, or a name by which code finds objects.
bool IsTextOfOthers(const QObject* object, const char* property) {
  const QByteArrayView name(property);
  if (name == "objectName" || name == "styleSheet" || name == "windowFilePath" ||
      name == "currentText" || name == "html" || name == "markdown" || name == "plainText" ||
      name == "inputMask" || name == "windowIconText")
    return true;
  return name == "text" && qobject_cast<const QLineEdit*>(object) != nullptr;
}

// The text that a property, tab or item shows, and its English source. When the user changes back
// to the previous language, the source restores exactly the same text.
struct Shown {
  QString text;
  AnsweredText of;
};
using ShownTexts = QHash<QString, Shown>;  // keyed by property name, "tab 3", "item 3"
QHash<const QObject*, ShownTexts>& Remembered() {
  static QHash<const QObject*, ShownTexts> remembered;
  return remembered;
}

// Returns `text` in the current language, and remembers it. `what`: the property, tab or item that
// shows it.
std::optional<QString> Switched(const Retranslator& of, QObject* object, const QString& what,
                                const QString& text, const QStringList& contexts) {
  ShownTexts& shown = Remembered()[object];
  const auto known = shown.constFind(what);
  const std::optional<AnsweredText> source =
      known != shown.constEnd() && known->text == text ? known->of : of.Whole(text, contexts);
  if (!source) return of.Of(text, contexts);
  const QString now = Now(*source);
  shown[what] = {now, *source};
  return now;
}

void RetranslateOne(const Retranslator& of, QObject* object) {
  const QStringList contexts = ContextsOf(object);
  if (!Remembered().contains(object))
    QObject::connect(object, &QObject::destroyed, object,
                     [object] { Remembered().remove(object); });
  const QMetaObject* meta = object->metaObject();
  // Properties of derived classes come first, because an ElidedLabel's own text determines the text
  // of its base class.
  for (int i = meta->propertyCount() - 1; i >= 0; --i) {
    const QMetaProperty property = meta->property(i);
    if (property.metaType().id() != QMetaType::QString || !property.isWritable() ||
        !property.isReadable() || IsTextOfOthers(object, property.name()))
      continue;
    const QString text = property.read(object).toString();
    if (const auto now = Switched(of, object, QString::fromLatin1(property.name()), text, contexts);
        now && *now != text)
      property.write(object, *now);
  }
  if (auto* tabs = qobject_cast<QTabBar*>(object)) {
    for (int i = 0; i < tabs->count(); ++i) {
      if (const auto now =
              Switched(of, tabs, QStringLiteral("tab %1").arg(i), tabs->tabText(i), contexts))
        tabs->setTabText(i, *now);
      if (const auto now = of.Of(tabs->tabToolTip(i), contexts)) tabs->setTabToolTip(i, *now);
    }
  }
  if (auto* box = qobject_cast<QComboBox*>(object)) {
    for (int i = 0; i < box->count(); ++i) {
      // An item may be a name, which must not be translated, although it could match a template. So
      // an item is replaced only if its whole text was a translation.
      if (of.Whole(box->itemText(i), contexts) ||
          Remembered()[box].contains(QStringLiteral("item %1").arg(i)))
        if (const auto now =
                Switched(of, box, QStringLiteral("item %1").arg(i), box->itemText(i), contexts))
          box->setItemText(i, *now);
      if (const auto now = of.Of(box->itemData(i, Qt::ToolTipRole).toString(), contexts))
        box->setItemData(i, *now, Qt::ToolTipRole);
    }
  }
  // Make the headers read their texts again.
  if (auto* model = qobject_cast<QAbstractItemModel*>(object);
      model != nullptr && model->columnCount() > 0)
    Q_EMIT model->headerDataChanged(Qt::Horizontal, 0, model->columnCount() - 1);
  if (auto* widget = qobject_cast<QWidget*>(object)) widget->update();
}

}  // namespace

std::optional<QString> Retranslated(const QString& text, const QStringList& contexts) {
  static std::pair<int, std::unique_ptr<Retranslator>> made;
  if (made.second == nullptr || made.first != LanguageChanges())
    made = {LanguageChanges(), std::make_unique<Retranslator>()};
  return made.second->Of(text, contexts);
}

void Retranslate(QObject* root) {
  const Retranslator of;
  RetranslateOne(of, root);
  for (QObject* object : root->findChildren<QObject*>()) RetranslateOne(of, object);
}

}  // namespace vramscope::ui
