// The canvas on OpenGL: a QOpenGLWidget over the whole TimelineWidget, which handles the input. The
// data layer is kept in a framebuffer object, so that hovering draws the overlay only.
#pragma once

#include <QOpenGLFramebufferObject>
#include <QOpenGLWidget>
#include <functional>
#include <memory>

#include "ui/timeline/gl/gl_renderer.h"
#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {

// What OpenGL this computer has; empty: none (or the platform plugin has none).
QString ProbeOpenGl();
// Whether there is anything that OpenGL could be drawn with but the processor: a device file of a
// graphics driver. Where there is none nothing is probed: loading a renderer that is not used takes
// 50 MB for as long as the program lives. `folder`: /dev, or a test's.
bool HasGraphicsDevice(const QString& folder = QStringLiteral("/dev"));
// A renderer's name that means "on the CPU": our own filling is faster there.
bool IsSoftwareOpenGl(const QString& renderer);

class GlView : public QOpenGLWidget {
 public:
  // `model` must outlive the view. `failed` is called (queued) once when OpenGL does not do.
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
