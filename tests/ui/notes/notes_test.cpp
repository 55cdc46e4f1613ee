// Converts notes to JSON and back. Checks which files of notes are refused.
#include "ui/notes/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QFile>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/notes/note_store.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class NotesTest : public ::testing::Test {
 protected:
  NotesTest() : trace_(vramscope::testing::MakeSyntheticTrace({.layers = 2, .steps = 1})) {
    InsertNote(&notes_, {.time_ns = trace_->end_ns(), .text = "the end", .written_unix_s = 7});
    InsertNote(&notes_, {.time_ns = trace_->allocations.begin_ns[3],
                         .thing = query::Thing{query::ThingKind::kBlock, 3},
                         .what = "block: x",
                         .text = "\"größer\" \\ \n",
                         .written_unix_s = 8});
    InsertNote(&notes_, {.time_ns = trace_->begin_ns(),
                         .end_ns = trace_->begin_ns() + 5,
                         .text = "a range",
                         .written_unix_s = 9});
  }
  absl::StatusOr<NoteList> Read(const std::string& json) {
    return NotesFromJson(json, "abc", trace_.get());
  }
  // Returns a valid file of notes to which `change` was applied.
  std::string Changed(const std::function<void(Json&)>& change) {
    Json root = Json::parse(NotesToJson("abc", notes_));
    change(root);
    return root.dump();
  }
  std::shared_ptr<const trace::Trace> trace_;
  NoteList notes_;
};

TEST_F(NotesTest, SurviveJsonRoundTrip) {
  ASSERT_EQ(notes_.size(), 3u);
  EXPECT_EQ(notes_[1].text, "\"größer\" \\ \n") << "notes are sorted by time";
  const auto again = Read(NotesToJson("abc", notes_));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, notes_);
}

TEST_F(NotesTest, MalformedFileIsRejectedAsAWhole) {
  const std::pair<const char*, std::function<void(Json&)>> changes[] = {
      {"version", [](Json& j) { j["vramscope_notes"] = 2; }},
      {"content", [](Json& j) { j["content"] = "other"; }},
      {"no list", [](Json& j) { j.erase("notes"); }},
      {"list", [](Json& j) { j["notes"] = Json::object(); }},
      {"note", [](Json& j) { j["notes"][0] = 3; }},
      {"time missing", [](Json& j) { j["notes"][0].erase("time_ns"); }},
      {"time is a text", [](Json& j) { j["notes"][0]["time_ns"] = "1"; }},
      {"time is huge", [](Json& j) { j["notes"][0]["time_ns"] = UINT64_MAX; }},
      {"time is outside", [&](Json& j) { j["notes"][0]["time_ns"] = trace_->end_ns() + 1; }},
      {"end is no number", [](Json& j) { j["notes"][0]["end_ns"] = "5"; }},
      {"end before begin", [&](Json& j) { j["notes"][0]["end_ns"] = trace_->begin_ns(); }},
      {"end is outside", [&](Json& j) { j["notes"][0]["end_ns"] = trace_->end_ns() + 1; }},
      {"end is huge", [](Json& j) { j["notes"][0]["end_ns"] = UINT64_MAX; }},
      {"kind", [](Json& j) { j["notes"][1]["kind"] = "spoon"; }},
      {"kind alone", [](Json& j) { j["notes"][1].erase("row"); }},
      {"row", [&](Json& j) { j["notes"][1]["row"] = trace_->allocations.size(); }},
      {"row is negative", [](Json& j) { j["notes"][1]["row"] = -1; }},
      {"row is huge", [](Json& j) { j["notes"][1]["row"] = uint64_t{1} << 32; }},
      {"row of another kind", [](Json& j) { j["notes"][1]["kind"] = "kernel"; }},
      {"text", [](Json& j) { j["notes"][1]["text"] = std::string(kMostNoteText + 1, 'x'); }},
      {"too many",
       [](Json& j) {
         while (j["notes"].size() <= kMostNotes) j["notes"].push_back(j["notes"][0]);
       }},
  };
  EXPECT_TRUE(Read(Changed([](Json&) {})).ok());
  for (const auto& [what, change] : changes)
    EXPECT_EQ(Read(Changed(change)).status().code(), absl::StatusCode::kInvalidArgument) << what;
  EXPECT_FALSE(Read("").ok());
  EXPECT_FALSE(Read("[[[[").ok());
  EXPECT_FALSE(Read(std::string(1 << 20, '[')).ok());
  EXPECT_THAT(Read(std::string(kMostNotesBytes + 1, ' ')).status().message(),
              HasSubstr("too large"));
}

TEST_F(NotesTest, LargestPossibleFileCanBeReadBack) {
  NoteList notes(kMostNotes, {.time_ns = trace_->begin_ns(),
                              .what = std::string(kMostNoteText, '\1'),
                              .text = std::string(kMostNoteText, '\1')});
  const std::string json = NotesToJson("abc", notes);
  EXPECT_LE(json.size(), kMostNotesBytes);
  const auto again = Read(json);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, notes);
}

TEST_F(NotesTest, TextIsTruncatedBetweenCharacters) {
  std::string text(kMostNoteText - 1, 'x');
  EXPECT_EQ(NoteText(text + "é"), text);
  EXPECT_EQ(NoteText(text + "e"), text + "e");
}

