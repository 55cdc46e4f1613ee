// The canvas on OpenGL: a QOpenGLWidget over the whole TimelineWidget, which handles the input. A
// framebuffer object contains the data layer, so that hovering redraws only the overlay.
#pragma once

#include <QOpenGLFramebufferObject>
#include <QOpenGLWidget>
#include <functional>
#include <memory>

#include "ui/timeline/gl/gl_renderer.h"
#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// The name of the OpenGL renderer; empty if the computer or Qt's platform plugin has no OpenGL 3.3.
QString ProbeOpenGl();
// Whether the computer has a graphics driver, that is, one of its device files. Without a driver,
// OpenGL is not probed, because loading a renderer that is not used takes 50 MB until the program
// ends. Only tests pass another `folder` than /dev.
bool HasGraphicsDevice(const QString& folder = QStringLiteral("/dev"));
// Whether the renderer runs on the CPU. Raster drawing (ui/timeline/raster) is then faster.
bool IsSoftwareOpenGl(const QString& renderer);

class GlView : public QOpenGLWidget {
 public:
  // `model` must outlive the view. `failed` is called once (queued) when OpenGL does not work.
  GlView(TimelineModel* model, std::function<void(QString why)> failed, QWidget* parent);
  ~GlView() override;

  const SceneCounts& counts() const { return counts_; }
  quint64 frames() const { return frames_; }
  quint64 data_frames() const { return data_frames_; }

 protected:
  void initializeGL() override;
  void paintGL() override;
  void Paint(bool stale);

 private:
  void Release();

  TimelineModel* model_;
  std::function<void(QString)> failed_;
  bool usable_ = false;
  GlRenderer renderer_;
  std::unique_ptr<QOpenGLFramebufferObject> layer_;
  double scale_ = 0;
  DrawList data_list_, overlay_list_;
  SceneCounts counts_;
  quint64 frames_ = 0, data_frames_ = 0;
};

}  // namespace vramscope::ui::timeline
