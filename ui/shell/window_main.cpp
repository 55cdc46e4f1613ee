#include "ui/shell/window_main.h"

#include <QElapsedTimer>
#include <QFile>
#include <QFontDatabase>
#include <QJsonDocument>
#include <QProcess>
#include <QSaveFile>
#include <QScreen>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/base/install_paths.h"
#include "ui/explain/explain_panel.h"
#include "ui/language/language.h"
#include "ui/panels/search_panel.h"
#include "ui/shell/application.h"
#include "ui/shell/main_window.h"
#include "ui/shell/open_requests.h"
#include "ui/timeline/picture.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

namespace fs = std::filesystem;

constexpr int kOk = 0, kUsage = 2, kBadInput = 3, kFailure = 4;
// The longest times that a screenshot waits: kDocumentMs for the first run or file, then kSavingsMs
// for the savings.
constexpr int kDocumentMs = 60'000;
constexpr int kBusyMs = 600'000;  // instead of kDocumentMs while the window is busy
constexpr int kSavingsMs = 30'000;
constexpr int kPollMs = 30;
constexpr int kLayoutRounds = 8;
constexpr int kMinSide = timeline::kMinImageSide, kMaxSide = timeline::kMaxImageSide;
// Pages on the left side of the window, which are not tabs.
constexpr QLatin1String kTechniques("techniques"), kProgram("program");
// The tab with the search field. The option --page can contain a text for this field.
constexpr QLatin1String kSearch("search");

int Complain(int code, const std::string& text) {
  std::fprintf(stderr, "vramscope: %s\n", text.c_str());
  return code;
}

std::optional<QSize> ParseSize(const std::string& text) {
  const QStringList parts = QString::fromStdString(text).toLower().split(QLatin1Char('x'));
  bool good[2] = {false, false};
  if (parts.size() != 2) return std::nullopt;
  const QSize size(parts[0].toInt(&good[0]), parts[1].toInt(&good[1]));
  if (!good[0] || !good[1] || std::min(size.width(), size.height()) < kMinSide ||
      std::max(size.width(), size.height()) > kMaxSide)
    return std::nullopt;
  return size;
}

bool HaveDisplay() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
         qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

// Splits "what-if=expandable_segments:True" or "techniques=group:precision" into the page's name
// and the text after "=".
std::pair<QString, QString> PageOf(const WindowOptions& options) {
  const QString page = QString::fromStdString(options.page);
  const qsizetype at = page.indexOf(QLatin1Char('='));
  return {page.left(at), at < 0 ? QString() : page.mid(at + 1)};
}

void OpenPage(MainWindow* window, const WindowOptions& options) {
  const auto [page, more] = PageOf(options);
  if (page == kTechniques) return window->openTechniques(more);
  if (page == kProgram) return window->openProgram();
  window->openPage(page);
  if (page == kSearch) return window->searchPanel()->search(more);
  if (!more.isEmpty()) window->explainPanel()->setConf(more);
  // Start the study, because its page stays empty until then.
  for (const char* study : {"fit", "waterfall"})
    if (page == QLatin1String(study))
      window->actionRegistry()->Find(QStringLiteral("run.") + page)->trigger();
}

// Waits until everything is shown. Then writes the requested files and ends the program.
class Photographer : public QObject {
 public:
  Photographer(MainWindow* window, const WindowOptions& options)
      : window_(window), options_(options) {
    connect(window, &MainWindow::documentShown, this, [this] {
      if (files_left_ > 0 && !window_->partial()) --files_left_;
    });
    connect(window, &MainWindow::failed, this, [this](const QString& why) { failure_ = why; });
    // Do not wait for a document if the file is a script, which only fills in the program page.
    const bool script = options.files.size() == 1 && options.files.front().ends_with(".py");
    files_left_ = script ? 0 : std::max<qsizetype>(1, static_cast<qsizetype>(options.files.size()));
    since_.start();
    poll_.start(kPollMs);
    connect(&poll_, &QTimer::timeout, this, &Photographer::Look);
  }
  int code() const { return code_; }

 private:
  void Look() {
    const bool shown = files_left_ == 0;
    const qint64 limit = window_->busy() ? kBusyMs : kDocumentMs;
    const bool over = since_.elapsed() > limit;
    if (!shown && failure_.isEmpty() && !over) return;
    if (shown && !document_at_) {
      document_at_ = since_.elapsed();
      OpenPage(window_, options_);
    }
    if (shown && !window_->settled() && since_.elapsed() < *document_at_ + kSavingsMs) return;
    poll_.stop();
    if (!shown)
      code_ = failure_.isEmpty()
                  ? Complain(kFailure, i18n::Format("nothing was shown within {} s", limit / 1000))
                  : Complain(kBadInput, failure_.toStdString());
    // Write the screenshot even after a failure.
    window_->settleCanvas();
    // Process events in several rounds, because the layout of a widget can invalidate its parent's
    // layout.
    for (int round = 0; round < kLayoutRounds; ++round) QCoreApplication::processEvents();
    Save();
    QApplication::exit(code_);
  }

