// What takes longer than a frame, beside the UI thread: one job at a time, the newest wins,
// progress and cancel. What a job returns is called on the UI thread, unless a newer one was begun.
//
//   background_.run([trace](BackgroundToken& token) -> std::function<void()> {
//     auto found = std::make_shared<Reclaim>(Compute(*trace, token.progress(), token.cancel()));
//     return [this, found] { Show(*found); };
//   });
//
// UI thread only, except the job itself.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <functional>
#include <memory>

namespace vramscope::ui {

class BackgroundToken {
 public:
  const std::atomic<bool>* cancel() const { return &cancel_; }
  bool cancelled() const { return cancel_; }
  std::function<void(double)> progress() {
    return [this](double fraction) { fraction_ = fraction; };
  }

 private:
  friend class Background;
  std::atomic<bool> cancel_ = false;
  std::atomic<double> fraction_ = -1;  // -1: not known
};

class Background : public QObject {
  Q_OBJECT
 public:
  using Job = std::function<std::function<void()>(BackgroundToken&)>;
  explicit Background(QObject* parent = nullptr);
  ~Background() override;
  void run(Job job);
  void cancel();  // nothing comes of it any more
  bool busy() const { return running_ != nullptr; }
  double fraction() const;  // -1: not known

 Q_SIGNALS:
  void changed();                   // busy or fraction
  void failed(const QString& why);  // the job threw: memory ran out

 private:
  struct Running;
  std::shared_ptr<Running> running_;
  QTimer poll_;
};

}  // namespace vramscope::ui
