#include "ui/timeline/gl/gl_renderer.h"

#include <backends/imgui_impl_opengl3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <QFontMetricsF>
#include <QGlyphRun>
#include <QOpenGLContext>
#include <QRawFont>
#include <QTextLayout>
#include <QtEndian>
#include <algorithm>
#include <cmath>
#include <optional>

#include "profiler/base/i18n.h"
#include "ui/timeline/raster/fonts.h"

namespace vramscope::ui::timeline {
namespace {

constexpr const char* kQuadVertex = R"(#version 330
layout(location = 0) in vec4 rect;
layout(location = 1) in vec4 bgra;
uniform vec2 size;
uniform float scale;
out vec4 color;
void main() {
  vec2 low = floor(rect.xy * scale + 0.5);
  vec2 high = max(floor(rect.zw * scale + 0.5), low + 1.0);
  vec2 p = mix(low, high, vec2(gl_VertexID & 1, gl_VertexID >> 1)) / (size * scale);
  gl_Position = vec4(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, 0.0, 1.0);
  color = bgra.bgra;
})";
constexpr const char* kQuadFragment = R"(#version 330
in vec4 color;
out vec4 result;
void main() { result = color; })";
constexpr const char* kPictureVertex = R"(#version 330
uniform vec4 area;
uniform vec2 size;
out vec2 uv;
void main() {
  uv = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 p = mix(area.xy, area.zw, uv) / size;
  gl_Position = vec4(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, 0.0, 1.0);
})";
constexpr const char* kPictureFragment = R"(#version 330
uniform sampler2D picture;
in vec2 uv;
out vec4 result;
void main() { result = texture(picture, uv); })";

// Ranges of the characters that English texts and module names (ASCII) contain. AddCharacters()
// adds other characters when they are needed.
constexpr ImWchar kGlyphs[] = {0x20, 0xff, 0x2010, 0x2027, 0x2190, 0x2193, 0x2212, 0x2212, 0};
constexpr size_t kMostExtra = 6000;  // an atlas of 4096 x 4096 pixels is large enough

bool InEveryAtlas(char32_t c) {
  for (const ImWchar* range = kGlyphs; *range != 0; range += 2)
    if (c >= range[0] && c <= range[1]) return true;
  // Control characters are not drawn, and others do not fit into ImGui's 16 bits.
  return c < 0x20 || c > 0xffff;
}

ImU32 ToImGui(uint32_t argb) {
  return IM_COL32((argb >> 16) & 255, (argb >> 8) & 255, argb & 255, argb >> 24);
}

std::unique_ptr<QOpenGLShaderProgram> Program(const char* vertex, const char* fragment,
                                              QString* error) {
  auto program = std::make_unique<QOpenGLShaderProgram>();
  if (!program->addShaderFromSourceCode(QOpenGLShader::Vertex, vertex) ||
      !program->addShaderFromSourceCode(QOpenGLShader::Fragment, fragment) || !program->link()) {
    *error = program->log();
    return nullptr;
  }
  return program;
}

void DashedLine(ImDrawList* out, const LinePrim& l) {
  ImVec2 a(l.x0, l.y0), b(l.x1, l.y1);
  if (l.dash.on <= 0) {
    out->AddLine(a, b, ToImGui(l.argb), l.width);
    return;
  }
  float dx = b.x - a.x, dy = b.y - a.y, length = std::sqrt(dx * dx + dy * dy);
  if (length <= 0) return;
  float period = l.dash.on + l.dash.off;
  for (float at = 0; at < length; at += period) {
    float from = at / length, to = std::min(at + l.dash.on, length) / length;
    out->AddLine({a.x + dx * from, a.y + dy * from}, {a.x + dx * to, a.y + dy * to},
                 ToImGui(l.argb), l.width);
  }
}

}  // namespace

QByteArray FontFile(const QFont& font) { return FontFile(QRawFont::fromFont(font)); }

