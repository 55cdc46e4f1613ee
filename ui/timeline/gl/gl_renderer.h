// Draws a DrawList with OpenGL 3.3. Dear ImGui draws boxes, lines and text. Callbacks in ImGui's
// list draw filled rectangles, the columns of stacks and strips (as instanced quads), and images
// (as textures). Because they are in the same list, the drawing order is kept. The OpenGL context
// must be current in every call. Each renderer has its own ImGui context.
//
//   GlRenderer r;
//   if (absl::Status s = r.Initialize(dpr); !s.ok()) fall_back();
//   r.Render(list, {width, height}, dpr);     // into the bound framebuffer
#pragma once

#include <absl/status/status.h>

#include <QByteArray>
#include <QFont>
#include <QOpenGLBuffer>
#include <QOpenGLExtraFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <QRawFont>
#include <QSizeF>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "ui/timeline/model/draw_list.h"

struct ImGuiContext;
struct ImDrawList;
struct ImDrawCmd;
struct ImFont;

namespace vramscope::ui::timeline {

// These functions return a font file in memory for ImGui, or nothing if Qt provides no tables of
// the font.
QByteArray FontFile(const QFont& font);
QByteArray FontFile(const QRawFont& font);

class GlRenderer : public TextMeasure, protected QOpenGLExtraFunctions {
 public:
  GlRenderer();
  ~GlRenderer() override;  // call Release() first

  absl::Status Initialize(double scale);
  void Release();
  // Sets the device pixel ratio, and loads the fonts again if it has changed.
  absl::Status SetScale(double scale);
  // Whether the last drawn list used characters that the atlas lacks (such as Chinese ones). After
  // AddCharacters() has added these, the list must be built again.
  bool lacks_characters() const { return !lacking_.empty(); }
  absl::Status AddCharacters();
  void Render(const DrawList& list, QSizeF size, double scale);

  float Width(std::string_view utf8, Font font) const override;

 private:
  struct Dense {
    GlRenderer* renderer;
    uint32_t first, count;  // a range of instances; for an image: its index, and 0
    bool image;
  };
  struct FontMetrics {
    ImFont* font = nullptr;
    float size = 0;        // ImGui's font size in logical pixels
    float cap_height = 0;  // in logical pixels
  };

  absl::Status LoadFonts(double scale);
  absl::Status AddFallbacks(const QFont& font, float pixels);
  void NoteCharacters(std::string_view utf8) const;
  void Collect(const DrawList& list);
  void Emit(const DrawList& list, ImDrawList* out);
  void EmitDense(ImDrawList* out, Dense dense);
  static void OnDense(const ImDrawList* list, const ImDrawCmd* command);
  void DrawDense(const Dense& dense, const ImDrawCmd& command);

  ImGuiContext* context_ = nullptr;
  double scale_ = 0;
  std::array<FontMetrics, kFontCount> fonts_;
  std::vector<QByteArray> font_files_;  // ImGui reads these files while it builds the atlas
  // The characters that were added to those in kGlyphs, even if no font has them.
  std::set<char32_t> extra_;
  mutable std::set<char32_t> lacking_;
  std::map<QString, std::shared_ptr<const QByteArray>> fallback_files_;  // keyed by family
  std::vector<std::vector<unsigned short>> ranges_;                      // ImGui also reads these

  std::unique_ptr<QOpenGLShaderProgram> quads_, pictures_;
  std::unique_ptr<QOpenGLVertexArrayObject> vao_;
  QOpenGLBuffer instances_{QOpenGLBuffer::VertexBuffer};
  unsigned texture_ = 0;

  // These members are set while a frame is being drawn.
  const DrawList* list_ = nullptr;
  QSizeF size_;
  std::vector<FillRect> rects_;
  std::vector<std::array<uint32_t, 2>> stack_ranges_, strip_ranges_;
  std::vector<std::unique_ptr<Dense>> dense_;
};

}  // namespace vramscope::ui::timeline
