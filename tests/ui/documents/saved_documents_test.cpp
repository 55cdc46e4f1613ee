// Converts documents to JSON and back. Also reads damaged and hostile JSON.
#include "ui/documents/saved_documents.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "ui/documents/document_list.h"

namespace vramscope::ui {
namespace {

SavedDocument MakeSaved(SourceKind kind) {
  SavedDocument out;
  out.source.kind = kind;
  if (kind == SourceKind::kFile) {
    out.source.file = "/data/a \"b\".pickle";
    out.source.stamp = "12:34";
    out.source.part.device = 3;
    out.source.part.last_entry = 99;
    out.source.part.from_ns = -5;
  }
  if (kind == SourceKind::kProgram) {
    out.source.variant = "bf16 + lora=16";
    out.source.program = {.where = program::Where::kHost,
                          .script = "/x/train.py",
                          .interpreter = "python3",
                          .arguments = "--batch 8",
                          .ranks = 4,
                          .steps = 0,
                          .skip_init = false,
                          .operators = true,
                          .host = "user@box",
                          .toggles = {"bf16", "lora=16"}};
  }
  out.config = *run::RunConfigBuilder().Build();
  out.config.batch = 7;
  out.view = {.begin_ns = 1'700'000'000'000'000'001,
              .end_ns = 1'700'000'000'000'000'777,
              .cursor_ns = 5,
              .range_begin_ns = 6,
              .range_end_ns = 8,
              .selection = {42}};
  HistoryEntry entry{.change = "LoRA on \u2192 off",
                     .config = out.config,
                     .file = "/kept/1.trace",
                     .peak_allocated = uint64_t{1} << 40,
                     .peak_reserved = uint64_t{1} << 41,
                     .step_ms = 12.5,
                     .when_unix_s = 1'800'000'000};
  out.history = {entry, entry};
  out.history[0].config.batch = 6;
  if (kind == SourceKind::kProgram) out.history[1].program = out.source.program;
  out.current = 1;
  out.baseline_entry = 0;
  out.scratch = "/tmp/vramscope-scratch-x";
  out.latest_file = "/kept/2.trace";
  out.history[1].notes = 3;
  out.history[1].note_texts = "first\nsecond";
  return out;
}

void ExpectSame(const SavedDocument& a, const SavedDocument& b) {
  EXPECT_EQ(a.source.kind, b.source.kind);
  EXPECT_EQ(a.source.file, b.source.file);
  EXPECT_EQ(a.source.stamp, b.source.stamp);
  EXPECT_EQ(a.source.part.device, b.source.part.device);
  EXPECT_EQ(a.source.part.last_entry, b.source.part.last_entry);
  EXPECT_EQ(a.source.part.from_ns, b.source.part.from_ns);
  EXPECT_EQ(a.source.part.to_ns, b.source.part.to_ns);
  EXPECT_EQ(program::CommandLineOf(a.source.program), program::CommandLineOf(b.source.program));
  EXPECT_EQ(a.source.program.host, b.source.program.host);
  EXPECT_EQ(a.source.program.toggles, b.source.program.toggles);
  EXPECT_EQ(a.source.variant, b.source.variant);
  EXPECT_EQ(a.source.program.operators, b.source.program.operators);
  EXPECT_EQ(run::ToProtoBytes(a.config), run::ToProtoBytes(b.config));
  EXPECT_EQ(a.view, b.view);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (size_t i = 0; i < a.history.size(); ++i) {
    EXPECT_EQ(a.history[i].change, b.history[i].change);
    EXPECT_EQ(run::ToProtoBytes(a.history[i].config), run::ToProtoBytes(b.history[i].config));
    EXPECT_EQ(a.history[i].program, b.history[i].program);
    EXPECT_EQ(a.history[i].file, b.history[i].file);
    EXPECT_EQ(a.history[i].peak_allocated, b.history[i].peak_allocated);
    EXPECT_EQ(a.history[i].peak_reserved, b.history[i].peak_reserved);
    EXPECT_EQ(a.history[i].step_ms, b.history[i].step_ms);
    EXPECT_EQ(a.history[i].when_unix_s, b.history[i].when_unix_s);
    EXPECT_EQ(a.history[i].notes, b.history[i].notes);
    EXPECT_EQ(a.history[i].note_texts, b.history[i].note_texts);
  }
  EXPECT_EQ(a.current, b.current);
  EXPECT_EQ(a.baseline_entry, b.baseline_entry);
  EXPECT_EQ(a.baseline_file, b.baseline_file);
  EXPECT_EQ(a.scratch, b.scratch);
  EXPECT_EQ(a.latest_file, b.latest_file);
}

SavedSession SessionOfAllKinds() {
  SavedSession session{.active = 2};
  for (const SourceKind kind :
       {SourceKind::kPlan, SourceKind::kGpuRun, SourceKind::kFile, SourceKind::kProgram})
    session.documents.push_back(MakeSaved(kind));
  return session;
}

TEST(SavedDocumentsTest, SurviveJsonRoundTrip) {
  const SavedSession session = SessionOfAllKinds();
  const auto read = SavedSessionFromJson(ToJson(session));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->active, 2u);
  EXPECT_FALSE(read->closed);
  ASSERT_EQ(read->documents.size(), session.documents.size());
  for (size_t i = 0; i < session.documents.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectSame(read->documents[i], session.documents[i]);
  }
}

TEST(SavedDocumentsTest, RestoreUnloadedWithTheirViewAndHistory) {
  DocumentList documents;
  for (const SourceKind kind : {SourceKind::kPlan, SourceKind::kFile, SourceKind::kProgram}) {
    const SavedDocument saved = MakeSaved(kind);
    Document& document = documents.Open(saved.source);
    Restore(saved, &document);
    EXPECT_EQ(document.state(), DocumentState::kUnloaded);
    EXPECT_TRUE(document.NeedsReload());
    EXPECT_EQ(document.history.current(), 1u);
    EXPECT_FALSE(document.Blank());
    const SavedDocument again = Save(document);
    EXPECT_EQ(again.view, saved.view);
    EXPECT_EQ(again.history.size(), 2u);
  }
}

// A program ended while another document was shown. Its result was saved, but the window was killed
// before the user saw the result.
TEST(SavedDocumentsTest, RestoreResultThatWasNeverShown) {
  DocumentList documents;
  Document& program =
      documents.Open({.kind = SourceKind::kProgram, .program = {.script = "/x/train.py"}});
  program.Began();
  program.latest = std::make_shared<const trace::Trace>();
  program.scratch = "/tmp/scratch";
  program.SavedTo(program.latest, "/kept/1.trace");
  program.Ended();
  const auto read = SavedSessionFromJson(ToJson({.documents = {Save(program)}}));
  ASSERT_TRUE(read.ok()) << read.status();
  Document& again = documents.Open(read->documents.at(0).source);
  Restore(read->documents.at(0), &again);
  EXPECT_TRUE(again.NeedsReload());
  EXPECT_EQ(again.FileOfResult(), "/kept/1.trace");
}

TEST(SavedDocumentsTest, KeepOnlyTheLastHistoryEntries) {
  DocumentList documents;
  Document& plan = documents.active();
  plan.config = *run::RunConfigBuilder().Build();
  for (size_t i = 0; i < kMostSavedEntries + 10; ++i)
    plan.history.Append({.change = std::to_string(i), .config = plan.config});
  plan.history.GoTo(kMostSavedEntries + 5);
  const SavedDocument saved = Save(plan);
  ASSERT_EQ(saved.history.size(), kMostSavedEntries);
  EXPECT_EQ(saved.history.front().change, "10");
  EXPECT_EQ(saved.history[saved.current].change, std::to_string(kMostSavedEntries + 5));
}

TEST(SavedDocumentsTest, RejectInvalidJsonAndSkipInvalidDocuments) {
  for (const char* text : {"", "{", "[]", "7", "{\"vramscope_session\": 2}", "\xff\xfe"})
    EXPECT_FALSE(SavedSessionFromJson(text).ok()) << text;
  // Breaks the JSON: a file without an absolute path, a program without a script, an unknown kind.
  for (const char* part : {"/data/a", "/x/train.py", "gpu-run"}) {
    std::string text = ToJson(SessionOfAllKinds());
    const bool program = std::string_view(part).starts_with("/x");
    // The document's own program comes after the programs in its history.
    const size_t at = program ? text.rfind(part) : text.find(part);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, program ? std::string_view("/x/train.py").size() : 1, program ? "" : "x");
    const auto read = SavedSessionFromJson(text);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->documents.size(), 3u) << part;
  }
  EXPECT_FALSE(SavedSessionFromJson(std::string(kMostSavedBytes + 1, ' ')).ok());
  const std::string deep = "{\"vramscope_session\": 1, \"documents\": " + std::string(100'000, '[');
  EXPECT_FALSE(SavedSessionFromJson(deep).ok());
}

// Reading must stay in bounds after random changes of bytes. A build with sanitizers also detects
// undefined behaviour.
TEST(SavedDocumentsTest, SurviveRandomByteChanges) {
  const std::string good = ToJson(SessionOfAllKinds());
  std::mt19937 random(1);
  int read = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = good;
    for (int change = 0; change < 4; ++change) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 40);
          break;
        default:
          text.insert(at, std::to_string(static_cast<int64_t>(random()) << (random() % 32)));
          break;
      }
    }
    const auto session = SavedSessionFromJson(text);
    if (!session.ok()) continue;
    ++read;
    EXPECT_LE(session->documents.size(), 4u);
    DocumentList documents;
    for (const SavedDocument& saved : session->documents) {
      EXPECT_TRUE(saved.current == History::kNone || saved.current < saved.history.size());
      Restore(saved, &documents.Open(saved.source));
    }
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace vramscope::ui