QByteArray FontFile(const QRawFont& raw) {
  if (!raw.isValid()) return {};
  // Copy only the tables that ImGui's rasterizer needs: outlines, metrics and the character map.
  static constexpr const char* kTags[] = {"CFF ", "OS/2", "cmap", "cvt ", "fpgm", "glyf", "head",
                                          "hhea", "hmtx", "kern", "loca", "maxp", "name", "prep"};
  std::vector<std::pair<const char*, QByteArray>> tables;
  for (const char* tag : kTags) {
    QByteArray table = raw.fontTable(tag);
    if (!table.isEmpty()) tables.emplace_back(tag, table);
  }
  auto has = [&](const char* tag) {
    return std::any_of(tables.begin(), tables.end(),
                       [&](const auto& t) { return std::string_view(t.first) == tag; });
  };
  bool cff = has("CFF ");
  if (!(cff || (has("glyf") && has("loca"))) || !has("cmap") || !has("head") || !has("hhea") ||
      !has("hmtx")) {
    return {};
  }
  QByteArray file;
  auto put16 = [&](uint16_t v) {
    uint16_t big = qToBigEndian(v);
    file.append(reinterpret_cast<const char*>(&big), 2);
  };
  auto put32 = [&](uint32_t v) {
    uint32_t big = qToBigEndian(v);
    file.append(reinterpret_cast<const char*>(&big), 4);
  };
  // Write an OpenType file: the offset table, a record for each table, and the tables (4-byte
  // aligned).
  put32(cff ? 0x4f54544f : 0x00010000);
  put16(static_cast<uint16_t>(tables.size()));
  for (int i = 0; i < 3; ++i) put16(0);  // search hints, which no reader of this font uses
  auto offset = static_cast<uint32_t>(12 + 16 * tables.size());
  for (const auto& [tag, table] : tables) {
    file.append(tag, 4);
    put32(0);
    put32(offset);
    put32(static_cast<uint32_t>(table.size()));
    offset += (static_cast<uint32_t>(table.size()) + 3) / 4 * 4;
  }
  for (const auto& [tag, table] : tables) {
    file.append(table);
    file.append((4 - table.size() % 4) % 4, '\0');
  }
  return file;
}

namespace {

// Returns the font size as ImGui defines it: ascent plus descent. For Qt, it is the size of the em
// square.
std::optional<float> ImGuiSize(const QRawFont& raw, int pixels) {
  const QByteArray head = raw.fontTable("head"), hhea = raw.fontTable("hhea");
  if (head.size() < 20 || hhea.size() < 8) return std::nullopt;
  const auto em = qFromBigEndian<quint16>(head.constData() + 18);
  const auto ascent = qFromBigEndian<qint16>(hhea.constData() + 4);
  const auto descent = qFromBigEndian<qint16>(hhea.constData() + 6);
  if (em == 0 || ascent <= descent) return std::nullopt;
  return static_cast<float>(pixels) * static_cast<float>(ascent - descent) / static_cast<float>(em);
}

}  // namespace

GlRenderer::GlRenderer() = default;
GlRenderer::~GlRenderer() = default;

absl::Status GlRenderer::Initialize(double scale) {
  initializeOpenGLFunctions();
  QString error;
  quads_ = Program(kQuadVertex, kQuadFragment, &error);
  pictures_ = Program(kPictureVertex, kPictureFragment, &error);
  if (!quads_ || !pictures_) {
    return absl::FailedPreconditionError(
        i18n::Format("the timeline's shaders could not be built (OpenGL 3.3 is needed): {}",
                     error.toStdString()));
  }
  vao_ = std::make_unique<QOpenGLVertexArrayObject>();
  if (!vao_->create() || !instances_.create()) {
    return absl::FailedPreconditionError(
        i18n::Text("OpenGL has no vertex arrays; OpenGL 3.3 is needed"));
  }
  instances_.setUsagePattern(QOpenGLBuffer::DynamicDraw);
  glGenTextures(1, &texture_);

  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  if (absl::Status status = LoadFonts(scale); !status.ok()) return status;
  if (!ImGui_ImplOpenGL3_Init("#version 330")) {
    return absl::FailedPreconditionError(i18n::Text("Dear ImGui's OpenGL backend does not start"));
  }
  return absl::OkStatus();
}

void GlRenderer::Release() {
  if (context_) {
    ImGui::SetCurrentContext(context_);
    if (ImGui::GetIO().BackendRendererUserData) ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext(context_);
    context_ = nullptr;
  }
  quads_.reset();
  pictures_.reset();
  vao_.reset();
  instances_.destroy();
  if (texture_) glDeleteTextures(1, &texture_);
  texture_ = 0;
  fonts_ = {};
}

