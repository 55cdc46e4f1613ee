#include "profiler/trace/reader.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/trace/activity_codec.h"
#include "profiler/trace/assembler.h"
#include "profiler/trace/footer_file.h"
#include "profiler/trace/input.h"
#include "profiler/trace/memory_budget.h"

namespace vramscope::trace {
namespace {

constexpr size_t kReadBytes = size_t{4} << 20;
constexpr size_t kHeadBytes = 512;

constexpr uint64_t kMemoryPerEvent = 120;     // event columns, and half an allocation
constexpr uint64_t kMemoryPerActivity = 150;  // its columns, while they grow
// A batch of more is taken apart in its turn and piece by piece, so that a few of them do not fill
// the computer before any is counted.
constexpr uint32_t kLargeBatch = 4 * kBatchEvents;
// A number has a byte at least; four in the table, twice that while it grows, four as it is read.
constexpr uint64_t kMemoryPerStackByte = 12;

bool Cancelled(const ReadOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

// Takes batches apart on other threads. Results are taken in the order of the batches.
class BatchPool {
 public:
  struct Batch {
    RawFrame raw;
    BatchStart start;
    std::vector<Event> events;
    std::vector<Activity> activities;
    std::string large;  // the payload of a batch that is not taken apart here
    absl::Status status;
    bool done = false;  // guarded by the pool's mutex
  };

  explicit BatchPool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~BatchPool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      todo_.clear();
    }
    work_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  std::shared_ptr<Batch> Submit(RawFrame raw) {
    auto batch = std::make_shared<Batch>();
    batch->raw = std::move(raw);
    {
      std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        batch->events = std::move(spare_.back().first);
        batch->activities = std::move(spare_.back().second);
        spare_.pop_back();
      }
      todo_.push_back(batch);
    }
    work_.notify_one();
    return batch;
  }
  void Wait(const Batch& batch) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return batch.done; });
  }
  // Gives the room of a used batch back.
  void Recycle(Batch& batch) {
    std::lock_guard lock(mutex_);
    spare_.emplace_back(std::move(batch.events), std::move(batch.activities));
  }

 private:
  void Work() {
    while (true) {
      std::shared_ptr<Batch> batch;
      {
        std::unique_lock lock(mutex_);
        work_.wait(lock, [this] { return stop_ || !todo_.empty(); });
        if (stop_) return;
        batch = std::move(todo_.front());
        todo_.pop_front();
      }
      Decode(*batch);
      {
        std::lock_guard lock(mutex_);
        batch->done = true;
      }
      done_.notify_all();
    }
  }
  static void Decode(Batch& batch) {
    absl::StatusOr<Frame> frame = Uncompress(std::move(batch.raw));
    if (frame.ok() && frame->type == FrameType::kActivities) {
      batch.status = DecodeActivities(frame->payload, batch.activities);
      return;
    }
    BatchDecoder decoder;
    batch.status = frame.ok() ? decoder.Open(frame->payload) : frame.status();
    size_t n = 0;
    if (batch.status.ok()) {
      batch.start = decoder.start();
      if (decoder.count() > kLargeBatch) {
        batch.events.clear();
        batch.large = std::move(frame->payload);
        return;
      }
      batch.events.resize(decoder.count());
      n = decoder.Read(batch.events);
      batch.status = decoder.status();
    }
    batch.events.resize(n);
  }

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<std::shared_ptr<Batch>> todo_;
  std::vector<std::pair<std::vector<Event>, std::vector<Activity>>> spare_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

class Reader {
 public:
  // `head`: what has been taken from the input already.
  Reader(InputStream& input, std::string_view head, const ReadOptions& options,
         TraceAssembler::Impl& assembler)
      : input_(input),
        taken_(head),
        options_(options),
        assembler_(assembler),
        budget_(input, options.memory_limit, /*packed=*/true) {
    int threads = options.threads;
    if (threads <= 0)
      threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
    if (threads > 1) pool_.emplace(std::min(threads, 64) - 1);
    window_ = static_cast<size_t>(threads) + 1;
  }

