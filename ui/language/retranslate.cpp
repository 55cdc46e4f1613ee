// A window in another language, in place. What a label shows is looked up among the texts that were
// given out in the language before; a text with arguments is found by its template.
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
  static const QRegularExpression expression(
      QStringLiteral("%L?(\\d{1,2}|n)|\\{(\\d*)(:[^{}]*)?\\}"));
  return expression;
}

// A text that was given out, with its arguments' places.
struct Template {
  QString begin;          // up to the first argument
  qsizetype letters = 0;  // outside of arguments
  QRegularExpression whole;
  QStringList arguments;  // names of its groups, in their order
  QList<AnsweredText> answered;
};

QStringList PlacesIn(const QString& text, QStringList* between) {
  QStringList places;
  qsizetype from = 0;
  int next = 0;
  auto matches = Placeholder().globalMatch(text);
  while (matches.hasNext()) {
    const QRegularExpressionMatch match = matches.next();
    *between << text.mid(from, match.capturedStart() - from);
    from = match.capturedEnd();
    const QString braces =
        match.captured(0).startsWith(QLatin1Char('{'))
            ? (match.captured(2).isEmpty() ? QString::number(next++) : match.captured(2))
            : QString();
    places << (braces.isEmpty() ? match.captured(1) : braces);
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
    for (const QString& text : between) {
      made.letters += text.size();
      words += std::count_if(text.begin(), text.end(), [](QChar c) { return c.isLetter(); });
    }
    if (words < 2) continue;  // "%1, %2" fits everything
    QString pattern = QRegularExpression::escape(between.front());
    for (qsizetype i = 0; i < places.size(); ++i)
      pattern += QStringLiteral("(.*)") + QRegularExpression::escape(between[i + 1]);
    made.whole = QRegularExpression(QRegularExpression::anchoredPattern(pattern),
                                    QRegularExpression::DotMatchesEverythingOption);
    made.arguments = places;
    made.answered = at.value();
    out.push_back(std::move(made));
  }
  // The one with most of its own text first: "%1 of %2 found" before "%1 found".
  std::stable_sort(out.begin(), out.end(),
                   [](const Template& a, const Template& b) { return a.letters > b.letters; });
  return out;
}

QString Now(const AnsweredText& text) {
  return QCoreApplication::translate(
      text.context.constData(), text.source.constData(),
      text.disambiguation.isEmpty() ? nullptr : text.disambiguation.constData(), text.n);
}

// The text of whoever shows it, where several English texts had the same translation.
const AnsweredText& Choose(const QList<AnsweredText>& answered, const QStringList& contexts) {
  for (const QString& context : contexts)
    for (const AnsweredText& text : answered)
      if (QString::fromUtf8(text.context) == context) return text;
  return answered.front();
}

class Retranslator {
 public:
  Retranslator() : templates_(MakeTemplates(AnsweredBefore())) {}

  std::optional<QString> Of(const QString& text, const QStringList& contexts) const {
    const Answered& before = AnsweredBefore();
    if (text.isEmpty()) return std::nullopt;
    if (const auto found = before.find(text); found != before.end())
      return Now(Choose(found.value(), contexts));
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

// What the user typed, or a name that code looks for.
bool IsTextOfOthers(const QObject* object, const char* property) {
  const QByteArrayView name(property);
  if (name == "objectName" || name == "styleSheet" || name == "windowFilePath" ||
      name == "currentText" || name == "html" || name == "markdown" || name == "plainText" ||
      name == "inputMask" || name == "windowIconText")
    return true;
  return name == "text" && qobject_cast<const QLineEdit*>(object) != nullptr;
}

void RetranslateOne(const Retranslator& of, QObject* object) {
  const QStringList contexts = ContextsOf(object);
  const QMetaObject* meta = object->metaObject();
  // Derived classes' first: a label that elides sets what its base shows.
  for (int i = meta->propertyCount() - 1; i >= 0; --i) {
    const QMetaProperty property = meta->property(i);
    if (property.metaType().id() != QMetaType::QString || !property.isWritable() ||
        !property.isReadable() || IsTextOfOthers(object, property.name()))
      continue;
    const QString text = property.read(object).toString();
    if (const auto now = of.Of(text, contexts); now && *now != text) property.write(object, *now);
  }
  if (auto* tabs = qobject_cast<QTabBar*>(object)) {
    for (int i = 0; i < tabs->count(); ++i) {
      if (const auto now = of.Of(tabs->tabText(i), contexts)) tabs->setTabText(i, *now);
      if (const auto now = of.Of(tabs->tabToolTip(i), contexts)) tabs->setTabToolTip(i, *now);
    }
  }
  if (auto* box = qobject_cast<QComboBox*>(object)) {
    for (int i = 0; i < box->count(); ++i) {
      if (const auto now = of.Of(box->itemText(i), contexts)) box->setItemText(i, *now);
      if (const auto now = of.Of(box->itemData(i, Qt::ToolTipRole).toString(), contexts))
        box->setItemData(i, *now, Qt::ToolTipRole);
    }
  }
  // Heads ask for their texts again.
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
