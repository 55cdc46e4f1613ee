#include "ui/explain/what_if_page.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "profiler/run/alloc_conf.h"
#include "ui/explain/curve_plot.h"
#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/language/language.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kOffered = 4;  // the number of settings that are offered as buttons
constexpr int kTableHeight = 26 + 3 * 23 + 4;

// Completes only the setting that the user is typing: the text after the last comma.
class ConfCompleter : public QCompleter {
 public:
  explicit ConfCompleter(QLineEdit* edit) : QCompleter(edit), edit_(edit) {
    auto* model = new QStandardItemModel(this);
    for (const ConfKey& key : ConfKeys()) {
      auto* item = new QStandardItem(QString::fromUtf8(key.text));
      item->setToolTip(Translated(key.meaning));
      model->appendRow(item);
    }
    setModel(model);
    setCaseSensitivity(Qt::CaseInsensitive);
    setFilterMode(Qt::MatchContains);
  }
  QStringList splitPath(const QString& path) const override {
    return {path.mid(path.lastIndexOf(QLatin1Char(',')) + 1).trimmed()};
  }
  QString pathFromIndex(const QModelIndex& index) const override {
    const QString text = edit_->text();
    return text.left(text.lastIndexOf(QLatin1Char(',')) + 1) + index.data().toString();
  }

 private:
  QLineEdit* edit_;
};

// A row of buttons. Hides the buttons that do not fit.
class FittingRow : public QWidget {
 public:
  void add(QWidget* button) {
    button->setParent(this);
    buttons_ << button;
  }
  QSize sizeHint() const override {
    return {0, buttons_.isEmpty() ? 0 : buttons_.front()->sizeHint().height()};
  }

 protected:
  void resizeEvent(QResizeEvent*) override {
    int x = 0;
    for (QWidget* button : buttons_) {
      const QSize size = button->sizeHint();
      button->setGeometry(x, 0, size.width(), size.height());
      button->setVisible(x + size.width() <= width());
      x += size.width() + kSpacing;
    }
  }

 private:
  static constexpr int kSpacing = 8;
  QList<QWidget*> buttons_;
};

}  // namespace

struct WhatIfPage::Found {
  std::shared_ptr<const Digest> digest;
  absl::Status status;
  std::optional<replay::Baseline> base;
  std::optional<replay::Replayed> under;
  std::vector<CurvePoint> reserved;
};

WhatIfPage::WhatIfPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("whatIfPage"));
  auto* line = new QHBoxLayout;
  line->setSpacing(8);
  QLabel* label = MakeLabel(QStringLiteral("PYTORCH_CUDA_ALLOC_CONF ="), LabelRole::kDim);
  label->setFont(PanelFont(timeline::Font::kMonoSmall));
  line->addWidget(label);
  conf_ = new QLineEdit;
  conf_->setObjectName(QStringLiteral("allocConf"));
  conf_->setFont(PanelFont(timeline::Font::kMono));
  conf_->setPlaceholderText(tr("expandable_segments:True,max_split_size_mb:128"));
  conf_->setClearButtonEnabled(true);
  conf_->setMinimumWidth(160);
  conf_->setCompleter(new ConfCompleter(conf_));
  connect(conf_, &QLineEdit::textChanged, this, [this] { Check(); });
  connect(conf_, &QLineEdit::returnPressed, this, [this] { Replay(); });
  line->addWidget(conf_, 1);
  run_ = QuietButton(tr("Replay"), tr("Enter"));
  run_->setObjectName(QStringLiteral("replayConf"));
  connect(run_, &QToolButton::clicked, this, [this] { Replay(); });
  line->addWidget(run_);
  column_->addLayout(line);
  auto* offered = new FittingRow;
  offered->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  for (int i = 0; i < kOffered; ++i) {
    const ConfKey& key = ConfKeys()[static_cast<size_t>(i)];
    const QString text = QString::fromUtf8(key.text);
    QToolButton* button = QuietButton(text, Translated(key.meaning));
    connect(button, &QToolButton::clicked, this, [this, text] { AddSetting(text); });
    offered->add(button);
  }
  column_->addWidget(offered);
  problem_ = MakeLabel({}, LabelRole::kDim);
  problem_->setObjectName(QStringLiteral("confProblem"));
  problem_->setWordWrap(true);
  column_->addWidget(problem_);
  plot_ = new CurvePlot;
  column_->addWidget(plot_, 1);
  table_ = new TableModel(this);
  view_ = MakeTable(table_, "whatIfTable");
  view_->setSortingEnabled(false);
  view_->setFixedHeight(kTableHeight);
  column_->addWidget(view_);
  Check();
}