  // Of a part: by the file's index, what need not be decoded, and where it ends.
  void SkipBy(const Footer& index) {
    const auto& batches = index.batches;
    const auto& activities = index.activity_batches;
    if (batches.empty() ||
        (!activities.empty() && activities.front().offset < batches.front().offset))
      return;
    const auto since_first = [&](int64_t ns) {
      return static_cast<int64_t>(static_cast<uint64_t>(ns) -
                                  static_cast<uint64_t>(batches.front().first_time_ns));
    };
    uint64_t last = 0;
    for (const Footer::Batch& b : batches)
      if (since_first(b.first_time_ns) <= options_.to_ns) last = std::max(last, b.offset);
    for (const Footer::ActivityBatch& b : activities) {
      if (since_first(b.first_begin_ns) <= options_.to_ns &&
          since_first(b.last_end_ns) >= options_.from_ns)
        last = std::max(last, b.offset);
      else
        outside_.insert(b.offset);
    }
    last_ = last;
  }

  // Until the end of the input, or of what can be read of it. Errors: kCancelled, or what keeps the
  // trace from being opened at all.
  absl::Status Run(const std::string& name) {
    std::string chunk(kReadBytes, '\0');
    std::string head(taken_.substr(0, kHeadBytes));
    read_ = taken_.size();
    decoder_.Append(taken_);
    while (!stopped_ && !ended_) {
      if (Cancelled(options_)) return absl::CancelledError("reading was cancelled");
      absl::StatusOr<size_t> n = input_.Read(chunk.data(), chunk.size());
      if (!n.ok()) {
        const absl::Status drained = Drain(name, head);
        if (absl::IsCancelled(drained) || absl::IsUnimplemented(drained) ||
            absl::IsResourceExhausted(drained))
          return drained;
        if (absl::IsResourceExhausted(n.status())) return n.status();
        if (!assembler_.has_header) return n.status();
        Stop(input_.consumed(), std::string(n.status().message()));
        break;
      }
      if (*n == 0) break;
      if (head.size() < kHeadBytes)
        head.append(chunk.data(), std::min<size_t>(*n, kHeadBytes - head.size()));
      read_ += *n;
      decoder_.Append({chunk.data(), *n});
      if (read_ < kHeadBytes) continue;  // enough to say what a foreign file looks like
      if (absl::Status s = Drain(name, head); !s.ok()) return s;
      if (options_.progress && input_.total() > 0)
        options_.progress(std::min(
            1.0, static_cast<double>(input_.consumed()) / static_cast<double>(input_.total())));
    }
    if (absl::Status s = Drain(name, head); !s.ok()) return s;
    while (!queue_.empty())
      if (absl::Status s = Take(); !s.ok()) return s;
    if (!assembler_.has_header) return NotATrace(name, head);
    return absl::OkStatus();
  }

  bool skipped() const { return skipped_; }
  bool ended() const { return ended_; }  // behind the part, before the footer
  // "" when everything was read; else what was lost, where.
  std::string Loss() const {
    if (!loss_.empty()) {
      return fmt::format("damaged at byte {}: {}; what comes after it was not read{}", loss_offset_,
                         loss_, Rest(loss_offset_));
    }
    if (ended_) return "";
    if (decoder_.buffered() > 0)
      return fmt::format(
          "cut at byte {}: the last {} bytes are the beginning of a frame whose rest is missing",
          read_, decoder_.buffered());
    if (!assembler_.footer.has_value())
      return fmt::format("cut at byte {}: the footer is missing, and with it whatever came last",
                         read_);
    return "";
  }

 private:
  // A frame in its turn: decoded elsewhere (batch) or waiting.
  struct Item {
    std::shared_ptr<BatchPool::Batch> batch;
    Frame frame;
    uint64_t offset = 0;
    size_t payload = 0;  // bytes
    bool activities = false;
  };

  std::string Rest(uint64_t offset) const {
    if (input_.compressed() || input_.total() <= offset) return "";
    return fmt::format(" ({} bytes)", input_.total() - offset);
  }

  void Stop(uint64_t offset, std::string why) {
    if (!loss_.empty()) return;
    loss_ = std::move(why);
    loss_offset_ = offset;
    stopped_ = true;
  }

