// Linked into every test of ui/ that is built with ThreadSanitizer. Qt 6.4 is built without
// ThreadSanitizer, whose runtime does not see the futexes of Qt's mutexes. So it would report a
// race for all data that one thread passes to another through Qt. The project passes data in two
// ways: with a call queued for another thread, and with a job for a thread of a pool. This file
// replaces Qt's functions for both with versions that tell the runtime about the order. If data are
// passed in other ways, races are still reported.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <QMetaObject>
#include <QObject>
#include <QRunnable>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <utility>

extern "C" {
// Makes the runtime ignore memory accesses in Qt's and GLib's code, but not their locks.
const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

// Qt allocates events and lists in one thread and frees them in another, protected by its mutexes.
// These allocations and frees are not reported as races while only Qt's code runs.
thread_local bool in_qt = false;
void EnterQt() {
  in_qt = true;
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
void LeaveQt() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  in_qt = false;
}

template <class Function>
Function QtsOwn(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// The object that QMetaObject::invokeMethod() puts into the queue of the other thread.
class HandedCall : public QtPrivate::QSlotObjectBase {
 public:
  explicit HandedCall(QtPrivate::QSlotObjectBase* call) : QSlotObjectBase(&Do), call_(call) {
    __tsan_release(this);
  }

 private:
  static void Do(int which, QSlotObjectBase* self, QObject* receiver, void** arguments, bool*) {
    auto* handed = static_cast<HandedCall*>(self);
    if (which == Call) {
      __tsan_acquire(handed);
      handed->call_->call(receiver, arguments);
      __tsan_release(handed);
    } else if (which == Destroy) {  // called in the last of the two threads
      const bool posting = in_qt;
      if (posting) LeaveQt();
      __tsan_acquire(handed);
      handed->call_->destroyIfLastRef();
      delete handed;
      if (posting) EnterQt();
    }
  }
  QtPrivate::QSlotObjectBase* const call_;
};

class HandedJob : public QRunnable {
 public:
  explicit HandedJob(QRunnable* job, const void* pool) : job_(job), pool_(pool) {
    __tsan_release(this);
  }
  void run() override {
    __tsan_acquire(this);
    const bool ours = job_->autoDelete();
    job_->run();
    if (ours) delete job_;
    __tsan_release(const_cast<void*>(pool_));  // the thread that waits for the pool acquires it
  }

 private:
  QRunnable* const job_;
  const void* const pool_;
};

}  // namespace

bool QMetaObject::invokeMethodImpl(QObject* object, QtPrivate::QSlotObjectBase* slot,
                                   Qt::ConnectionType type, void* result) {
  static const auto own = QtsOwn<bool (*)(QObject*, QtPrivate::QSlotObjectBase*, Qt::ConnectionType,
                                          void*)>(
      "_ZN11QMetaObject16invokeMethodImplEP7QObjectPN9QtPrivate15QSlotObjectBaseEN2Qt14Connectio"
      "nTypeEPv");
  auto* handed = new HandedCall(slot);
  if (type != Qt::QueuedConnection) return own(object, handed, type, result);
  EnterQt();
  const bool good = own(object, handed, type, result);
  LeaveQt();
  return good;
}

void QThreadPool::start(QRunnable* job, int priority) {
  static const auto own =
      QtsOwn<void (*)(QThreadPool*, QRunnable*, int)>("_ZN11QThreadPool5startEP9QRunnablei");
  auto* handed = new HandedJob(job, this);
  EnterQt();
  own(this, handed, priority);
  LeaveQt();
}

void QThreadPool::start(std::function<void()> job, int priority) {
  start(QRunnable::create(std::move(job)), priority);
}

bool QThreadPool::waitForDone(int msecs) {
  static const auto own = QtsOwn<bool (*)(QThreadPool*, int)>("_ZN11QThreadPool11waitForDoneEi");
  const bool done = own(this, msecs);
  if (done) __tsan_acquire(this);
  return done;
}
