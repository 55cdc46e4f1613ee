// The canvas on OpenGL. This QOpenGLWidget covers the TimelineWidget, which handles the input. The
// data layer is stored in a framebuffer object, so that hovering redraws only the overlay.
#pragma once

#include <QOpenGLFramebufferObject>
#include <QOpenGLWidget>
#include <functional>
#include <memory>

#include "ui/timeline/gl/gl_renderer.h"
#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// Returns the name of the OpenGL renderer. Returns nothing if this computer or the Qt platform
// lacks OpenGL 3.3.
QString ProbeOpenGl();
// Returns whether a graphics driver has a device file in `folder`. If there is none, OpenGL is not
// probed, because probing loads a renderer that takes 50 MB until the program ends, even if nothing
// uses it. Only tests pass another `folder` than /dev.
bool HasGraphicsDevice(const QString& folder = QStringLiteral("/dev"));
// Returns whether the renderer runs on the CPU. If so, ui/timeline/raster draws faster.
bool IsSoftwareOpenGl(const QString& renderer);

class GlView : public QOpenGLWidget {
 public:
  // `model` must outlive the view. If OpenGL does not work, `failed` is called once, from the event
  // loop.
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
