// Tests the list of published experiments. Evaluates them with made-up runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "profiler/exporters/memory_svg.h"
#include "profiler/reproduce/demos.h"
#include "profiler/reproduce/report.h"
#include "profiler/reproduce/session.h"

namespace vramscope::reproduce {
namespace {

using ::testing::HasSubstr;

constexpr double kGiB = 1073741824.0;

Document Parsed(std::string_view json) {
  const absl::StatusOr<Document> document = ParseDocument(json);
  EXPECT_TRUE(document.ok()) << document.status();
  return document.ok() ? *document : Document();
}

std::string ParseError(std::string_view figures) {
  const absl::StatusOr<Document> document =
      ParseDocument(fmt::format(R"({{"letter": "T", "experiments": [{{"id": "T1", "title": "t",
          "kind": "k", "run": {{"model": "gpt2"}}, "figures": [{}]}}]}})",
                                figures));
  EXPECT_FALSE(document.ok());
  return std::string(document.status().message());
}

// Returns a trace of one step, with weights and a forward pass that keeps `kept` bytes. Everything
// is freed at the end.
std::shared_ptr<const trace::Trace> TraceOf(uint64_t weights, uint64_t kept) {
  trace::TraceBuilder builder;
  std::vector<trace::Event> events;
  int64_t time = 0;
  const auto add = [&](trace::Event event) {
    event.time_ns = ++time;
    events.push_back(event);
  };
  using trace::EventKind;
  const auto alloc = [&](uint64_t id, uint64_t bytes, trace::Category category) {
    trace::Event event;
    event.kind = EventKind::kAlloc;
    event.id = id;
    event.bytes = event.bytes_rounded = bytes;
    event.address = 0x1000000 + (id << 40);
    event.category = category;
    add(event);
  };
  const auto mark = [&](EventKind kind, uint8_t detail = 0) {
    trace::Event event;
    event.kind = kind;
    event.detail = detail;
    add(event);
  };
  alloc(0, weights, trace::Category::kParameter);
  mark(EventKind::kStepBegin);
  mark(EventKind::kPhaseBegin, static_cast<uint8_t>(trace::Phase::kForward));
  alloc(1, kept, trace::Category::kActivation);
  mark(EventKind::kPhaseEnd);
  trace::Event freed;
  freed.kind = EventKind::kFreeRequested;
  freed.id = 1;
  add(freed);
  freed.kind = EventKind::kFreeCompleted;
  add(freed);
  mark(EventKind::kStepEnd);
  EXPECT_TRUE(builder.AddEvents(events).ok());
  return builder.Finish(true, "");
}

TEST(Experiments, ListIsComplete) {
  const auto documents = Documents();
  ASSERT_TRUE(documents.ok()) << documents.status();
  std::set<std::string> ids;
  for (const Document& document : **documents) {
    EXPECT_FALSE(document.about.empty());
    for (const Experiment& experiment : document.experiments) {
      EXPECT_TRUE(ids.insert(experiment.id).second) << experiment.id;
      EXPECT_EQ(experiment.id.substr(0, 1), document.letter);
      EXPECT_NE(experiment.headline(), nullptr) << experiment.id;
      for (const ExperimentRun& run : experiment.runs) {
        for (const std::string& name : OpenNames(run)) {
          EXPECT_TRUE(std::ranges::any_of(document.open,
                                          [&](const Open& open) { return open.name == name; }))
              << experiment.id << " " << name;
        }
      }
      for (const Figure& figure : experiment.figures) {
        if (figure.target().has_value() && !figure.informative) {
          EXPECT_FALSE(figure.why.empty()) << experiment.id << " " << figure.name;
        }
      }
    }
    for (const Open& open : document.open) EXPECT_TRUE(ids.contains(open.experiment));
  }
  EXPECT_EQ(ids.size(), 64u);
}