void WhatIfPage::setConf(const QString& alloc_conf) {
  conf_->setText(alloc_conf);
  wanted_ = true;
  if (isVisible()) Replay();
}

// Adds a setting to the text. If the text already has a setting with the same key, replaces it.
void WhatIfPage::AddSetting(const QString& setting) {
  const QString key = setting.left(setting.indexOf(QLatin1Char(':')) + 1);
  QStringList parts;
  for (const QString& part : conf_->text().split(QLatin1Char(','), Qt::SkipEmptyParts))
    if (!part.trimmed().startsWith(key)) parts << part.trimmed();
  parts << setting;
  setConf(parts.join(QLatin1Char(',')));
}

void WhatIfPage::Check() {
  const absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(conf_->text().toStdString());
  QString text;
  const char* tone = "dim";
  if (!conf.ok()) {
    text = ToQString(std::string(conf.status().message()));
    tone = "bad";
  } else if (!conf->ignored.empty()) {
    QStringList names;
    for (const std::string& name : conf->ignored) names << QString::fromStdString(name);
    text = tr("These settings do not affect memory: %1").arg(names.join(QStringLiteral(", ")));
  }
  problem_->setText(text);
  problem_->setVisible(!text.isEmpty());
  SetTone(problem_, tone);
  run_->setEnabled(conf.ok());
}

void WhatIfPage::Refresh(int changes) {
  if (changes & kTheme) {
    plot_->setTheme(context_.theme);
    table_->setTheme(context_.theme);
  }
  if (changes & kDocument) {
    base_.reset();
    plot_->setDigest(context_.digest);
    WhatIf only{.recorded_peak_reserved = context_.digest->summary.peak.reserved,
                .recorded_out_of_memory = context_.digest->out_of_memory};
    table_->setTable(WhatIfTable(only));
    const std::string& recorded = context_.trace()->info.alloc_conf;
    Head(
        tr("How much memory would have been reserved under other settings? The recording used %1. "
           "Type other settings and press Enter to replay the recorded allocations under them.")
            .arg(recorded.empty() ? tr("the default settings") : QString::fromStdString(recorded)));
    // Also replay the new document under the settings that the user has typed.
    if (!conf_->text().isEmpty()) wanted_ = true;
  }
  if (changes & (kView | kDocument)) plot_->setView(context_.view.first, context_.view.second);
  if (wanted_ && changes != kTheme) Replay();
}

