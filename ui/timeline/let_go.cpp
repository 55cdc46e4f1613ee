#include "ui/timeline/let_go.h"

#include <QCoreApplication>
#include <QThreadPool>
#include <QTimer>
#include <utility>

namespace vramscope::ui::timeline {
namespace {

constexpr int kMomentMs = 50;

}  // namespace

void LetGo(std::shared_ptr<const void> what) {
  if (!what || QCoreApplication::instance() == nullptr) return;
  QTimer::singleShot(kMomentMs, QCoreApplication::instance(), [what = std::move(what)]() mutable {
    QThreadPool::globalInstance()->start([last = std::move(what)]() mutable { last.reset(); });
  });
}

}  // namespace vramscope::ui::timeline