// The expressions in the list may only use quantities that a plan has.
TEST(Experiments, ExpressionsUseKnownQuantities) {
  const auto documents = Documents();
  ASSERT_TRUE(documents.ok());
  for (const Document& document : **documents) {
    for (const Experiment& experiment : document.experiments) {
      if (!experiment.lacks.empty() || !experiment.demonstration.empty()) continue;
      std::vector<estimate::Term> terms;
      for (const ExperimentRun& run : experiment.runs) {
        for (const QuantityInfo& quantity : KnownQuantities()) {
          terms.push_back(
              {(run.name == "run" ? "" : run.name + "_") + std::string(quantity.name), "", 1});
        }
      }
      for (const Figure& figure : experiment.figures) {
        if (figure.formula.has_value()) continue;
        const auto value = estimate::EvaluateExpression(figure.predict, terms);
        EXPECT_TRUE(value.ok()) << experiment.id << ": " << value.status();
      }
    }
  }
}

TEST(Experiments, RejectsMistakesInTheList) {
  EXPECT_THAT(ParseError(R"({"name": "a", "unit": "GiB", "pubished": 1})"), HasSubstr("pubished"));
  EXPECT_THAT(ParseError(R"({"name": "a", "unit": "GiB", "published": 1})"),
              HasSubstr("tolerance"));
  EXPECT_THAT(ParseError(R"({"name": "a", "unit": "gib"})"), HasSubstr("gib"));
  EXPECT_THAT(ParseError(R"({"name": "a", "unit": "B", "published": 1, "tolerance": "1 lb"})"),
              HasSubstr("lb"));
  EXPECT_THAT(ParseError(R"({"name": "a", "unit": "B", "formula": "weights", "terms": {"P": 1}})"),
              HasSubstr("e_w"));
  EXPECT_THAT(ParseError(R"({"name": "a", "unit": "B", "informative": 3})"),
              HasSubstr("true or false"));
  for (const char* range : {"-1", "1e300", "9, \"high\": 8"})
    EXPECT_FALSE(
        ParseDocument(
            fmt::format(R"({{"open": [{{"name": "L", "low": {}}}], "experiments": []}})", range))
            .ok())
        << range;
  EXPECT_FALSE(ParseDocument("[").ok());
  EXPECT_FALSE(ParseDocument("[]").ok());
}

TEST(Quantities, AreComputedFromATrace) {
  const Quantities q = QuantitiesOf(*TraceOf(1000, 500));
  EXPECT_EQ(q.Of("peak_allocated"), 1500);
  EXPECT_EQ(q.Of("kept"), 500);
  EXPECT_EQ(q.Of("resident"), 1000);
  EXPECT_EQ(q.Of("first_after_forward"), 1500);
  EXPECT_EQ(q.Of("activations"), 500);
  EXPECT_EQ(q.Of("peak_in_forward"), 1);
  EXPECT_EQ(q.Of("optimizer_peak"), std::nullopt);
  // "sampled_peak" is what a monitor sees that reads once per second: the state before the step.
  EXPECT_EQ(q.Of("sampled_peak"), 1000);
  std::set<std::string_view> known;
  for (const QuantityInfo& info : KnownQuantities()) known.insert(info.name);
  for (const Quantity& quantity : q.all)
    EXPECT_TRUE(known.contains(quantity.name)) << quantity.name;
}

Experiment ExperimentWith(std::string_view figures) {
  return Parsed(fmt::format(R"({{"letter": "T", "experiments": [{{"id": "T1", "title": "t",
      "kind": "k", "run": {{"model": "gpt2"}}, "runs": {{"half": {{"precision": "bf16"}}}},
      "figures": [{}]}}]}})",
                            figures))
      .experiments[0];
}

Result Judged(const Experiment& experiment, double peak, double half) {
  return Judge(experiment, {{"run", absl::OkStatus(), {{{"peak_allocated", peak}}}},
                            {"half", absl::OkStatus(), {{{"peak_allocated", half}}}}});
}