void WhatIfPage::Replay() {
  wanted_ = false;
  if (context_.digest == nullptr) return;
  absl::StatusOr<run::AllocConf> conf = run::ParseAllocConf(conf_->text().toStdString());
  if (!conf.ok()) return;
  Head(tr("Replaying under %1 …")
           .arg(conf_->text().isEmpty() ? tr("the default settings") : conf_->text()));
  const bool have_base = base_ && base_of_.lock() == context_.digest;
  Ask([this, digest = context_.digest, conf = *std::move(conf),
       base = have_base ? base_ : std::nullopt](const JobToken& token) -> std::function<void()> {
    auto found = std::make_shared<Found>();
    found->digest = digest;
    const auto progress = token.progress();
    replay::ReplayOptions options;
    options.cancel = token.cancel();
    found->base = base;
    if (!base) {
      options.progress = [progress](double f) { progress(f / 2); };
      absl::StatusOr<replay::Baseline> recorded = replay::ReplayBaseline(*digest->trace, options);
      if (recorded.ok()) found->base = *std::move(recorded);
      found->status = recorded.status();
    }
    if (found->status.ok()) {
      options.alloc_conf = conf;
      options.progress = [progress, base](double f) { progress(base ? f : 0.5 + f / 2); };
      absl::StatusOr<replay::Replayed> under = replay::Replay(*digest->trace, options);
      found->status = under.status();
      if (under.ok()) {
        const auto& times = digest->trace->events.time_ns;
        uint64_t last = UINT64_MAX;
        for (const replay::Replayed::Point& p : under->curve) {
          if (p.reserved == last || p.event >= times.size()) continue;
          found->reserved.push_back({times[p.event], p.reserved});
          last = p.reserved;
        }
        under->curve.clear();
        found->under = *std::move(under);
      }
    }
    if (found->base) {
      found->base->own.curve.clear();
      if (found->base->anew) found->base->anew->curve.clear();
    }
    return [this, found] { Show(*found); };
  });
}

void WhatIfPage::Show(const Found& found) {
  if (!found.status.ok()) {
    Head(tr("The trace could not be replayed: %1")
             .arg(ToQString(std::string(found.status.message()))));
    return;
  }
  base_ = found.base;
  base_of_ = found.digest;
  plot_->setCurve(found.reserved);
  WhatIf what{.recorded_peak_reserved = found.digest->summary.peak.reserved,
              .recorded_out_of_memory = found.digest->out_of_memory,
              .base = base_ ? &*base_ : nullptr,
              .under = found.under ? &*found.under : nullptr};
  table_->setTable(WhatIfTable(what));
  const uint64_t before = what.against()->peak_reserved, after = found.under->peak_reserved;
  const QString settings = conf_->text().isEmpty() ? tr("the default settings") : conf_->text();
  QString text = after == before
                     ? tr("Under %1, the peak of reserved memory would stay at %2.")
                           .arg(settings, QString::fromStdString(timeline::FormatBytes(after)))
                     : tr("Under %1, the peak of reserved memory would be %2 instead of %3 (%4).")
                           .arg(settings, QString::fromStdString(timeline::FormatBytes(after)),
                                QString::fromStdString(timeline::FormatBytes(before)),
                                QString::fromStdString(timeline::FormatSignedBytes(
                                    static_cast<int64_t>(after) - static_cast<int64_t>(before))));
  if (found.under->out_of_memory == 1)
    text += tr(" The replay runs out of memory once.");
  else if (found.under->out_of_memory > 1)
    text += tr(" The replay runs out of memory %1 times.").arg(found.under->out_of_memory);
  else if (found.digest->out_of_memory > 0)
    text += tr(" The replay does not run out of memory.");
  if (found.under->device_memory_inferred)
    text +=
        tr(" The limit of reserved memory, %1, is inferred from the recording.")
            .arg(QString::fromStdString(timeline::FormatBytes(found.under->device_memory_bytes)));
  // Add a sentence about how well the replay reproduces this recording.
  const replay::Replayed& own = base_->own;
  if (own.addresses_total > 0)
    text += tr(" Under the recorded settings, vramscope's replay of the allocator places %1 of %2 "
               "blocks at their recorded addresses.")
                .arg(QString::fromStdString(timeline::FormatCount(own.addresses_equal)),
                     QString::fromStdString(timeline::FormatCount(own.addresses_total)));
  Head(text);
}

void WhatIfPage::Cancelled() { Head(tr("Cancelled. Press Enter to start again.")); }

void WhatIfPage::Clear() {
  base_.reset();
  plot_->setDigest(nullptr);
  table_->setTable({});
}

QJsonObject WhatIfPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["conf"] = conf_->text();
  out["problem"] = problem_->text();
  out["can_replay"] = run_->isEnabled();
  out["points"] = static_cast<int>(plot_->curve().size());
  out["table"] = view_->dumpState();
  return out;
}

}  // namespace vramscope::ui
