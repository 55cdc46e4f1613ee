#include "ui/language/language.h"

#include <QCoreApplication>
#include <QFontDatabase>
#include <QMutex>
#include <QSet>
#include <QTranslator>
#include <memory>
#include <utility>

#include "profiler/base/i18n.h"
#include "ui/language/translations.h"

// It is outside of any namespace, because Q_INIT_RESOURCE requires that.
static void RegisterTranslations() {
#ifdef VRAMSCOPE_HAS_TRANSLATIONS
  Q_INIT_RESOURCE(vramscope_translations);
#endif
}

namespace vramscope::ui {
namespace {

// The translation context of texts that come from code without Qt.
constexpr char kTextContext[] = "text";
constexpr double kPseudoGrowth = 0.35;

QString Pseudo(const QString& english) {
  const auto more = static_cast<qsizetype>(static_cast<double>(english.size()) * kPseudoGrowth);
  return QChar(0x27e6) + english + QString(more, QLatin1Char('~')) + QChar(0x27e7);
}

// Looks up translations for Qt and remembers each result. When the language changes,
// retranslate.cpp searches these results to find the English source of a label's text.
class Catalogue : public QTranslator {
 public:
  bool isEmpty() const override { return false; }
  QString translate(const char* context, const char* source, const char* disambiguation,
                    int n) const override {
    if (source == nullptr || *source == '\0') return {};
    QString out;
    if (pseudo_) {
      if (!QByteArrayView(context).startsWith("Q") || QByteArrayView(context) == "QObject")
        out = Pseudo(QString::fromUtf8(source));
    } else if (file_ != nullptr) {
      out = file_->translate(context, source, disambiguation, n);
    }
    const QString shown = out.isEmpty() ? QString::fromUtf8(source) : out;
    const QMutexLocker lock(&mutex_);
    AnsweredText answer{context, source, disambiguation, n};
    QList<AnsweredText>& all = answered_[shown];
    if (!all.contains(answer)) all.append(std::move(answer));
    return out;
  }
  // Changes the language. Returns the translations that were looked up in the previous language.
  Answered Switch(std::unique_ptr<QTranslator> file, bool pseudo) {
    const QMutexLocker lock(&mutex_);
    file_ = std::move(file);
    pseudo_ = pseudo;
    return std::exchange(answered_, {});
  }

 private:
  std::unique_ptr<QTranslator> file_;
  bool pseudo_ = false;
  mutable QMutex mutex_;
  mutable Answered answered_;
};

struct State {
  Language language = Language::kEnglish;
  Catalogue* catalogue = nullptr;  // owned by the application
  QTranslator* qt = nullptr;       // translates Qt's own texts; owned by the application
  Answered before;
  int changes = 0;
};
State& TheState() {
  static State state;
  return state;
}

std::string TranslateText(const std::string& english) {
  return QCoreApplication::translate(kTextContext, english.c_str()).toStdString();
}

std::unique_ptr<QTranslator> Load(Language language) {
  if (language == Language::kEnglish) return nullptr;
  RegisterTranslations();
  auto file = std::make_unique<QTranslator>();
  const QString path =
      QStringLiteral(":/vramscope/translations/vramscope_%1.qm").arg(LanguageName(language));
  return file->load(path) ? std::move(file) : nullptr;
}

void Install(Language language, bool pseudo) {
  State& state = TheState();
  QCoreApplication* app = QCoreApplication::instance();
  if (state.catalogue == nullptr || state.catalogue->parent() != app) {
    // A test may create several applications. Each destroys its translators, so each needs new
    // ones.
    state.qt = new QTranslator(app);
    state.catalogue = new Catalogue;
    state.catalogue->setParent(app);
    QObject::connect(app, &QObject::destroyed, app, [] {
      i18n::SetTranslator(nullptr);
      TheState() = {};
    });
  }
  state.language = language;
  ++state.changes;
  QCoreApplication::removeTranslator(state.qt);
  QCoreApplication::removeTranslator(state.catalogue);
  state.before = state.catalogue->Switch(Load(language), pseudo);
  if (language != Language::kEnglish &&
      state.qt->load(
          QStringLiteral(":/vramscope/translations/qtbase_%1.qm").arg(LanguageName(language))))
    QCoreApplication::installTranslator(state.qt);
  QCoreApplication::installTranslator(state.catalogue);
  // English also needs a translator, because it remembers the texts.
  i18n::SetTranslator(TranslateText);
}

}  // namespace

const Answered& AnsweredBefore() { return TheState().before; }
int LanguageChanges() { return TheState().changes; }

const QList<Language>& Languages() {
  static const QList<Language> all = [] {
    QList<Language> out = {Language::kEnglish};
    if (Load(Language::kChinese) != nullptr) out << Language::kChinese;
    return out;
  }();
  return all;
}

QString LanguageName(Language language) {
  return language == Language::kChinese ? QStringLiteral("zh_CN") : QStringLiteral("en");
}

QString LanguageTitle(Language language) {
  return language == Language::kChinese ? QStringLiteral("简体中文") : QStringLiteral("English");
}

std::optional<Language> LanguageFromName(const QString& name) {
  const QString base =
      name.section(QLatin1Char('.'), 0, 0).replace(QLatin1Char('-'), QLatin1Char('_'));
  const QString language = base.section(QLatin1Char('_'), 0, 0).toLower();
  const QString region = base.section(QLatin1Char('_'), 1, 1).toLower();
  if (language == QLatin1String("en")) return Language::kEnglish;
  if (language != QLatin1String("zh")) return std::nullopt;
  // The translations are in Simplified Chinese. There are none in Traditional Chinese, which is
  // another script.
  for (const char* traditional : {"tw", "hk", "mo", "hant"})
    if (region == QLatin1String(traditional)) return std::nullopt;
  return Language::kChinese;
}

Language SystemLanguage() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const QString value = qEnvironmentVariable(variable); !value.isEmpty()) {
      const Language language = LanguageFromName(value).value_or(Language::kEnglish);
      return Languages().contains(language) ? language : Language::kEnglish;
    }
  return Language::kEnglish;
}

Language CurrentLanguage() { return TheState().language; }

void SetLanguage(Language language) { Install(language, false); }

bool TranslateTexts(Language language) {
  // It is never destroyed, because other threads may still read translations at exit.
  static const QTranslator* texts = nullptr;
  if (language == Language::kEnglish) {
    i18n::SetTranslator(nullptr);
    return true;
  }
  texts = Load(language).release();
  if (texts == nullptr) return false;
  i18n::SetTranslator([](const std::string& english) {
    return texts->translate(kTextContext, english.c_str()).toStdString();
  });
  return true;
}

void SetPseudoLanguage() { Install(Language::kEnglish, true); }

bool FontsCover(Language language) {
  return language == Language::kEnglish ||
         !QFontDatabase::families(QFontDatabase::SimplifiedChinese).isEmpty();
}

QString WithoutErrorPrefix(QString text) {
  constexpr const char* kPrefix = TEXT_MARK("error: ");
  for (const QString& prefix : {Translated(kPrefix), QString::fromLatin1(kPrefix)})
    text.remove(QStringLiteral("vramscope: ") + prefix);
  return text;
}

QString Translated(const std::string& english) {
  return QString::fromStdString(i18n::Text(english));
}

}  // namespace vramscope::ui