absl::Status GlRenderer::LoadFonts(double scale) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  font_files_.clear();
  ranges_.clear();
  for (int i = 0; i < kFontCount; ++i) {
    QFont font = CanvasFont(static_cast<Font>(i));
    QByteArray file = FontFile(font);
    if (file.isEmpty()) {
      return absl::NotFoundError(
          i18n::Format("the font {} has no outlines", font.family().toStdString()));
    }
    const std::optional<float> size = ImGuiSize(QRawFont::fromFont(font), font.pixelSize());
    if (!size) return absl::NotFoundError(i18n::Text("the font has no metrics"));
    font_files_.push_back(file);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 2;
    config.OversampleV = 1;
    FontMetrics& metrics = fonts_[i];
    metrics.size = *size;
    metrics.cap_height = static_cast<float>(QFontMetricsF(font).capHeight());
    metrics.font = io.Fonts->AddFontFromMemoryTTF(
        font_files_.back().data(), static_cast<int>(font_files_.back().size()),
        *size * static_cast<float>(scale), &config, kGlyphs);
    if (!metrics.font) return absl::NotFoundError(i18n::Text("Dear ImGui cannot read the font"));
    if (!extra_.empty())
      if (absl::Status status = AddFallbacks(font, static_cast<float>(scale)); !status.ok())
        return status;
  }
  if (!io.Fonts->Build()) return absl::InternalError(i18n::Text("the font atlas cannot be built"));
  scale_ = scale;
  return absl::OkStatus();
}

absl::Status GlRenderer::SetScale(double scale) {
  if (scale == scale_) return absl::OkStatus();
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  if (absl::Status status = LoadFonts(scale); !status.ok()) return status;
  ImGui_ImplOpenGL3_CreateFontsTexture();
  return absl::OkStatus();
}

// Gets the characters that `font` lacks from Qt's fallback fonts, and merges them into the ImGui
// font that was added last.
absl::Status GlRenderer::AddFallbacks(const QFont& font, float scale) {
  QString text;
  for (const char32_t c : extra_) text += QChar(static_cast<char16_t>(c));
  QTextLayout layout(text, font);
  layout.beginLayout();
  layout.createLine();
  layout.endLayout();
  struct Fallback {
    QRawFont raw;
    std::set<char16_t> characters;
  };
  std::map<QString, Fallback> fallbacks;
  for (const char32_t c : extra_) {
    const auto unit = static_cast<char16_t>(c);
    for (const QGlyphRun& run : layout.glyphRuns()) {
      const QRawFont raw = run.rawFont();
      if (!raw.supportsCharacter(QChar(unit))) continue;
      Fallback& fallback = fallbacks[raw.familyName()];
      fallback.raw = raw;
      fallback.characters.insert(unit);
      break;
    }
  }
  ImGuiIO& io = ImGui::GetIO();
  for (auto& [family, fallback] : fallbacks) {
    std::shared_ptr<const QByteArray>& file = fallback_files_[family];
    if (file == nullptr) file = std::make_shared<const QByteArray>(FontFile(fallback.raw));
    const std::optional<float> size = ImGuiSize(fallback.raw, font.pixelSize());
    if (file->isEmpty() || !size) continue;  // the characters of this font are drawn as boxes
    std::vector<unsigned short>& ranges = ranges_.emplace_back();
    for (const char16_t c : fallback.characters) ranges.insert(ranges.end(), {c, c});
    ranges.push_back(0);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.MergeMode = true;
    config.OversampleH = 1;
    // The cast is safe: stb_truetype does not write to the bytes.
    if (io.Fonts->AddFontFromMemoryTTF(const_cast<char*>(file->constData()),
                                       static_cast<int>(file->size()), *size * scale, &config,
                                       ranges.data()) == nullptr)
      return absl::NotFoundError(i18n::Text("Dear ImGui cannot read the font"));
  }
  return absl::OkStatus();
}

void GlRenderer::NoteCharacters(std::string_view utf8) const {
  if (std::ranges::all_of(utf8, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return;
  for (const char32_t c :
       QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size())).toUcs4())
    if (!InEveryAtlas(c) && !extra_.contains(c)) lacking_.insert(c);
}

absl::Status GlRenderer::AddCharacters() {
  if (extra_.size() + lacking_.size() > kMostExtra) extra_.clear();
  extra_.merge(lacking_);
  lacking_.clear();
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  if (absl::Status status = LoadFonts(scale_); !status.ok()) return status;
  ImGui_ImplOpenGL3_CreateFontsTexture();
  return absl::OkStatus();
}

