// Scopes that mark what the loop is doing. They do nothing if nothing is recorded.
//
//   StepScope step(i);
//   {
//     PhaseScope phase(trace::Phase::kForward);
//     ModuleScope module("layers.3");   // allocations, ops: "model.layers.3"
//   }
//
// Scopes must be nested, must begin and end on the same thread, and must not outlive the Recorder.
#pragma once

#include <string_view>

#include "trainer/capture/recorder.h"

namespace vramscope::trainer {

class StepScope {
 public:
  explicit StepScope(int step) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->BeginStep(step);
  }
  ~StepScope() {
    if (recorder_) recorder_->EndStep();
  }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

 private:
  Recorder* recorder_;
};

class MicroBatchScope {
 public:
  explicit MicroBatchScope(int index) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->BeginMicroBatch(index);
  }
  ~MicroBatchScope() {
    if (recorder_) recorder_->EndMicroBatch();
  }
  MicroBatchScope(const MicroBatchScope&) = delete;
  MicroBatchScope& operator=(const MicroBatchScope&) = delete;

 private:
  Recorder* recorder_;
};

class PhaseScope {
 public:
  explicit PhaseScope(trace::Phase phase) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->BeginPhase(phase);
  }
  ~PhaseScope() {
    if (recorder_) recorder_->EndPhase();
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Recorder* recorder_;
};

class AnnotationScope {
 public:
  explicit AnnotationScope(std::string_view name) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->BeginAnnotation(name);
  }
  ~AnnotationScope() {
    if (recorder_) recorder_->EndAnnotation();
  }
  AnnotationScope(const AnnotationScope&) = delete;
  AnnotationScope& operator=(const AnnotationScope&) = delete;

 private:
  Recorder* recorder_;
};

class ModuleScope {
 public:
  explicit ModuleScope(std::string_view name) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->BeginModule(name);
  }
  ~ModuleScope() {
    if (recorder_) recorder_->EndModule();
  }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  Recorder* recorder_;
};

// Within the scope, sets the initial category of this thread's allocations.
class CategoryScope {
 public:
  explicit CategoryScope(trace::Category category) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->PushCategory(category);
  }
  ~CategoryScope() {
    if (recorder_) recorder_->PopCategory();
  }
  CategoryScope(const CategoryScope&) = delete;
  CategoryScope& operator=(const CategoryScope&) = delete;

 private:
  Recorder* recorder_;
};

// Within the scope, this thread's allocations belong to the given parameter, because they are its
// storage or its optimizer state.
class OwnerScope {
 public:
  explicit OwnerScope(std::string_view path) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->PushOwner(path);
  }
  // Uses the owner of the live allocation at `key`.
  explicit OwnerScope(uint64_t key) : recorder_(Recorder::Current()) {
    if (recorder_) recorder_->PushOwnerOf(key);
  }
  ~OwnerScope() {
    if (recorder_) recorder_->PopOwner();
  }
  OwnerScope(const OwnerScope&) = delete;
  OwnerScope& operator=(const OwnerScope&) = delete;

 private:
  Recorder* recorder_;
};

}  // namespace vramscope::trainer