TEST(Judge, ComparesFiguresWithTheirTolerance) {
  const Experiment e = ExperimentWith(
      R"({"name": "peak_allocated", "published": 2, "unit": "GiB", "tolerance": "10 %"},
         {"name": "order", "predict": "peak_allocated - half_peak_allocated", "unit": "B",
          "least": 0})");
  Result result = Judged(e, 2.1 * kGiB, kGiB);
  EXPECT_EQ(result.state, State::kDone);
  EXPECT_EQ(result.within, true);
  EXPECT_NEAR(*result.figures[0].error, 0.05, 1e-9);
  EXPECT_EQ(ErrorText(result.figures[0]), "+5.00 %");
  EXPECT_EQ(Judged(e, 2.3 * kGiB, kGiB).within, false);
  result = Judged(e, 2 * kGiB, 3 * kGiB);
  EXPECT_EQ(result.figures[0].within, true);
  EXPECT_EQ(result.figures[1].within, false) << "the order does not hold";
  EXPECT_EQ(result.within, false);
  EXPECT_EQ(VerdictText(result), "out of tolerance");
}

TEST(Judge, AbsoluteToleranceIncludesItsLimit) {
  const Experiment e = ExperimentWith(
      R"({"name": "peak_allocated", "published": 100, "unit": "B", "tolerance": "5 B"})");
  EXPECT_EQ(Judged(e, 105, 0).within, true);
  EXPECT_EQ(Judged(e, 106, 0).within, false);
  EXPECT_EQ(Judged(e, 94, 0).within, false);
}

TEST(Judge, MissingRunIsNotWithinTolerance) {
  const Experiment e = ExperimentWith(
      R"({"name": "peak_allocated", "published": 2, "unit": "GiB", "tolerance": "10 %"},
         {"name": "half", "predict": "half_peak_allocated", "unit": "GiB", "published": 1,
          "tolerance": "10 %"})");
  const absl::Status lacks = absl::UnimplementedError("no such technique");
  Result result =
      Judge(e, {{"run", absl::OkStatus(), {{{"peak_allocated", 2 * kGiB}}}}, {"half", lacks, {}}});
  EXPECT_EQ(result.state, State::kPartly);
  EXPECT_EQ(result.within, false);
  EXPECT_THAT(result.lacks, HasSubstr("half: no such technique"));
  EXPECT_EQ(VerdictText(result), "partly run");
  result = Judge(e, {{"run", lacks, {}}, {"half", lacks, {}}});
  EXPECT_EQ(result.state, State::kNotRun);
  EXPECT_EQ(result.within, std::nullopt);
  EXPECT_EQ(result.figures[0].predicted, std::nullopt);
  const Score score = ScoreOf({result});
  EXPECT_EQ(score.published, 1);
  EXPECT_EQ(score.published_within, 0);
  EXPECT_EQ(score.not_run, 1);
}

// A demonstration runs a scenario on the allocator model to compute an experiment's figures.
TEST(Demonstrations, AnswerTheirExperiments) {
  const auto documents = Documents();
  ASSERT_TRUE(documents.ok());
  int shown = 0;
  for (const Document& document : **documents) {
    for (const Experiment& experiment : document.experiments) {
      if (experiment.demonstration.empty()) continue;
      ++shown;
      const std::vector<Result> results = Session({&experiment}).Results();
      EXPECT_EQ(results[0].state, State::kDone) << experiment.id << ": " << results[0].lacks;
      for (const FigureResult& figure : results[0].figures)
        EXPECT_NE(figure.within, false) << experiment.id << " " << figure.figure->name;
    }
  }
  EXPECT_EQ(shown, 2);
  EXPECT_EQ(Demonstrate("nothing").status().code(), absl::StatusCode::kNotFound);
}