float GlRenderer::Width(std::string_view utf8, Font font) const {
  const FontMetrics& m = fonts_[static_cast<size_t>(font)];
  if (!m.font) return 0;
  NoteCharacters(utf8);
  return m.font->CalcTextSizeA(m.size, FLT_MAX, 0, utf8.data(), utf8.data() + utf8.size()).x;
}

// Puts all rectangles of a frame into one buffer: first the rectangles of the list, then the
// columns of the stacks, then the columns of the strips.
void GlRenderer::Collect(const DrawList& list) {
  rects_.assign(list.fills().begin(), list.fills().end());
  stack_ranges_.clear();
  for (const StackPrim& s : list.stacks()) {
    auto first = static_cast<uint32_t>(rects_.size());
    auto edges = list.edges(s);
    auto colors = list.colors(s);
    float per_column = s.area.w / static_cast<float>(s.columns);
    for (uint32_t l = 0; l < s.layers; ++l) {
      const float* bottom = edges.data() + size_t{l} * s.columns;
      const float* top = bottom + s.columns;
      for (uint32_t i = 0; i < s.columns;) {
        uint32_t j = i + 1;
        while (j < s.columns && bottom[j] == bottom[i] && top[j] == top[i]) ++j;
        if (bottom[i] - top[i] > 0.02f) {
          rects_.push_back({s.area.x + static_cast<float>(i) * per_column, top[i],
                            s.area.x + static_cast<float>(j) * per_column, bottom[i], colors[l]});
        }
        i = j;
      }
    }
    stack_ranges_.push_back({first, static_cast<uint32_t>(rects_.size()) - first});
  }
  strip_ranges_.clear();
  for (const StripPrim& s : list.strips()) {
    const auto first = static_cast<uint32_t>(rects_.size());
    const std::span<const uint32_t> colors = list.strip(s);
    const float per_column = s.area.w / static_cast<float>(std::max(s.columns, 1u));
    for (uint32_t i = 0; i < s.columns;) {
      uint32_t j = i + 1;
      while (j < s.columns && colors[j] == colors[i]) ++j;
      if (colors[i] >> 24)
        rects_.push_back({s.area.x + static_cast<float>(i) * per_column, s.area.y,
                          s.area.x + static_cast<float>(j) * per_column, s.area.bottom(),
                          colors[i]});
      i = j;
    }
    strip_ranges_.push_back({first, static_cast<uint32_t>(rects_.size()) - first});
  }
}

void GlRenderer::EmitDense(ImDrawList* out, Dense dense) {
  dense_.push_back(std::make_unique<Dense>(dense));
  out->AddCallback(&GlRenderer::OnDense, dense_.back().get());
  out->AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

void GlRenderer::OnDense(const ImDrawList*, const ImDrawCmd* command) {
  const auto& dense = *static_cast<const Dense*>(command->UserCallbackData);
  dense.renderer->DrawDense(dense, *command);
}

void GlRenderer::DrawDense(const Dense& dense, const ImDrawCmd& command) {
  auto pixel = [&](double v) { return static_cast<int>(std::lround(v * scale_)); };
  int height = pixel(size_.height());
  int x0 = std::max(pixel(command.ClipRect.x), 0), y0 = std::max(pixel(command.ClipRect.y), 0);
  int x1 = std::min(pixel(command.ClipRect.z), pixel(size_.width()));
  int y1 = std::min(pixel(command.ClipRect.w), height);
  if (x1 <= x0 || y1 <= y0) return;
  glEnable(GL_SCISSOR_TEST);
  glScissor(x0, height - y1, x1 - x0, y1 - y0);
  glEnable(GL_BLEND);
  vao_->bind();
  if (dense.image) {
    const ImagePrim& image = list_->images()[dense.first];
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);  // the colors are premultiplied
    pictures_->bind();
    pictures_->setUniformValue("area", image.area.x, image.area.y, image.area.right(),
                               image.area.bottom());
    pictures_->setUniformValue("size", size_);
    pictures_->setUniformValue("picture", 0);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture_);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    // a pixel is 0xAARRGGBB, which is BGRA in memory
    constexpr GLenum kBgra = 0x80e1;
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<int>(image.width),
                 static_cast<int>(image.height), 0, kBgra, GL_UNSIGNED_BYTE,
                 list_->pixels(image).data());
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    pictures_->release();
  } else if (dense.count > 0) {
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    quads_->bind();
    quads_->setUniformValue("size", size_);
    quads_->setUniformValue("scale", static_cast<float>(scale_));
    instances_.bind();
    auto at = [&](size_t field) {
      return reinterpret_cast<const void*>(dense.first * sizeof(FillRect) + field);
    };
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, sizeof(FillRect), at(0));
    glVertexAttribDivisor(0, 1);
    glEnableVertexAttribArray(1);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(FillRect),
                          at(offsetof(FillRect, argb)));
    glVertexAttribDivisor(1, 1);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<int>(dense.count));
    instances_.release();
    quads_->release();
  }
  vao_->release();
}