  void Save() {
    if (!options_.screenshot.empty()) {
      const QString path = QString::fromStdString(options_.screenshot);
      if (!window_->grab().save(path, "PNG"))
        code_ = Complain(
            kFailure, i18n::Format("{}: the screenshot could not be written", path.toStdString()));
    }
    if (!options_.dump_state.empty()) {
      const QString path = QString::fromStdString(options_.dump_state);
      const QByteArray json = QJsonDocument(window_->dumpState()).toJson();
      QFile file;
      bool good = path == QLatin1String("-")
                      ? file.open(stdout, QIODevice::WriteOnly)
                      : (file.setFileName(path), file.open(QIODevice::WriteOnly));
      good = good && file.write(json) == json.size() && file.flush();
      if (!good)
        code_ =
            Complain(kFailure, (path + QStringLiteral(": ") + file.errorString()).toStdString());
    }
  }

  MainWindow* window_;
  const WindowOptions& options_;
  QTimer poll_;
  QElapsedTimer since_;
  std::optional<qint64> document_at_;
  qsizetype files_left_ = 0;
  QString failure_;
  int code_ = kOk;
};

// Provides the fonts of an installed tree. If this computer has no font configuration (no desktop),
// also sets that of the tree, by an environment variable that child processes do not get. Construct
// a Fonts before the application, which reads the font configuration, and call Load() afterwards.
class Fonts {
 public:
  Fonts() {
    std::error_code none;
    if (base::OwnPaths().share.empty() || !fs::is_directory(own_ / "fonts", none)) return;
    const bool configured = qEnvironmentVariableIsSet("FONTCONFIG_FILE") ||
                            qEnvironmentVariableIsSet("FONTCONFIG_PATH") ||
                            fs::exists("/etc/fonts/fonts.conf", none);
    there_ = true;
    if (configured) return;
    configures_ =
        qputenv("FONTCONFIG_FILE",
                QFile::encodeName(QString::fromStdString((own_ / "fonts.conf").string())));
  }
  void Load() const {
    if (!there_) return;
    QFontDatabase::families();  // makes Qt read the configuration now
    if (configures_) qunsetenv("FONTCONFIG_FILE");
    std::error_code none;
    for (const fs::directory_entry& font : fs::directory_iterator(own_ / "fonts", none))
      QFontDatabase::addApplicationFont(QString::fromStdString(font.path().string()));
  }

 private:
  fs::path own_ = base::OwnPaths().share / "vramscope";
  bool there_ = false, configures_ = false;
};

// Starts the program again in its destructor. By then, all objects that were declared later, such
// as the window, have saved their state and have been destroyed.
struct RestartAfterwards {
  ~RestartAfterwards() {
    if (wanted) QProcess::startDetached(QApplication::applicationFilePath(), {});
  }
  mutable bool wanted = false;
};

}  // namespace

absl::Status CheckSize(const std::string& size) {
  if (ParseSize(size)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      i18n::Format("--size: \"{}\" is not a size such as 1680x1050 (each side from {} to {})", size,
                   kMinSide, kMaxSide));
}

