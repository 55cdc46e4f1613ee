// While a file is opened and saved, the n-th allocation outside the UI thread fails once. The
// window must continue, must not lose data, and must say what is missing. In the UI thread, any
// exception in an event handler must become a message, too.
#include <gtest/gtest.h>
#include <link.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QPainter>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QWidget>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "profiler/importers/open.h"
#include "profiler/trace/writer.h"
#include "tests/ui/shell/recorded_trace.h"
#include "ui/shell/application.h"
#include "ui/shell/main_window.h"

namespace {

std::atomic<int64_t> until_failure = -1;  // number of allocations before the failing one; < 0: none
std::atomic<bool> failed = false;
thread_local bool spared = false;  // true in the UI thread

// The code of Qt's libraries. Its allocations never fail here, because Qt does not support that.
struct Range {
  uintptr_t begin, end;
};
Range qt_code[64];
int qt_ranges = 0;

int AddQt(dl_phdr_info* library, size_t, void*) {
  if (std::strstr(library->dlpi_name, "libQt6") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum && qt_ranges < 64; ++i)
    if (const auto& part = library->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_X))
      qt_code[qt_ranges++] = {library->dlpi_addr + part.p_vaddr,
                              library->dlpi_addr + part.p_vaddr + part.p_memsz};
  return 0;
}

bool Fails(const void* caller) {
  if (until_failure.load(std::memory_order_relaxed) < 0 || spared) return false;
  const auto at = reinterpret_cast<uintptr_t>(caller);
  for (int i = 0; i < qt_ranges; ++i)
    if (at >= qt_code[i].begin && at < qt_code[i].end) return false;
  if (until_failure.fetch_sub(1) != 0) return false;
  failed = true;
  return true;
}

}  // namespace

void* operator new(std::size_t size) {
  if (!Fails(__builtin_return_address(0)))
    if (void* at = std::malloc(size == 0 ? 1 : size)) return at;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t align) {
  const auto to = static_cast<std::size_t>(align);
  if (!Fails(__builtin_return_address(0)))
    if (void* at = std::aligned_alloc(to, (size + to - 1) / to * to)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

namespace vramscope::ui {
namespace {

// Returns the number of the allocation that fails after number n was tested. With
// $VRAMSCOPE_ALL_FAULTS, this is n + 1 (which takes minutes). Otherwise, the distance grows with n.
int64_t After(int64_t n) {
  return qEnvironmentVariableIsSet("VRAMSCOPE_ALL_FAULTS") ? n + 1 : n + 1 + n / 16;
}

class AllocationFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    spared = true;
    // The window cannot save its session. Otherwise, it would save the session with protobuf during
    // the test, and protobuf's messages do not support failing allocations.
    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                          .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                          .state_folder = QStringLiteral("/proc/no-state"),
                          .savings = false});
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    path_ = folder_.filePath(QStringLiteral("recorded.trace"));
    ASSERT_TRUE(trace::WriteTraceFile(*vramscope::testing::MakeRecordedTrace(
                                          {.steps = 2, .layers = 2, .out_of_memory = true}),
                                      path_.toStdString(), {})
                    .ok());
  }
  void TearDown() override {
    until_failure = -1;
    window_.reset();
  }
  // Changes the file's time, so that the window reads the file again instead of showing the
  // document that it has open.
  void Touch() {
    QFile file(path_);
    ASSERT_TRUE(file.open(QIODevice::ReadWrite));
    written_ = written_.addSecs(1);
    ASSERT_TRUE(file.setFileTime(written_, QFileDevice::FileModificationTime));
  }
  // Runs `act` with a failing n-th allocation. Returns false if there were fewer than n.
  template <class Act>
  bool FailingAt(int64_t n, Act act) {
    failed = false;
    until_failure = n;
    act();
    const bool over = QTest::qWaitFor([this] { return !window_->busy(); }, 20'000);
    until_failure = -1;
    EXPECT_TRUE(over) << "at allocation " << n;
    return failed && over;
  }
  std::string Banner(const char* key) {
    return window_->dumpState()["banner"].toObject()[QLatin1String(key)].toString().toStdString();
  }

  QTemporaryDir folder_;
  QString path_;
  QDateTime written_ = QDateTime::currentDateTime();
  std::unique_ptr<MainWindow> window_;
};

// A widget that throws in its first paint event.
class Thrower : public QWidget {
 public:
  int painted = 0;

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.fillRect(rect(), Qt::red);
    if (painted++ == 0) throw std::bad_alloc();
  }
};