void GlRenderer::Emit(const DrawList& list, ImDrawList* out) {
  for (const Command& c : list.commands()) {
    const Rect& clip = list.clips()[c.clip];
    out->PushClipRect({clip.x, clip.y}, {clip.right(), clip.bottom()}, false);
    if (c.prim == Prim::kFill) {
      EmitDense(out, {this, c.first, c.count, false});
    }
    for (uint32_t i = c.first; i < c.first + c.count; ++i) {
      switch (c.prim) {
        case Prim::kFill:
          break;
        case Prim::kStack:
          EmitDense(out, {this, stack_ranges_[i][0], stack_ranges_[i][1], false});
          break;
        case Prim::kStrip:
          EmitDense(out, {this, strip_ranges_[i][0], strip_ranges_[i][1], false});
          break;
        case Prim::kImage:
          EmitDense(out, {this, i, 0, true});
          break;
        case Prim::kBox: {
          const BoxPrim& b = list.boxes()[i];
          ImVec2 low(b.rect.x, b.rect.y), high(b.rect.right(), b.rect.bottom());
          if (b.fill >> 24) out->AddRectFilled(low, high, ToImGui(b.fill), b.radius);
          if (b.stroke >> 24) {
            float half = b.stroke_width / 2;
            // Subtract the half pixel that ImGui adds to the coordinates.
            out->PathRect({low.x + half, low.y + half}, {high.x - half, high.y - half}, b.radius);
            out->PathStroke(ToImGui(b.stroke), ImDrawFlags_Closed, b.stroke_width);
          }
          break;
        }
        case Prim::kLine:
          DashedLine(out, list.lines()[i]);
          break;
        case Prim::kPolyline: {
          const PolylinePrim& p = list.polylines()[i];
          std::vector<ImVec2> points;
          for (const Point& q : list.points(p)) points.emplace_back(q.x, q.y);
          out->AddPolyline(points.data(), static_cast<int>(points.size()), ToImGui(p.argb), 0,
                           p.width);
          break;
        }
        case Prim::kText: {
          const TextPrim& t = list.texts()[i];
          std::string_view text = list.text(t);
          const FontMetrics& m = fonts_[static_cast<size_t>(t.font)];
          NoteCharacters(text);
          float x = t.box.x;
          if (t.align != Align::kLeft) {
            float room = t.box.w - Width(text, t.font);
            x += t.align == Align::kCenter ? room / 2 : room;
          }
          float baseline = t.box.y + t.box.h / 2 + m.cap_height / 2;
          float ascent = m.font->Ascent * m.size / m.font->FontSize;
          auto snap = [&](float v) { return static_cast<float>(std::round(v * scale_) / scale_); };
          out->AddText(m.font, m.size, {snap(x), snap(baseline - ascent)}, ToImGui(t.argb),
                       text.data(), text.data() + text.size());
          break;
        }
        case Prim::kCircle: {
          const CirclePrim& o = list.circles()[i];
          if (o.fill >> 24) out->AddCircleFilled({o.x, o.y}, o.radius, ToImGui(o.fill), 24);
          if (o.stroke >> 24) {
            out->AddCircle({o.x, o.y}, o.radius, ToImGui(o.stroke), 24, o.stroke_width);
          }
          break;
        }
      }
    }
    out->PopClipRect();
  }
}

void GlRenderer::Render(const DrawList& list, QSizeF size, double scale) {
  ImGui::SetCurrentContext(context_);
  list_ = &list;
  size_ = size;
  scale_ = scale;
  dense_.clear();
  Collect(list);
  instances_.bind();
  instances_.allocate(rects_.data(), static_cast<int>(rects_.size() * sizeof(FillRect)));
  instances_.release();

  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(size.width()), static_cast<float>(size.height())};
  io.DisplayFramebufferScale = {static_cast<float>(scale), static_cast<float>(scale)};
  io.DeltaTime = 1 / 60.0f;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  Emit(list, ImGui::GetBackgroundDrawList());
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  list_ = nullptr;
}

}  // namespace vramscope::ui::timeline
