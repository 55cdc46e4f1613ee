// Tests the OpenGL renderer on a display with OpenGL 3.3 (a desktop, or xvfb-run with Mesa). It
// must draw the same as the raster renderer, keep the data layer while the mouse hovers, and work
// after a new window was created.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFontDatabase>
#include <QImage>
#include <QJsonObject>
#include <QMouseEvent>
#include <QRawFont>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>
#include <string>
#include <vector>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/gl/gl_renderer.h"
#include "ui/timeline/gl/gl_view.h"
#include "ui/timeline/raster/fonts.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui::timeline {
namespace {

// Keeps loaded libraries, such as OpenGL's driver, until the end of the program. LeakSanitizer
// cannot see pointers in libraries that were unloaded, and would report the memory behind them as
// leaked.
void KeepLibraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
        return 0;
      },
      &names);
  for (const std::string& name : names)
    if (!name.empty()) dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

class TimelineGlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ProbeOpenGl().isEmpty()) {
      GTEST_SKIP() << "no display with OpenGL 3.3: run under xvfb-run with QT_QPA_PLATFORM=xcb";
    }
  }
  void TearDown() override { KeepLibraries(); }
  std::unique_ptr<TimelineWidget> Make(const char* renderer) {
    qputenv("VRAMSCOPE_RENDERER", renderer);
    auto w = std::make_unique<TimelineWidget>();
    w->setAnimations(false);
    w->resize(900, 700);
    w->setTrace(testing::MakeSyntheticTrace({.layers = 8}));
    w->setDeviceLimit(4ull << 30);
    w->show();
    EXPECT_TRUE(QTest::qWaitForWindowExposed(w.get()));
    QTest::qWait(50);
    return w;
  }
  static qint64 Frames(TimelineWidget* w, const char* which) {
    return w->dumpState()["frames"].toObject()[which].toInteger();
  }
};

TEST_F(TimelineGlTest, DrawsAlmostTheSameAsTheRasterRenderer) {
  for (const Theme& theme : {Theme::Dark(), Theme::Light()}) {
    auto raster = Make("raster"), gl = Make("gl");
    ASSERT_EQ(raster->dumpState()["renderer"].toString(), "raster");
    ASSERT_EQ(gl->dumpState()["renderer"].toString(), "gl");
    raster->setTheme(theme);
    gl->setTheme(theme);
    QTest::qWait(50);
    QImage a = raster->grab().toImage().convertToFormat(QImage::Format_RGB32);
    QImage b = gl->grab().toImage().convertToFormat(QImage::Format_RGB32);
    ASSERT_EQ(a.size(), b.size());
    int different = 0;
    for (int y = 0; y < a.height(); ++y) {
      for (int x = 0; x < a.width(); ++x) {
        QRgb p = a.pixel(x, y), q = b.pixel(x, y);
        bool far = std::abs(qRed(p) - qRed(q)) > 24 || std::abs(qGreen(p) - qGreen(q)) > 24 ||
                   std::abs(qBlue(p) - qBlue(q)) > 24;
        different += far;
      }
    }
    // Text and the edges of the stack may differ, because the renderers antialias differently.
    EXPECT_LT(different, a.width() * a.height() / 40);
    EXPECT_EQ(raster->dumpState()["drawn"].toObject()["block_rects"],
              gl->dumpState()["drawn"].toObject()["block_rects"]);
    EXPECT_TRUE(gl->dumpState()["peak"].toObject()["shown"].toBool());
  }
}

TEST_F(TimelineGlTest, HoverRedrawsOnlyTheOverlay) {
  auto w = Make("gl");
  QTest::qWait(100);
  qint64 data = Frames(w.get(), "data"), all = Frames(w.get(), "all");
  EXPECT_GT(data, 0);
  QTest::qWait(300);
  EXPECT_EQ(Frames(w.get(), "all"), all);
  for (int i = 0; i < 10; ++i) {
    QPointF at(100 + 30 * i, 400);
    QMouseEvent e(QEvent::MouseMove, at, w->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                  Qt::NoModifier);
    QApplication::sendEvent(w.get(), &e);
    QTest::qWait(20);
  }
  EXPECT_GT(Frames(w.get(), "all"), all);
  EXPECT_EQ(Frames(w.get(), "data"), data);
}