// If a paint event, a slot or a queued call throws, the window must show a message.
TEST_F(AllocationFaults, ExceptionInAnEventHandlerShowsAMessage) {
  auto* const app = static_cast<Application*>(QCoreApplication::instance());
  app->setWindow(window_.get());
  const auto expect_message = [&](const char* what, auto act) {
    QSignalSpy failures(window_.get(), &MainWindow::failed);
    act();
    EXPECT_TRUE(QTest::qWaitFor([&] { return failures.size() == 1; }, 5'000)) << what;
    EXPECT_EQ(Banner("kind"), "internal-failure") << what;
    EXPECT_NE(Banner("text").find("memory"), std::string::npos) << what << ": " << Banner("text");
  };
  expect_message("a timer's slot",
                 [] { QTimer::singleShot(0, qApp, [] { throw std::bad_alloc(); }); });
  expect_message("a queued call", [&] {
    QMetaObject::invokeMethod(
        window_.get(), [] { throw std::bad_alloc(); }, Qt::QueuedConnection);
  });
  expect_message("another exception", [&] {
    QMetaObject::invokeMethod(
        window_.get(), [] { throw std::runtime_error("memory, say"); }, Qt::QueuedConnection);
  });
  Thrower thrower;
  expect_message("a paint event", [&] { thrower.show(); });
  thrower.update();
  EXPECT_TRUE(QTest::qWaitFor([&] { return thrower.painted > 1; }, 5'000)) << "it is painted again";
  // A window that was closed must not get a message.
  app->setWindow(nullptr);
  QMetaObject::invokeMethod(
      qApp, [] { throw std::bad_alloc(); }, Qt::QueuedConnection);
  QCoreApplication::processEvents();
}

TEST_F(AllocationFaults, OpeningReportsOutOfMemory) {
  window_->openFile(path_);
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_->busy(); }, 20'000));
  const auto before = window_->digest();
  ASSERT_NE(before, nullptr);
  int64_t n = 0, runs = 0, refused = 0;
  for (;; n = After(n), ++runs) {
    const auto shown = window_->digest();
    QString why;
    QObject context;
    QObject::connect(window_.get(), &MainWindow::failed, &context,
                     [&](const QString& text) { why = text; });
    Touch();
    if (!FailingAt(n, [&] { window_->openFile(path_); })) break;
    ASSERT_NE(window_->digest(), nullptr);
    ASSERT_EQ(window_->digest()->trace->events.size(), before->trace->events.size())
        << "at allocation " << n;
    if (window_->digest() != shown) continue;  // the file was opened without the failed allocation
    ++refused;
    EXPECT_TRUE(why.contains(QLatin1String("memory"))) << n << ": " << why.toStdString();
    EXPECT_EQ(Banner("kind"), "open-failed") << n;
  }
  std::printf("opening: %lld allocations, %lld runs, %lld refusals\n", static_cast<long long>(n),
              static_cast<long long>(runs), static_cast<long long>(refused));
  EXPECT_GT(n, 100);
  EXPECT_GT(refused, 10);
  // Everything works as before.
  Touch();
  window_->openFile(path_);
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_->busy(); }, 20'000));
  EXPECT_EQ(Banner("kind"), "");
}

TEST_F(AllocationFaults, FailedSaveKeepsTheOldFile) {
  window_->openFile(path_);
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_->busy(); }, 20'000));
  for (const bool chrome : {false, true}) {
    const QString target =
        folder_.filePath(chrome ? QStringLiteral("out.json") : QStringLiteral("out.trace"));
    const auto content = [&] {
      QFile file(target);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    int64_t n = 0, runs = 0, refused = 0;
    for (;; n = After(n), ++runs) {
      QFile old(target);
      ASSERT_TRUE(old.open(QIODevice::WriteOnly));
      old.write("as it was");
      old.close();
      QSignalSpy done(window_.get(), &MainWindow::fileDone);
      if (!FailingAt(n,
                     [&] { chrome ? window_->exportChrome(target) : window_->saveTrace(target); }))
        break;
      ASSERT_EQ(done.size(), 1) << n;
      if (done[0][1].toBool()) continue;
      ++refused;
      EXPECT_EQ(content(), "as it was") << n;
      EXPECT_EQ(Banner("kind"), "save-failed") << n;
      EXPECT_NE(Banner("text").find("memory"), std::string::npos) << n << ": " << Banner("text");
      ASSERT_TRUE(QDir(folder_.path()).entryList({QStringLiteral("*.part")}).isEmpty()) << n;
    }
    std::printf("%s: %lld allocations, %lld runs, %lld refusals\n", chrome ? "export" : "save",
                static_cast<long long>(n), static_cast<long long>(runs),
                static_cast<long long>(refused));
    EXPECT_GT(n, 20);
    EXPECT_GT(refused, 10);
    EXPECT_NE(content(), "as it was");
  }
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  spared = true;
  vramscope::ui::Application app(argc, argv);
  dl_iterate_phdr(AddQt, nullptr);
  return RUN_ALL_TESTS();
}