TEST_F(NotesTest, FirstTextsAreThreeSingleLines) {
  NoteList notes;
  EXPECT_EQ(FirstTexts(notes), "");
  for (const char* text : {"", "first\nmore", "second", "", "third", "fourth"})
    notes.push_back({.time_ns = static_cast<int64_t>(notes.size()), .text = text});
  EXPECT_EQ(FirstTexts(notes), "first\nsecond\nthird");
  notes = {{.text = std::string(119, 'x') + "é"}};
  EXPECT_EQ(FirstTexts(notes), std::string(119, 'x'));
}

TEST_F(NotesTest, ContentHashDependsOnTheEvents) {
  using vramscope::testing::MakeSyntheticTrace;
  const auto same = MakeSyntheticTrace({.layers = 2, .steps = 1});
  const auto other = MakeSyntheticTrace({.layers = 2, .steps = 2});
  EXPECT_EQ(ContentHash(*trace_).size(), 64u);
  EXPECT_EQ(ContentHash(*trace_), ContentHash(*same));
  EXPECT_NE(ContentHash(*trace_), ContentHash(*other));
}

// Two windows show the same run. Each has its own NoteStore.
class SharedNotesTest : public NotesTest {
 protected:
  void SetUp() override {
    for (NoteStore* store : {&first_, &second_}) store->show(trace_);
    Wait();
    ASSERT_TRUE(first_.ready());
  }
  void Wait() {
    while (first_.busy() || second_.busy())
      QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  Note At(int64_t time, const char* text) {
    return {.time_ns = trace_->begin_ns() + time, .text = text, .written_unix_s = 1};
  }
  void Add(NoteStore& store, int64_t time, const char* text) {
    NoteList notes = store.notes();
    InsertNote(&notes, At(time, text));
    store.set(store.content(), notes);
  }
  static void Remove(NoteStore& store, size_t at) {
    NoteList notes = store.notes();
    notes.erase(notes.begin() + static_cast<ptrdiff_t>(at));
    store.set(store.content(), notes);
  }
  static std::string TextsOf(const NoteList& notes) {
    std::string texts;
    for (const Note& note : notes) texts += note.text + " ";
    return texts;
  }
  // Returns the notes of a window that is opened now.
  std::string Stored() {
    NoteStore third(folder_.path());
    third.show(trace_);
    while (third.busy()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    return TextsOf(third.notes());
  }
  int argc_ = 0;
  QCoreApplication app_{argc_, nullptr};
  QTemporaryDir folder_;
  NoteStore first_{folder_.path()}, second_{folder_.path()};
};

TEST_F(SharedNotesTest, KeepsNotesOfBothWindows) {
  Add(first_, 1, "a");
  Wait();
  Add(second_, 2, "b");
  EXPECT_EQ(TextsOf(second_.notes()), "b ");
  Wait();
  EXPECT_EQ(TextsOf(second_.notes()), "a b ") << "the window shows the notes of the other one";
  EXPECT_EQ(Stored(), "a b ");
  Add(first_, 3, "c");
  Add(first_, 4, "d");  // before the first write has ended
  Wait();
  EXPECT_EQ(TextsOf(first_.notes()), "a b c d ");
  EXPECT_EQ(Stored(), "a b c d ");
}

TEST_F(SharedNotesTest, RemovedNotesDoNotComeBack) {
  Add(first_, 1, "a");
  Add(first_, 2, "b");
  Add(first_, 3, "c");
  Wait();
  second_.show(trace_);
  Wait();
  EXPECT_EQ(TextsOf(second_.notes()), "a b c ");
  Remove(first_, 0);
  Wait();
  // The second window still shows "a", and does not change it.
  Remove(second_, 1);
  Wait();
  EXPECT_EQ(TextsOf(second_.notes()), "c ");
  EXPECT_EQ(Stored(), "c ");
  // A note that was added and removed before the write has ended must not come back, either.
  Add(first_, 4, "d");
  Remove(first_, first_.notes().size() - 1);
  Wait();
  EXPECT_EQ(Stored(), "c ");
}

TEST_F(SharedNotesTest, UndoKeepsNotesOfTheOtherWindow) {
  const NoteList before = first_.notes();
  Add(first_, 1, "a");
  const NoteList after = first_.notes();
  Wait();
  Add(second_, 2, "b");
  Wait();
  first_.show(trace_);
  Wait();
  EXPECT_EQ(TextsOf(first_.notes()), "a b ");
  first_.change(first_.content(), after, before);
  Wait();
  EXPECT_EQ(Stored(), "b ");
  first_.change(first_.content(), before, after);
  Wait();
  EXPECT_EQ(Stored(), "a b ");
}

TEST_F(SharedNotesTest, DamagedFileIsNotOverwritten) {
  Add(first_, 1, "a");
  Wait();
  QFile file(first_.pathOf(first_.content()));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("damaged");
  file.close();
  QString error;
  QObject::connect(&first_, &NoteStore::writeFailed, [&](const QString& why) { error = why; });
  Add(first_, 2, "b");
  Wait();
  EXPECT_THAT(error.toStdString(), HasSubstr("not a vramscope notes file"));
  EXPECT_EQ(TextsOf(first_.notes()), "a b ");
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll(), "damaged");
}

}  // namespace
}  // namespace vramscope::ui