// The session must plan each configuration only once, and solve open values with more plans.
TEST(Session, SolvesOpenValuesAndPlansEachConfigOnce) {
  const auto documents = Documents();
  ASSERT_TRUE(documents.ok());
  std::vector<const Experiment*> chosen;
  for (const Experiment& experiment : documents.value()->front().experiments) {
    if (experiment.id == "A2-half" || experiment.id == "A3-mixed-noop")
      chosen.push_back(&experiment);
  }
  ASSERT_EQ(chosen.size(), 2u);
  Session session(chosen, {.pictures = true});
  std::set<std::string> planned;
  int runs = 0;
  while (const std::optional<Job> job = session.Next()) {
    EXPECT_TRUE(planned.insert(run::ToJson(job->config)).second) << "planned twice";
    ++runs;
    // Here, memory is proportional to tokens, so 19.26 GiB mean 1926 tokens.
    const uint64_t bytes =
        static_cast<uint64_t>(job->config.seq) * static_cast<uint64_t>(kGiB) / 100;
    session.Finished(job->id, absl::OkStatus(), TraceOf(bytes / 2, bytes - bytes / 2).get());
  }
  EXPECT_TRUE(session.done());
  ASSERT_EQ(session.solved().size(), 1u);
  EXPECT_EQ(session.solved()[0].value, 1926);
  EXPECT_LE(runs, 18) << "bisection of 3841 lengths, two runs";
  const std::vector<Result> results = session.Results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_NEAR(*results[0].figures[0].predicted / kGiB, 19.26, 1e-6);
  EXPECT_EQ(results[0].figures[0].predicted, results[1].figures[0].predicted);
  EXPECT_THAT(session.ChartOf(*chosen[0]), HasSubstr("<svg"));
  EXPECT_EQ(session.Config(*chosen[0])->seq, 1926);
  const std::string html = HtmlReport(session, results);
  EXPECT_THAT(html, HasSubstr("A2-half"));
  EXPECT_THAT(html, HasSubstr("1926"));
  EXPECT_THAT(html, HasSubstr("</html>"));
}

// The user selects another GPU than the published one. Open values must be solved on the published
// GPU. Runs must be planned on the selected GPU, and not be compared with the published figures.
TEST(Session, OtherGpuIsPlannedButNotJudged) {
  const auto documents = Documents();
  ASSERT_TRUE(documents.ok());
  std::vector<const Experiment*> chosen;
  for (const Experiment& experiment : documents.value()->front().experiments) {
    if (experiment.id == "A3-mixed-noop") chosen.push_back(&experiment);
  }
  Session session(chosen, {.device = "rtx-4090"});
  std::map<std::string, int> runs;
  while (const std::optional<Job> job = session.Next()) {
    ++runs[job->config.device];
    const uint64_t bytes =
        static_cast<uint64_t>(job->config.seq) * static_cast<uint64_t>(kGiB) / 100;
    session.Finished(job->id, absl::OkStatus(), TraceOf(bytes / 2, bytes - bytes / 2).get());
  }
  EXPECT_EQ(session.solved()[0].value, 1926);
  EXPECT_EQ(runs["rtx-4090"], 1);
  EXPECT_GT(runs["a100-80gb"], 1);
  EXPECT_EQ(runs.size(), 2u);
  const std::vector<Result> results = session.Results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_FALSE(results[0].within.has_value());
  ASSERT_TRUE(results[0].figures[0].predicted.has_value());
  EXPECT_FALSE(results[0].figures[0].within.has_value());
  EXPECT_EQ(session.Config(*chosen[0])->device, "rtx-4090");
  const Settings settings = session.SettingsOfRun(chosen[0]->runs[0]);
  EXPECT_THAT(settings, ::testing::Contains(::testing::Pair("device", "rtx-4090")));
  EXPECT_EQ(std::ranges::count(settings, "device", &Settings::value_type::first), 1);
}

TEST(Session, ReportsFailedRuns) {
  const auto documents = Documents();
  ASSERT_TRUE(documents.ok());
  const std::vector<const Experiment*> chosen = {&documents.value()->front().experiments[0]};
  Session session(chosen);
  while (const std::optional<Job> job = session.Next())
    session.Finished(job->id, absl::InternalError("the worker died"), nullptr);
  const std::vector<Result> results = session.Results();
  EXPECT_EQ(results[0].state, State::kNotRun);
  EXPECT_THAT(results[0].lacks, HasSubstr("the worker died"));
  EXPECT_FALSE(session.solved()[0].value.has_value());
}

TEST(MemorySvg, DrawsOnlyPresentCategories) {
  const std::string svg = exporters::MemorySvg(*TraceOf(1 << 20, 1 << 19));
  EXPECT_THAT(svg, HasSubstr("Parameter"));
  EXPECT_THAT(svg, HasSubstr("Activation"));
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("Gradient")));
  EXPECT_THAT(svg, HasSubstr("1.50 MiB"));
  EXPECT_LT(svg.size(), 100'000u);
  EXPECT_THAT(exporters::MemorySvg(trace::Trace()), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace vramscope::reproduce