absl::StatusOr<std::string> DrawTimeline(const std::shared_ptr<const trace::Trace>& trace,
                                         const std::shared_ptr<const trace::Trace>& whole,
                                         const TimelineFile& options) {
  timeline::ImageOptions picture;
  picture.format = options.format == "pdf"   ? timeline::ImageFormat::kPdf
                   : options.format == "svg" ? timeline::ImageFormat::kSvg
                                             : timeline::ImageFormat::kPng;
  picture.scale = options.scale;
  picture.dark = options.theme == "dark";
  picture.title = options.title;
  if (!options.size.empty()) {
    if (absl::Status wrong = CheckSize(options.size); !wrong.ok()) return wrong;
    const QSize size = *ParseSize(options.size);
    picture.width = size.width();
    picture.height = size.height();
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  int argc = 1;
  char name[] = "vramscope";
  char* argv[] = {name, nullptr};
  const Fonts fonts;
  QGuiApplication app(argc, argv);
  fonts.Load();
  return timeline::DrawImage(timeline::TimelineData::Build(trace, nullptr, whole), picture);
}

int RunWindow(int& argc, char** argv, const WindowOptions& options) {
  const bool picture = !options.screenshot.empty() || !options.dump_state.empty();
  std::optional<QSize> size;
  if (!options.size.empty()) {
    if (const absl::Status wrong = CheckSize(options.size); !wrong.ok())
      return Complain(kUsage, std::string(wrong.message()));
    size = ParseSize(options.size);
  }
  if (!(options.scale >= 0.5 && options.scale <= 4))
    return Complain(kUsage, i18n::Text("--scale: expected a number from 0.5 to 4"));
  const QString theme = QString::fromStdString(options.theme);
  if (!theme.isEmpty() && ThemeName(ThemeFromName(theme)) != theme)
    return Complain(
        kUsage, i18n::Format("--theme: \"{}\" is not one of dark, light, system", options.theme));
  if (!HaveDisplay()) {
    if (!picture)
      return Complain(kFailure,
                      i18n::Text("there is no display; `vramscope plan` works without one"));
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  // Use the scale that the user chose in the settings, unless the command line sets another scale.
  // The environment variable is removed later, so that child processes do not get it.
  const int chosen_scale = picture || options.scale != 1.0 ? 100 : MainWindow::storedUiScale();
  const bool own_scale = chosen_scale != 100 && !qEnvironmentVariableIsSet("QT_SCALE_FACTOR");
  if (options.scale != 1.0) qputenv("QT_SCALE_FACTOR", QByteArray::number(options.scale));
  if (own_scale) qputenv("QT_SCALE_FACTOR", QByteArray::number(chosen_scale / 100.0));

  const Fonts fonts;
  Application app(argc, argv);
  if (own_scale) qunsetenv("QT_SCALE_FACTOR");
  fonts.Load();
  QApplication::setApplicationName(QStringLiteral("vramscope"));
  QApplication::setApplicationDisplayName(QString());
  QApplication::setDesktopFileName(QStringLiteral("vramscope"));

  // Set the language before the window is built. It comes from --lang, from the user's last choice
  // or from the environment.
  const std::optional<Language> chosen = LanguageFromName(
      !options.language.empty() || picture ? QString::fromStdString(options.language)
                                           : MainWindow::storedLanguage());
  if (!options.language.empty() && !chosen)
    return Complain(kUsage,
                    i18n::Format("--lang: \"{}\" is not one of en, zh_CN", options.language));
  if (chosen && !Languages().contains(*chosen))
    Complain(kOk,
             fmt::format("this build has no translation {} (lrelease was not found when it was "
                         "built); the window is in English",
                         LanguageName(*chosen).toStdString()));
  const Language language = chosen.value_or(SystemLanguage());
  SetLanguage(Languages().contains(language) ? language : Language::kEnglish);

  // For a screenshot, use a temporary folder instead of the stored settings of the user's window.
  QTemporaryDir scratch;
  MainWindowOptions window_options;
  window_options.worker_program = FindWorker();
  window_options.gpu_libraries = options.gpu_libraries;
  window_options.setup.samples_folder = QString::fromStdString(setup::SamplesFolder());
  window_options.setup.download = OwnDownloadOptions();
  // A worker that the user has chosen (for example on another computer) has its own LibTorch.
  if (!qEnvironmentVariableIsSet("VRAMSCOPE_WORKER"))
    window_options.setup.find_libtorch = [] {
      return setup::FindLibTorch(setup::OwnSetupPlaces());
    };
  if (picture) window_options.settings_file = scratch.filePath(QStringLiteral("settings.ini"));
  const RestartAfterwards restart;
  MainWindow window(window_options);
  app.setWindow(&window);
  const QStringList pages = window.pageNames() << kTechniques << kProgram;
  if (const auto [page, more] = PageOf(options);
      !options.page.empty() &&
      (!pages.contains(page) || (!more.isEmpty() && page != QLatin1String("what-if") &&
                                 page != kTechniques && page != kSearch)))
    return Complain(kUsage,
                    i18n::Format("--page: \"{}\" is not one of {}. \"what-if=CONF\" tries settings "
                                 "of PYTORCH_CUDA_ALLOC_CONF, \"techniques=WORDS\" filters the "
                                 "techniques, and \"search=TEXT\" searches the trace",
                                 options.page, pages.join(QStringLiteral(", ")).toStdString()));
  if (!theme.isEmpty()) window.setThemeChoice(ThemeFromName(theme), false);
  if (size) window.resize(*size);
  if (!picture && !size && window.screen() != nullptr) {
    const QSize room = window.screen()->availableSize();
    if (window.width() > room.width() || window.height() > room.height())
      window.resize(window.size().boundedTo(room));
  }
  window.show();
  // Construct the Photographer before anything is started, so that it also learns of immediate
  // failures.
  std::optional<Photographer> photographer;
  if (picture) {
    photographer.emplace(&window, options);
  } else if (!options.page.empty()) {
    QObject::connect(
        &window, &MainWindow::documentShown, &window, [&] { OpenPage(&window, options); },
        Qt::SingleShotConnection);
  }
  QStringList files;
  for (const std::string& file : options.files) files << QFile::decodeName(file.c_str());
  if (files.isEmpty()) {
    const bool wants_page = picture || !options.page.empty();
    if (!window.restoreAtStart() && (wants_page || !window.offerTour()))
      window.runConfig(window.config());
  } else {
    window.openFiles(files);
  }
  // During a screenshot, accept no requests to open files, because it must not show other files.
  std::optional<OpenRequests> requests;
  if (!picture)
    requests.emplace([&window](const std::vector<std::string>& asked) {
      QStringList names;
      for (const std::string& file : asked) names << QFile::decodeName(file.c_str());
      window.openFiles(names);
      window.raise();
      window.activateWindow();
    });
  const int code = QApplication::exec();
  restart.wanted = window.restartRequested();
  return !picture || code != kOk ? code : photographer->code();
}

}  // namespace vramscope::ui
