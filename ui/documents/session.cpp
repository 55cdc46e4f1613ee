#include "ui/documents/session.h"

#include <utility>

#include "profiler/program/verdict.h"
#include "ui/timeline/model/compare.h"

namespace vramscope::ui {

Session::DigestPtr Session::Against() const {
  if (baseline_ != nullptr) return baseline_;
  if (previous_ == nullptr || shown_ == nullptr) return nullptr;
  const trace::TraceInfo &before = previous_->trace->info, &now = shown_->trace->info;
  // Two runs of programs are comparable if their scripts have the same name: users change a program
  // or its arguments, then plan it again.
  const auto script = [](const std::string& title) {
    const std::string command = program::ShortCommand(title);
    return command.substr(0, command.find(' '));
  };
  const bool same = previous_->watched() && shown_->watched()
                        ? script(before.title) == script(now.title)
                        : timeline::SameWork(before, now);
  return same ? previous_ : nullptr;
}

void Session::ShowRun() {
  from_file_ = false;
  file_.clear();
  source_.clear();
}

void Session::ShowFile(std::string path) {
  from_file_ = true;
  source_ = path;
  file_ = std::move(path);
}

std::vector<std::string> Session::sources() const {
  std::vector<std::string> out;
  if (!source_.empty()) out.push_back(source_);
  if (!baseline_file_.empty()) out.push_back(baseline_file_);
  return out;
}

void Session::Show(DigestPtr digest, bool partial) {
  const bool again = shown_ != nullptr && digest != nullptr && shown_->trace == digest->trace;
  if (!partial_ && !partial && shown_ != nullptr && !again) previous_ = shown_;
  shown_ = std::move(digest);
  partial_ = partial;
  if (partial) return;
  // Free the previous trace if it is not comparable. Traces are large.
  if (Against() != previous_) previous_ = nullptr;
}

void Session::Release() {
  shown_ = previous_ = nullptr;
  partial_ = false;
}

void Session::KeepAsPrevious() {
  if (!partial_ && shown_ != nullptr) previous_ = shown_;
}

void Session::SetBaseline(DigestPtr digest, std::string file, bool for_this_only) {
  baseline_ = std::move(digest);
  baseline_for_this_only_ = for_this_only;
  baseline_file_ = std::move(file);
}

Session::DigestPtr Session::SwapBaseline() {
  DigestPtr next = std::exchange(baseline_, shown_);
  std::swap(file_, baseline_file_);
  from_file_ = !file_.empty();
  source_ = file_;
  return next;
}

}  // namespace vramscope::ui
