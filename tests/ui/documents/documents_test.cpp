// Tests documents without a window: history entries, undo, which results can be produced again, and
// which document is shown after another was closed.
#include <gtest/gtest.h>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/documents/document_list.h"

namespace vramscope::ui {
namespace {

run::RunConfig Batch(int64_t batch) {
  run::RunConfig config;
  config.model = "gpt2";
  config.batch = batch;
  return config;
}

Session::DigestPtr ResultOf(const run::RunConfig& config, int layers = 1) {
  auto trace = std::make_shared<trace::Trace>(
      *vramscope::testing::MakeSyntheticTrace({.layers = layers, .steps = 1}));
  trace->info.has_config = true;
  trace->info.config = config;
  trace->info.model.name = config.model;
  return MakeDigest(std::move(trace));
}

// Changes the settings of a plan, as a toggle does, and finishes the run.
void Plan(Document& plan, const run::RunConfig& config, const char* change, int64_t when,
          int layers = 1) {
  plan.Expect(change);
  plan.config = config;
  plan.Began();
  EXPECT_EQ(plan.state(), DocumentState::kWorking);
  plan.Arrived(ResultOf(config, layers), false, when);
  EXPECT_EQ(plan.state(), DocumentState::kShown);
}

TEST(DocumentTest, PlanResultAddsHistoryEntry) {
  DocumentList documents;
  Document& plan = documents.active();
  EXPECT_TRUE(plan.Blank());
  EXPECT_EQ(plan.state(), DocumentState::kEmpty);
  Plan(plan, Batch(1), "", 100);
  Plan(plan, Batch(2), "Batch 1 → 2", 200, 2);
  Plan(plan, Batch(1), "Batch 2 → 1", 300);  // switching a toggle back adds an entry, too
  EXPECT_FALSE(plan.Blank());
  ASSERT_EQ(plan.history.entries().size(), 3u);
  EXPECT_EQ(plan.history.current(), 2u);
  const HistoryEntry& second = plan.history.entries()[1];
  EXPECT_EQ(second.change, "Batch 1 → 2");
  EXPECT_EQ(second.when_unix_s, 200);
  EXPECT_GT(second.peak_allocated, plan.history.entries()[0].peak_allocated);
  EXPECT_GE(second.peak_reserved, second.peak_allocated);
  EXPECT_EQ(plan.Title(), "gpt2");
}

TEST(DocumentTest, UndoSelectsTheEarlierHistoryEntry) {
  DocumentList documents;
  Document& plan = documents.active();
  Plan(plan, Batch(1), "", 100);
  Plan(plan, Batch(2), "b2", 200);
  Plan(plan, Batch(3), "b3", 300);
  plan.undo.Push({.text = "b2", .before = Batch(1), .after = Batch(2)});
  plan.undo.Push({.text = "b3", .before = Batch(2), .after = Batch(3)});
  ASSERT_NE(plan.undo.next_undo(), nullptr);
  plan.config = plan.undo.Undo().before;
  EXPECT_TRUE(plan.NeedsReload());
  plan.Expect(std::nullopt);
  plan.Arrived(ResultOf(plan.config), false, 400);
  EXPECT_EQ(plan.history.entries().size(), 3u);
  EXPECT_EQ(plan.history.current(), 1u);
  EXPECT_EQ(plan.history.now()->when_unix_s, 200);
  EXPECT_FALSE(plan.NeedsReload());
  EXPECT_EQ(plan.undo.Redo().after.batch, 3);
  EXPECT_EQ(plan.undo.next_redo(), nullptr);
  plan.undo.Undo();
  plan.undo.redo_into = 7;
  plan.undo.Push({.text = "b4", .before = Batch(2), .after = Batch(4)});
  EXPECT_EQ(plan.undo.next_redo(), nullptr) << "undone results are removed";
  EXPECT_EQ(plan.undo.redo_into, 0u);
  // The undone change must keep its entry in the history.
  EXPECT_EQ(plan.history.entries()[2].change, "b3");
}

TEST(DocumentTest, RerunWithSameSettingsAddsNoEntry) {
  DocumentList documents;
  Document& plan = documents.active();
  Plan(plan, Batch(1), "", 100);
  plan.Began();
  plan.Arrived(ResultOf(Batch(1), 2), false, 200);
  ASSERT_EQ(plan.history.entries().size(), 1u);
  EXPECT_EQ(plan.history.now()->peak_allocated, plan.session.shown()->summary.peak.allocated);
}

TEST(DocumentTest, AbandonedPlanReloadsButFailedPlanDoesNot) {
  DocumentList documents;
  Document& plan = documents.active();
  plan.Expect("");
  plan.Began();
  plan.Left();
  EXPECT_TRUE(plan.NeedsReload());
  plan.Began();
  EXPECT_FALSE(plan.NeedsReload());
  plan.Ended();
  EXPECT_EQ(plan.state(), DocumentState::kFailed);
  EXPECT_FALSE(plan.NeedsReload()) << "a failed plan is not repeated";
}

TEST(DocumentTest, ReleasedFileCanBeReloaded) {
  DocumentList documents;
  Document& file = documents.Open({.kind = SourceKind::kFile, .file = "/data/a.trace"});
  EXPECT_EQ(file.Title(), "a.trace");
  file.Began();
  file.Arrived(ResultOf(Batch(1)), true, 1);
  EXPECT_FALSE(file.CanReload()) << "only a part of the file was read";
  EXPECT_TRUE(file.history.entries().empty());
  file.Arrived(ResultOf(Batch(1)), false, 2);
  ASSERT_TRUE(file.CanReload());
  file.Release();
  EXPECT_EQ(file.state(), DocumentState::kUnloaded);
  EXPECT_TRUE(file.NeedsReload());
  EXPECT_EQ(file.FileOfResult(), "/data/a.trace");
  file.Began();
  file.Arrived(ResultOf(Batch(1)), false, 3);
  EXPECT_EQ(file.history.entries().size(), 1u);
  EXPECT_EQ(file.state(), DocumentState::kShown);
}

TEST(DocumentTest, ProgramResultReloadsFromItsSavedFile) {
  DocumentList documents;
  Document& program =
      documents.Open({.kind = SourceKind::kProgram, .program = {.script = "/x/train.py"}});
  EXPECT_EQ(program.Title(), "train.py");
  program.source.variant = "--batch=8";
  EXPECT_EQ(program.Title(), "train.py · --batch=8");
  program.source.variant.clear();
  program.Expect("");
  program.Began();
  const auto first = ResultOf(Batch(1)), second = ResultOf(Batch(1), 2);
  // First case: a result is saved before it is shown.
  program.latest = first->trace;
  program.SavedTo(first->trace, "/kept/1.trace");
  EXPECT_FALSE(program.CanReload());
  program.Arrived(first, false, 1);
  EXPECT_EQ(program.FileOfResult(), "/kept/1.trace");
  // Second case: a result is saved after it is shown.
  program.Expect("Repeated run");
  program.Began();
  program.Arrived(second, false, 2);
  EXPECT_FALSE(program.CanReload());
  program.SavedTo(first->trace, "/wrong.trace");
  EXPECT_FALSE(program.CanReload());
  program.SavedTo(second->trace, "/kept/2.trace");
  EXPECT_TRUE(program.CanReload());
  program.FileMoved("/kept/2.trace", "/mine.trace");
  EXPECT_EQ(program.FileOfResult(), "/mine.trace");
  // Third case: a result is saved after the user has gone back to an earlier one.
  const auto third = ResultOf(Batch(1), 3);
  program.Expect("bf16 on");
  program.Arrived(third, false, 2);
  program.history.GoTo(0);
  program.SavedTo(third->trace, "/kept/3.trace");
  EXPECT_EQ(program.history.entries()[0].file, "/kept/1.trace");
  EXPECT_EQ(program.history.entries()[2].file, "/kept/3.trace");
  // When an earlier result was read again, its entry becomes the current one. No entry is added.
  program.history.GoTo(0);
  program.Arrived(first, false, 3);
  EXPECT_EQ(program.history.current(), 0u);
  EXPECT_EQ(program.history.entries().size(), 3u);
}

TEST(DocumentListTest, OpenAddsADocumentAndKeepsTheActiveOne) {
  DocumentList documents;
  Plan(documents.active(), Batch(3), "", 1);
  const DocumentId plan = documents.active().id();
  Document& file = documents.Open({.kind = SourceKind::kFile, .file = "/a", .stamp = "1"});
  EXPECT_EQ(documents.active().id(), plan);
  EXPECT_EQ(file.opener, plan);
  EXPECT_EQ(file.config.batch, 3);
  documents.Activate(file.id());
  EXPECT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents.ShownBefore(), plan);
  // A file's document must be found again, but not for another part or a newer version of the file.
  EXPECT_EQ(documents.FindFile("/a", {}, "1"), &file);
  EXPECT_EQ(documents.FindFile("/a", {.device = 1}, "1"), nullptr);
  EXPECT_EQ(documents.FindFile("/a", {}, "2"), nullptr);
}

TEST(DocumentListTest, NewDocumentInheritsSharedBaseline) {
  DocumentList documents;
  Plan(documents.active(), Batch(3), "", 1);
  Session& shown = documents.active().session;
  shown.SetBaseline(shown.shown(), "/saved.trace");
  EXPECT_EQ(documents.Open({}).session.baseline(), shown.shown());
  shown.SetBaseline(shown.shown(), "/saved.trace", /*for_this_only=*/true);
  EXPECT_EQ(documents.Open({}).session.baseline(), nullptr);
}

TEST(DocumentListTest, CloseActivatesThePreviousDocument) {
  DocumentList documents;
  const DocumentId first = documents.active().id();
  const DocumentId second = documents.Open({}).id();
  documents.Activate(second);
  const DocumentId third = documents.Open({}).id();
  documents.Activate(third);
  documents.Find(second)->undo.redo_into = third;
  EXPECT_EQ(documents.Close(third), second);
  EXPECT_EQ(documents.Find(second)->undo.redo_into, 0u);
  EXPECT_EQ(documents.Close(first), second) << "the closed document was not the shown one";
  EXPECT_EQ(documents.Find(second)->opener, 0u);
  // When the last document closes, an empty document with the same settings must replace it.
  documents.active().config.batch = 9;
  const DocumentId empty = documents.Close(second);
  EXPECT_EQ(documents.size(), 1u);
  EXPECT_TRUE(documents.active().Blank());
  EXPECT_EQ(documents.active().id(), empty);
  EXPECT_EQ(documents.active().config.batch, 9);
}

TEST(DocumentListTest, MoveReordersTabsAndNeighbourWrapsAround) {
  DocumentList documents;
  const DocumentId a = documents.active().id(), b = documents.Open({}).id(),
                   c = documents.Open({}).id();
  documents.Move(0, 2);
  EXPECT_EQ(documents.at(0).id(), b);
  EXPECT_EQ(documents.at(2).id(), a);
  EXPECT_EQ(documents.active().id(), a);
  EXPECT_EQ(documents.Neighbour(1), b);
  EXPECT_EQ(documents.Neighbour(-1), c);
  documents.Move(2, 0);
  documents.Move(7, 0);
  EXPECT_EQ(documents.at(0).id(), a);
}

TEST(DocumentListTest, ReleasesOldestReloadableResults) {
  DocumentList documents;
  std::vector<DocumentId> files;
  for (int i = 0; i < 6; ++i) {
    Document& file = documents.Open({.kind = SourceKind::kFile, .file = "/" + std::to_string(i)});
    file.Arrived(ResultOf(Batch(1)), false, i);
    documents.Activate(file.id());
    files.push_back(file.id());
  }
  // A result that cannot be produced again must be kept, even if it was shown long ago.
  documents.Find(files[0])->history.SetFile(0, "");
  documents.Find(files[0])->source.kind = SourceKind::kGpuRun;
  EXPECT_EQ(documents.ToRelease(), std::vector<DocumentId>{files[1]});
  for (const DocumentId id : documents.ToRelease()) documents.Find(id)->Release();
  EXPECT_TRUE(documents.ToRelease().empty());
  documents.Activate(files[1]);
  EXPECT_TRUE(documents.active().NeedsReload());
}

TEST(DocumentListTest, LimitsNumberOfDocuments) {
  DocumentList documents;
  for (size_t i = 0; i < 2 * DocumentList::kMost; ++i) {
    Document& plan = documents.Open({});
    documents.Activate(plan.id());
    Plan(plan, Batch(1), "", 1);
  }
  EXPECT_EQ(documents.size(), DocumentList::kMost);
}

TEST(HistoryTest, DropsOldestEntriesAtItsLimit) {
  History history;
  for (size_t i = 0; i < History::kMost + 5; ++i)
    history.Append({.change = std::to_string(i), .peak_allocated = i});
  EXPECT_EQ(history.entries().size(), History::kMost);
  EXPECT_EQ(history.current(), History::kMost - 1);
  EXPECT_EQ(history.entries().front().change, "5");
  EXPECT_EQ(history.FindFigures({.peak_allocated = 7}), 2u);
  EXPECT_EQ(history.FindFigures({.peak_allocated = 1}), History::kNone);
}

TEST(HistoryTest, PrefersTheCurrentEntryOfEqualFigures) {
  History history;
  for (int i = 0; i < 2; ++i) history.Append({.peak_allocated = 7});
  history.GoTo(0);
  EXPECT_EQ(history.FindFigures({.peak_allocated = 7}), 0u);
}

program::Request Toggled(std::vector<std::string> toggles) {
  program::Request request{.script = "/x/train.py"};
  request.toggles = std::move(toggles);
  return request;
}

TEST(HistoryTest, FindsTheRunOfAProgramUnlessItWasRepeated) {
  History history;
  history.Append({.program = Toggled({})});
  history.Append({.program = Toggled({"bf16"})});
  EXPECT_EQ(history.Find(Toggled({})), 0u);
  EXPECT_EQ(history.Find(Toggled({"bf16"})), 1u);
  EXPECT_EQ(history.Find(Toggled({"lora"})), History::kNone);
  history.Append({.change = "train.py saved", .program = Toggled({"bf16"})});
  EXPECT_EQ(history.Find(Toggled({"bf16"})), 2u);
  EXPECT_EQ(history.Find(Toggled({})), History::kNone) << "it is of the file before it was saved";
}

TEST(DocumentTest, ProgramEntryKnowsItsRun) {
  DocumentList documents;
  Document& program = documents.Open({.kind = SourceKind::kProgram, .program = Toggled({"bf16"})});
  program.Expect("");
  program.Began();
  program.Arrived(ResultOf(Batch(1)), false, 1);
  EXPECT_EQ(program.history.now()->program, Toggled({"bf16"}));
}

// Toggles may be switched before the first plan. They must be undone in the document of that plan.
TEST(UndoStepsTest, StepsOfAProgramFollowIt) {
  DocumentList documents;
  Document& blank = documents.active();
  for (const char* script : {"/x/train.py", "/x/other.py"}) {
    UndoStep step{.kind = UndoStep::Kind::kToggles, .text = script};
    step.program_after.script = script;
    blank.undo.Push(step);
  }
  EXPECT_TRUE(blank.Blank()) << "only the form of a program has changed";
  Document& program = documents.Open({.kind = SourceKind::kProgram, .program = Toggled({})});
  program.undo.TakeProgram(blank.undo, "/x/train.py");
  ASSERT_NE(program.undo.next_undo(), nullptr);
  EXPECT_EQ(program.undo.next_undo()->text, "/x/train.py");
  ASSERT_NE(blank.undo.next_undo(), nullptr);
  EXPECT_EQ(blank.undo.next_undo()->text, "/x/other.py");
  blank.undo.Undo();
  EXPECT_EQ(blank.undo.next_undo(), nullptr);
  blank.undo.Push({.text = "LoRA on"});
  EXPECT_FALSE(blank.Blank());
}

}  // namespace
}  // namespace vramscope::ui