  absl::Status NotATrace(const std::string& name, std::string_view head) const {
    if (head.starts_with(kFrameMagic))
      return absl::InvalidArgumentError(fmt::format(
          "'{}' is a .trace that is cut or damaged within its header ({} bytes are there): nothing "
          "of it can be read",
          name, read_));
    std::string kind = LooksLike(head);
    return absl::InvalidArgumentError(
        fmt::format("'{}' is not a .trace: it {}", name,
                    kind.empty() ? "does not begin like one" : "looks like " + kind));
  }

  absl::Status Drain(const std::string& name, std::string_view head) {
    while (!stopped_ && !ended_) {
      const uint64_t offset = decoder_.offset();
      if (offset > last_) {
        ended_ = skipped_ = true;
        break;
      }
      absl::StatusOr<std::optional<RawFrame>> raw = decoder_.NextRaw();
      if (!raw.ok()) {
        if (!assembler_.has_header) return NotATrace(name, head);
        // What is already under way comes before the damage.
        while (!queue_.empty() && !stopped_)
          if (absl::Status s = Take(); !s.ok()) return s;
        Stop(offset, std::string(raw.status().message()));
        return absl::OkStatus();
      }
      if (!raw->has_value()) return absl::OkStatus();
      Item item;
      item.offset = offset;
      item.payload = (*raw)->payload_size;
      while (!queue_.empty() && queued_ + item.payload > kMaxPayload)
        if (absl::Status s = Take(); !s.ok()) return s;
      item.activities = (*raw)->type == FrameType::kActivities;
      const bool behind = assembler_.part && assembler_.part->done();
      if ((behind && (*raw)->type == FrameType::kEvents) ||
          (item.activities && outside_.contains(offset))) {
        skipped_ = true;
        continue;
      }
      if (pool_.has_value() && (item.activities || (*raw)->type == FrameType::kEvents)) {
        item.batch = pool_->Submit(*std::move(*raw));
      } else {
        absl::StatusOr<Frame> frame = Uncompress(*std::move(*raw));
        if (!frame.ok()) {
          while (!queue_.empty() && !stopped_)
            if (absl::Status s = Take(); !s.ok()) return s;
          if (!assembler_.has_header) return NotATrace(name, head);
          Stop(offset, std::string(frame.status().message()));
          return absl::OkStatus();
        }
        item.frame = *std::move(frame);
      }
      const bool header = !assembler_.has_header;
      queued_ += item.payload;
      queue_.push_back(std::move(item));
      // The header first: without it nothing else is worth reading.
      while (!queue_.empty() && (header || queue_.size() > window_))
        if (absl::Status s = Take(); !s.ok()) return s;
      if (header && !assembler_.has_header) return NotATrace(name, head);
    }
    return absl::OkStatus();
  }

  // The first of the queue into the trace.
  absl::Status Take() {
    if (Cancelled(options_)) return absl::CancelledError("reading was cancelled");
    Item item = std::move(queue_.front());
    queue_.pop_front();
    queued_ -= item.payload;
    if (stopped_) return absl::OkStatus();
    const bool had_header = assembler_.has_header;
    // Of a part, what the builder holds counts, not what went by.
    const uint64_t before = assembler_.builder.events(), before_too = assembler_.activities;
    absl::Status status;
    if (item.batch != nullptr && item.activities) {
      pool_->Wait(*item.batch);
      status = item.batch->status;
      if (status.ok()) status = assembler_.AddActivities(item.batch->activities);
      pool_->Recycle(*item.batch);
    } else if (item.batch != nullptr) {
      pool_->Wait(*item.batch);
      status = item.batch->status;
      if (status.ok()) status = assembler_.CheckStart(item.batch->start);
      if (status.ok() && !item.batch->large.empty())
        status = AddLarge(item.batch->large);
      else if (status.ok())
        status = assembler_.AddEvents(item.batch->events);
      pool_->Recycle(*item.batch);
    } else {
      if (item.frame.type == FrameType::kStrings) budget_.Charge(item.frame.payload.size() * 17);
      if (item.frame.type == FrameType::kStacks)
        budget_.Charge(item.frame.payload.size() * kMemoryPerStackByte);
      if (!budget_.exhausted()) status = assembler_.Add(item.frame);
    }
    // Nothing before the header can be shown; a newer version is said as it is.
    if (!status.ok() && !had_header && absl::IsUnimplemented(status)) return status;
    budget_.Charge((assembler_.builder.events() - before) * kMemoryPerEvent +
                   (assembler_.activities - before_too) * kMemoryPerActivity);
    if (budget_.exhausted())
      return budget_.Exceeded(fmt::format("the first {} events and {} activities of the trace",
                                          assembler_.builder.events(), assembler_.activities),
                              "record fewer steps");
    if (!status.ok()) Stop(item.offset, std::string(status.message()));
    return absl::OkStatus();
  }

