#include "ui/timeline/thing_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <memory>
#include <utility>

#include "ui/timeline/lane_menu.h"
#include "ui/timeline/model/origin.h"
#include "ui/timeline/model/thing_facts.h"

namespace vramscope::ui::timeline {
namespace {

constexpr qsizetype kLongestTitle = 64;

// Doubles each "&", because a single "&" marks the shortcut key in a menu's text.
QString MenuText(const std::string& text) {
  QString shown = QString::fromStdString(text).simplified();
  if (shown.size() > kLongestTitle) shown = shown.left(kLongestTitle - 1) + QStringLiteral("…");
  return shown.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

void Copy(const std::string& text) {
  QGuiApplication::clipboard()->setText(QString::fromStdString(text));
}

}  // namespace

ThingMenu::ThingMenu(TimelineModel* model, const query::Thing& thing, const Lane* lane, Asked asked,
                     QWidget* parent)
    : QMenu(parent),
      model_(model),
      thing_(thing),
      data_(model->state().data),
      facts_(FactsOfThing(*data_, thing)),
      asked_(std::move(asked)) {
  setObjectName(QStringLiteral("thing_menu"));
  AddMenuTitle(this, MenuText(facts_.title));
  const bool timeline = model_->state().shows_lanes();  // false for a snapshot without a history
  addAction(tr("Zoom to it"), this, [this] {
    model_->ZoomToThing(thing_, asked_.now());
    asked_.changed();
  })->setEnabled(timeline);
  addAction(tr("Select its time range"), this, [this] {
    model_->SelectThing(thing_);
    if (const auto span = model_->SpanOfThing()) model_->SetRange(span);
    asked_.changed();
  })->setEnabled(timeline);
  AddCopies();
  addAction(tr("Add note …"), this, [this] { asked_.note(); })->setEnabled(timeline);
  addSeparator();
  AddLikes();
  QMenu* go = addMenu(tr("Go to"));
  for (const LinkedFact& fact : facts_.links)
    go->addAction(
        fact.label.empty() ? MenuText(fact.value) : MenuText(fact.label + ": " + fact.value), this,
        [this, link = fact.link] {
          model_->FollowLink(link, asked_.now());
          asked_.changed();
        });
  go->setEnabled(!facts_.links.empty());
  addSeparator();
  auto* of_lane = new LaneMenu(model_, lane, asked_.changed, this);
  of_lane->setTitle(tr("Track"));
  addMenu(of_lane);
}

void ThingMenu::AddCopies() {
  QMenu* copy = addMenu(tr("Copy"));
  copy->setObjectName(QStringLiteral("copy_menu"));
  const auto add = [&](const QString& text, const std::string& what) {
    copy->addAction(text, this, [what] { Copy(what); })->setEnabled(!what.empty());
  };
  add(tr("Name"), facts_.name);
  add(tr("Size in bytes"), facts_.size);
  add(tr("Address"), facts_.address);
  add(tr("Call stack"), facts_.stack);
  copy->addSeparator();
  copy->addAction(tr("As JSON"), this, [this] { Copy(JsonOfThing(*data_, thing_)); });
}

void ThingMenu::AddLikes() {
  const trace::Trace& t = data_->trace();
  if (thing_.block()) {
    const trace::StackId stack = StackOf(t, {thing_.row});
    addAction(tr("Highlight blocks with the same call stack"), this, [this, stack] {
      const trace::Trace& trace = data_->trace();
      std::vector<trace::AllocationId> blocks;
      for (uint32_t i = 0; i < trace.allocations.size(); ++i)
        if (StackOf(trace, {i}) == stack) blocks.push_back({i});
      model_->Highlight(blocks);
      asked_.changed();
    })->setEnabled(stack.value != 0);
  }
  for (const ThingFacts::Like& like : facts_.likes)
    addAction(QString::fromStdString(like.label), this,
              [this, filter = like.filter] { asked_.search(filter); });
}

}  // namespace vramscope::ui::timeline
