#include "ui/timeline/gl/gl_view.h"

#include <QDir>
#include <QGuiApplication>
#include <QMetaObject>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <cmath>

namespace vramscope::ui::timeline {

QString ProbeOpenGl() {
  // On the platforms offscreen and minimal, Qt claims to have OpenGL, but the widget fails.
  const QString platform = QGuiApplication::platformName();
  if (platform == QLatin1String("offscreen") || platform.startsWith(QLatin1String("minimal"))) {
    return {};
  }
  QOpenGLContext context;
  if (!context.create()) return {};
  if (context.isOpenGLES() || context.format().version() < std::pair(3, 3)) return {};
  QOffscreenSurface surface;
  surface.setFormat(context.format());
  surface.create();
  if (!surface.isValid() || !context.makeCurrent(&surface)) return {};
  const auto* name = reinterpret_cast<const char*>(context.functions()->glGetString(GL_RENDERER));
  QString renderer = QString::fromLatin1(name ? name : "");
  context.doneCurrent();
  return renderer;
}

bool HasGraphicsDevice(const QString& folder) {
  // The device files of NVIDIA, WSL and mobile GPUs. Those of the Linux kernel's drivers are
  // checked below.
  const QStringList names = {QStringLiteral("nvidia*"), QStringLiteral("dxg"),
                             QStringLiteral("kgsl-*"), QStringLiteral("mali*")};
  if (!QDir(folder).entryList(names, QDir::System | QDir::Files | QDir::Dirs).isEmpty())
    return true;
  const QStringList kernel = {QStringLiteral("card*"), QStringLiteral("renderD*")};
  return !QDir(folder + QStringLiteral("/dri"))
              .entryList(kernel, QDir::System | QDir::Files)
              .isEmpty();
}

bool IsSoftwareOpenGl(const QString& renderer) {
  for (const char* name : {"llvmpipe", "softpipe", "SwiftShader", "Software Rasterizer"}) {
    if (renderer.contains(QLatin1String(name), Qt::CaseInsensitive)) return true;
  }
  return false;
}

GlView::GlView(TimelineModel* model, std::function<void(QString)> failed, QWidget* parent)
    : QOpenGLWidget(parent), model_(model), failed_(std::move(failed)) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
}

GlView::~GlView() {
  // Disconnect, because the base class destroys the context later, and the connected slot uses
  // members.
  if (context()) disconnect(context(), nullptr, this, nullptr);
  Release();
}

void GlView::Release() {
  if (!context()) return;
  makeCurrent();
  layer_.reset();
  renderer_.Release();
  usable_ = false;
  doneCurrent();
}

void GlView::initializeGL() {
  // Qt calls this again when the widget moves to another window, such as a torn-off dock.
  connect(
      context(), &QOpenGLContext::aboutToBeDestroyed, this, [this] { Release(); },
      Qt::DirectConnection);
  scale_ = devicePixelRatioF();
  absl::Status status = renderer_.Initialize(scale_);
  usable_ = status.ok();
  if (!usable_ && failed_) {
    QMetaObject::invokeMethod(
        this, [this, why = QString::fromStdString(status.ToString())] { failed_(why); },
        Qt::QueuedConnection);
  }
}

void GlView::paintGL() {
  if (!usable_) return;
  Paint(false);
  // If the fonts lack characters, add them and draw again. Then no characters are missing any more.
  if (!renderer_.lacks_characters()) return;
  usable_ = renderer_.AddCharacters().ok();
  if (usable_) Paint(true);
}

void GlView::Paint(bool stale) {
  double scale = devicePixelRatioF();
  if (scale != scale_) {
    scale_ = scale;
    usable_ = renderer_.SetScale(scale).ok();
    if (!usable_) return;
    stale = true;
  }
  model_->Resize(static_cast<float>(width()), static_cast<float>(height()), scale);
  QSize pixels(static_cast<int>(std::lround(width() * scale)),
               static_cast<int>(std::lround(height() * scale)));
  if (!layer_ || layer_->size() != pixels) {
    layer_ = std::make_unique<QOpenGLFramebufferObject>(pixels);
    stale = true;
  }
  QOpenGLFunctions* gl = context()->functions();
  if (model_->data_dirty() || stale) {
    counts_ = model_->BuildData(renderer_, &data_list_);
    layer_->bind();
    gl->glViewport(0, 0, pixels.width(), pixels.height());
    renderer_.Render(data_list_, size(), scale);
    ++data_frames_;
  }
  if (model_->overlay_dirty() || stale) model_->BuildOverlay(renderer_, &overlay_list_);
  context()->extraFunctions()->glBindFramebuffer(GL_READ_FRAMEBUFFER, layer_->handle());
  context()->extraFunctions()->glBindFramebuffer(GL_DRAW_FRAMEBUFFER, defaultFramebufferObject());
  gl->glDisable(GL_SCISSOR_TEST);
  context()->extraFunctions()->glBlitFramebuffer(0, 0, pixels.width(), pixels.height(), 0, 0,
                                                 pixels.width(), pixels.height(),
                                                 GL_COLOR_BUFFER_BIT, GL_NEAREST);
  gl->glBindFramebuffer(GL_FRAMEBUFFER, defaultFramebufferObject());
  gl->glViewport(0, 0, pixels.width(), pixels.height());
  renderer_.Render(overlay_list_, size(), scale);
  ++frames_;
}

}  // namespace vramscope::ui::timeline