  absl::Status AddLarge(std::string_view payload) {
    BatchDecoder decoder;
    absl::Status status = decoder.Open(payload);
    std::vector<Event> events(kBatchEvents);
    const uint64_t before = assembler_.builder.events();
    while (status.ok()) {
      const size_t n = decoder.Read(events);
      if (n == 0) return decoder.status();
      status = assembler_.AddEvents(std::span(events).first(n));
      const uint64_t added = assembler_.builder.events() - before;
      if (!budget_.Fits(added * kMemoryPerEvent)) break;  // the caller charges it, and says so
    }
    return status;
  }

  InputStream& input_;
  const std::string_view taken_;
  const ReadOptions& options_;
  TraceAssembler::Impl& assembler_;
  FrameDecoder decoder_;
  std::optional<BatchPool> pool_;
  std::deque<Item> queue_;
  size_t window_ = 1;
  uint64_t read_ = 0;  // decompressed bytes
  MemoryBudget budget_;
  size_t queued_ = 0;  // bytes of payload in the queue
  bool stopped_ = false;
  bool skipped_ = false;  // what lies outside of the part that is read
  bool ended_ = false;
  uint64_t last_ = UINT64_MAX;             // offset behind which nothing is of the part
  absl::flat_hash_set<uint64_t> outside_;  // offsets of activities that are not of the part
  std::string loss_;
  uint64_t loss_offset_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Trace>> ReadTraceFile(const std::string& path,
                                                           const ReadOptions& options) {
  absl::StatusOr<std::unique_ptr<InputStream>> input = InputStream::Open(path);
  if (!input.ok()) return input.status();
  return ReadTrace(**input, "", path, options);
}

absl::StatusOr<std::shared_ptr<const Trace>> ReadTrace(InputStream& input, std::string_view head,
                                                       const std::string& path,
                                                       const ReadOptions& options) {
  TraceAssembler::Impl assembler;
  const bool part = options.from_ns != INT64_MIN || options.to_ns != INT64_MAX;
  if (part) assembler.part.emplace(options.from_ns, options.to_ns);
  std::optional<Footer> index;
  if (!input.compressed()) index = FooterFile(path).FindFooter();
  if (index.has_value() && !part) {
    // An event has more than one byte in any file worth the haste; a larger claim is not believed,
    // the tables then grow as they fill.
    const auto believable = [&](uint64_t n) {
      return static_cast<size_t>(std::min(n, input.total()));
    };
    assembler.builder.Reserve({believable(index->events), believable(index->allocations),
                               believable(index->retags), believable(index->slices),
                               believable(index->activities)});
  }
  Reader reader(input, head, options, assembler);
  if (index.has_value() && part) reader.SkipBy(*index);
  if (absl::Status s = reader.Run(DisplayName(path)); !s.ok()) return s;
  if (part)
    if (absl::Status s = assembler.part->Finish(); !s.ok()) return s;
  if (reader.ended()) assembler.footer = std::move(index);
  const std::string loss = reader.Loss();
  if (!loss.empty()) {
    assembler.builder.AddWarning(loss);
    return assembler.builder.Finish(false, loss);
  }
  const std::string missing = reader.skipped() ? "" : assembler.Missing("the file holds");
  if (!missing.empty()) {
    assembler.builder.AddWarning(missing);
    return assembler.builder.Finish(false, missing);
  }
  return assembler.builder.Finish(assembler.footer->complete, assembler.footer->end_message);
}

}  // namespace vramscope::trace
