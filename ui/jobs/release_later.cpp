#include "ui/jobs/release_later.h"

#include <QCoreApplication>
#include <QThreadPool>
#include <QTimer>
#include <utility>

#include "ui/jobs/pool.h"

namespace vramscope::ui {
namespace {

constexpr int kDelayMs = 50;

class Release : public QRunnable {
 public:
  explicit Release(std::shared_ptr<const void> what) : what_(std::move(what)) {}
  void run() override { what_.reset(); }

 private:
  std::shared_ptr<const void> what_;
};

}  // namespace

void ReleaseLater(std::shared_ptr<const void> what) {
  if (!what || QCoreApplication::instance() == nullptr) return;
  QTimer::singleShot(kDelayMs, QCoreApplication::instance(), [what = std::move(what)]() mutable {
    JobPool().start(new Release(std::move(what)));
  });
}

}  // namespace vramscope::ui