TEST_F(TimelineGlTest, SurvivesMovingToAnotherWindow) {
  auto first = std::make_unique<QWidget>();
  auto second = std::make_unique<QWidget>();
  for (QWidget* w : {first.get(), second.get()}) {
    new QVBoxLayout(w);
    w->resize(600, 500);
  }
  auto timeline = Make("gl");
  TimelineWidget* w = timeline.release();
  for (QWidget* parent : {first.get(), second.get(), first.get()}) {
    parent->layout()->addWidget(w);
    parent->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(parent));
    QTest::qWait(50);
    QImage image = w->grab().toImage();
    EXPECT_NE(image.pixelColor(image.width() / 2, image.height() / 2), QColor(Qt::black));
  }
  EXPECT_EQ(w->dumpState()["renderer"].toString(), "gl");
}

// At first, the atlas only has the characters of English. Others must be added when needed.
TEST_F(TimelineGlTest, DrawsChineseTextLikeTheRasterRenderer) {
  if (QFontDatabase::families(QFontDatabase::SimplifiedChinese).isEmpty())
    GTEST_SKIP() << "no font with Chinese characters is installed";
  const auto ink = [](const char* renderer, const char* title) {
    qputenv("VRAMSCOPE_RENDERER", renderer);
    TimelineWidget w;
    w.resize(600, 400);
    w.setEmptyText(QString::fromUtf8(title), QString());
    w.show();
    EXPECT_TRUE(QTest::qWaitForWindowExposed(&w));
    QTest::qWait(100);
    EXPECT_EQ(w.dumpState()["renderer"].toString(), QLatin1String(renderer));
    const QImage image = w.grab().toImage().convertToFormat(QImage::Format_RGB32);
    const QRgb ground = image.pixel(5, image.height() - 5);
    double sum = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x)
        sum += std::abs(qGreen(image.pixel(x, y)) - qGreen(ground));
    return sum;
  };
  for (const char* title : {"显存峰值与碎片", "peak and fragmentation"}) {
    const double raster = ink("raster", title), gl = ink("gl", title);
    EXPECT_GT(raster, 0) << title;
    EXPECT_NEAR(gl / raster, 1, 0.25) << title;
  }
  // Different characters must look different. Missing characters would all be boxes.
  EXPECT_GT(std::abs(ink("gl", "一一一一一一") - ink("gl", "囊囊囊囊囊囊")), 1000);
}

TEST(FontFileTest, QtLoadsTheFontFile) {
  QByteArray file = FontFile(CanvasFont(Font::kBody));
  if (file.isEmpty()) GTEST_SKIP() << "the platform gives no font tables";
  QRawFont font(file, 13);
  ASSERT_TRUE(font.isValid());
  EXPECT_FALSE(font.glyphIndexesForString("peak").contains(0));
}

TEST(Gl, FindsGraphicsDeviceFilesInDev) {
  const QTemporaryDir dev;
  ASSERT_TRUE(dev.isValid());
  const auto touch = [&](const char* name) {
    QFile file(dev.filePath(QString::fromLatin1(name)));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  };
  EXPECT_FALSE(HasGraphicsDevice(dev.path()));
  touch("null");
  ASSERT_TRUE(QDir(dev.path()).mkdir(QStringLiteral("dri")));
  EXPECT_FALSE(HasGraphicsDevice(dev.path()));
  touch("dri/renderD128");
  EXPECT_TRUE(HasGraphicsDevice(dev.path()));
  QFile::remove(dev.filePath(QStringLiteral("dri/renderD128")));
  for (const char* name : {"nvidiactl", "dxg"}) {
    touch(name);
    EXPECT_TRUE(HasGraphicsDevice(dev.path())) << name;
    QFile::remove(dev.filePath(QString::fromLatin1(name)));
  }
}

TEST(SoftwareOpenGlTest, IsDetectedByRendererName) {
  EXPECT_TRUE(IsSoftwareOpenGl("llvmpipe (LLVM 15.0.6, 256 bits)"));
  EXPECT_TRUE(IsSoftwareOpenGl("softpipe"));
  EXPECT_FALSE(IsSoftwareOpenGl("NVIDIA GeForce RTX 4090/PCIe/SSE2"));
}

}  // namespace
}  // namespace vramscope::ui::timeline

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  QApplication app(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
