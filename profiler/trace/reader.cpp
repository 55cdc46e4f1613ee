#include "profiler/trace/reader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/activity_codec.h"
#include "profiler/trace/assembler.h"
#include "profiler/trace/footer_file.h"
#include "profiler/trace/input.h"
#include "profiler/trace/keyframe.h"
#include "profiler/trace/memory_budget.h"
#include "profiler/trace/varint.h"

namespace vramscope::trace {
namespace {

constexpr size_t kReadBytes = size_t{4} << 20;
constexpr size_t kHeadBytes = 512;

constexpr uint64_t kMemoryPerEvent = 120;     // the columns of an event and half an allocation row
constexpr uint64_t kMemoryPerActivity = 150;  // columns of the activity, while they grow
// A batch with more events is not decoded ahead of its turn, because a few such batches could
// exhaust the memory before their rows count towards the limit. When its turn comes, it is decoded
// in chunks.
constexpr uint32_t kLargeBatch = 4 * kBatchEvents;
// Each number takes at least one byte in the file. In memory, it takes four bytes in the table
// (eight while the table is reallocated), plus four bytes while it is read.
constexpr uint64_t kMemoryPerStackByte = 12;
// After this many damaged keyframes the whole file is read instead.
constexpr int kKeyframeTries = 4;

// Returns how much memory a table of strings needs: one object per string, and the characters,
// which exist twice while the message is decoded.
uint64_t MemoryOfStrings(std::string_view payload) {
  constexpr uint64_t kPerString = 48, kPerByte = 2;
  constexpr uint64_t kLengthDelimited = 2;
  uint64_t count = 0;
  const auto* at = reinterpret_cast<const unsigned char*>(payload.data());
  const auto* const end = at + payload.size();
  while (at != end) {
    uint64_t tag = 0, value = 0;
    if (!GetVarint(at, end, tag) || !GetVarint(at, end, value)) break;  // the decoder reports this
    if ((tag & 7) != kLengthDelimited) continue;
    if (value > static_cast<uint64_t>(end - at)) break;
    at += value;
    ++count;
  }
  return kPerString * count + kPerByte * payload.size();
}

bool Cancelled(const ReadOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

// Decodes batches on other threads. Results are taken in the order of the batches.
class BatchPool {
 public:
  struct Batch {
    RawFrame raw;
    BatchStart start;
    std::vector<Event> events;
    std::vector<Activity> activities;
    std::string large;  // payload of a batch that the pool does not decode
    absl::Status status;
    bool no_memory = false;  // set instead of `status`, which would need memory
    bool done = false;       // guarded by the pool's mutex
  };

  // If the system cannot start all threads, uses those that it started. With no thread, decodes
  // each batch when it is submitted.
  explicit BatchPool(int threads) {
    threads_.reserve(static_cast<size_t>(threads));
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
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
    if (threads_.empty()) {
      Decode(*batch);
      batch->done = true;
      return batch;
    }
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
  // Throws std::bad_alloc if the batch's thread ran out of memory.
  void Wait(const Batch& batch) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return batch.done; });
    if (batch.no_memory) throw std::bad_alloc();
  }
  // Takes back the buffers of a used batch, to use them again.
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
      try {
        Decode(*batch);
      } catch (const std::bad_alloc&) {
        batch->no_memory = true;
      }
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

class FileReader {
 public:
  // `head`: bytes that were already read from the input.
  FileReader(InputStream& input, std::string_view head, const ReadOptions& options,
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

  // Gives the reader the file that the input reads, and its index, so that it can seek.
  void SetIndex(const FooterFile& file, const Footer& index) {
    indexed_ = &file;
    index_ = &index;
  }

  // Looks up in the index where the requested part ends and which batches need not be decoded.
  void SkipBy(const Footer& index) {
    const auto& batches = index.batches;
    const auto& activities = index.activity_batches;
    if (batches.empty()) return;
    const auto since_first = [origin = OriginOf(index)](int64_t ns) {
      return static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(origin));
    };
    uint64_t last = 0;
    for (const Footer::Batch& b : batches) {
      if (since_first(b.first_time_ns) <= options_.to_ns)
        last = std::max(last, b.offset);
      else
        later_ = true;
    }
    for (const Footer::ActivityBatch& b : activities) {
      if (since_first(b.first_begin_ns) <= options_.to_ns &&
          since_first(b.last_end_ns) >= options_.from_ns)
        last = std::max(last, b.offset);
      else
        outside_.insert(b.offset);
    }
    last_ = last;
  }

  // Reads the tables and late activities, and starts at the last keyframe before the requested
  // part. Returns false if no keyframe is valid; the assembler is then unusable.
  bool BeginAtKeyframe() {
    const FooterFile& file = *indexed_;
    const Footer& index = *index_;
    if (index.batches.empty() || options_.from_ns <= 0) return false;
    const int64_t origin = OriginOf(index);
    // Times never decrease, so unsigned differences compare correctly and cannot overflow.
    const auto before_part = [&](const Footer::KeyframeAt& keyframe) {
      return static_cast<uint64_t>(keyframe.last_time_ns) - static_cast<uint64_t>(origin) <
             static_cast<uint64_t>(options_.from_ns);
    };
    auto at = std::ranges::partition_point(index.keyframes, before_part);
    for (int tries = 0; tries < kKeyframeTries && at != index.keyframes.begin(); ++tries) {
      --at;
      const std::optional<Frame> frame = file.At(at->offset);
      if (!before_part(*at) || !frame.has_value() || frame->type != FrameType::kStrings) continue;
      const absl::StatusOr<Keyframe> keyframe = DecodeKeyframe(frame->payload);
      if (!keyframe.ok() || keyframe->event != at->event) continue;
      if (!TakeBefore(file, index, at->offset)) return false;
      if (!assembler_.part->Resume(*keyframe, origin).ok()) return false;
      assembler_.events = keyframe->event;
      begin_ = frame->end_offset;
      GoOnAt(begin_);
      skipped_ = true;
      return true;
    }
    return false;
  }

  // Reads to the end of the input, or as far as possible. Errors: kCancelled, or an error that
  // prevents opening the trace at all.
  absl::Status Run(const std::string& name) {
    std::string chunk(kReadBytes, '\0');
    std::string head(taken_.substr(0, kHeadBytes));
    if (file_ == nullptr) {
      read_ = taken_.size();
      decoder_.Append(taken_);
    }
    while (!stopped_ && !ended_) {
      if (Cancelled(options_)) return absl::CancelledError(i18n::Text("reading was cancelled"));
      absl::StatusOr<size_t> n = file_ != nullptr ? file_->Read(read_, chunk.data(), chunk.size())
                                                  : input_.Read(chunk.data(), chunk.size());
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
      if (read_ < kHeadBytes) continue;  // enough to recognise another format
      if (absl::Status s = Drain(name, head); !s.ok()) return s;
      if (options_.progress && input_.total() > 0) options_.progress(Fraction());
    }
    if (absl::Status s = Drain(name, head); !s.ok()) return s;
    while (!queue_.empty())
      if (absl::Status s = Take(); !s.ok()) return s;
    if (!assembler_.has_header) return NotATrace(name, head);
    return absl::OkStatus();
  }

  bool skipped() const { return skipped_; }
  bool later() const { return later_; }  // according to the index, there are events after the part
  bool ended() const { return ended_; }  // stopped at the end of the part, before the footer
  // Returns a text about what was lost and where, or "" if everything was read.
  std::string Loss() const {
    if (!loss_.empty()) {
      return i18n::English("damaged at byte {}: {}; the data after it was not read{}", loss_offset_,
                           loss_, Rest(loss_offset_));
    }
    if (ended_) return "";
    if (decoder_.buffered() > 0)
      return i18n::English("cut at byte {}: the last {} bytes are an incomplete frame", read_,
                           decoder_.buffered());
    if (!assembler_.footer.has_value())
      return i18n::English("cut at byte {}: the footer is missing, and possibly data before it",
                           read_);
    return "";
  }

 private:
  // One frame in the queue. Either the pool decodes it (`batch`), or it waits undecoded (`frame`).
  struct Item {
    std::shared_ptr<BatchPool::Batch> batch;
    Frame frame;
    uint64_t offset = 0;
    size_t payload = 0;  // size in bytes
    bool activities = false;
  };

  // Returns time 0 of the file: the first event, or an activity that precedes all events.
  static int64_t OriginOf(const Footer& index) {
    const auto& activities = index.activity_batches;
    const Footer::Batch& first = index.batches.front();
    return !activities.empty() && activities.front().offset < first.offset
               ? activities.front().first_begin_ns
               : first.first_time_ns;
  }

  double Fraction() const {
    const uint64_t done = file_ != nullptr ? read_ - begin_ : input_.consumed();
    const uint64_t all = std::min(last_, input_.total()) - std::min(begin_, last_);
    return all == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  }

  void GoOnAt(uint64_t offset) {
    file_ = indexed_;
    read_ = offset;
    decoder_ = FrameDecoder(offset);
  }

  // Skips a damaged keyframe. Nothing is lost, because a keyframe only repeats other data.
  bool PassKeyframe(uint64_t offset) {
    if (index_ == nullptr ||
        !std::ranges::binary_search(index_->keyframes, offset, {}, &Footer::KeyframeAt::offset))
      return false;
    uint64_t next = UINT64_MAX;
    const auto see = [&](uint64_t at) {
      if (at > offset) next = std::min(next, at);
    };
    for (const uint64_t at : index_->tables) see(at);
    for (const Footer::Batch& b : index_->batches) see(b.offset);
    for (const Footer::ActivityBatch& b : index_->activity_batches) see(b.offset);
    if (next == UINT64_MAX) return false;
    GoOnAt(next);
    return true;
  }

  // Reads everything before `offset` that the part needs: the header, strings and stacks, and the
  // part's activities.
  bool TakeBefore(const FooterFile& file, const Footer& index, uint64_t offset) {
    std::vector<uint64_t> places = {0};
    for (const uint64_t table : index.tables) {
      if (table >= offset) break;
      if (table <= places.back()) return false;  // the index is inconsistent
      places.push_back(table);
    }
    const auto tables = static_cast<ptrdiff_t>(places.size());
    for (const Footer::ActivityBatch& b : index.activity_batches)
      if (b.offset < offset && !outside_.contains(b.offset)) places.push_back(b.offset);
    std::sort(places.begin() + tables, places.end());
    std::inplace_merge(places.begin(), places.begin() + tables, places.end());
    for (const uint64_t place : places) {
      if (Cancelled(options_)) return true;  // Run() reports it
      const std::optional<Frame> frame = file.At(place);
      if (!frame.has_value()) return false;
      const bool header = frame->type == FrameType::kTraceHeader;
      if (header != (place == 0) ||
          (!header && frame->type != FrameType::kStrings && frame->type != FrameType::kStacks &&
           frame->type != FrameType::kActivities))
        return false;
      const uint64_t activities = assembler_.activities;
      if (!assembler_.Add(*frame).ok()) return false;
      if (frame->type == FrameType::kStrings) budget_.Charge(MemoryOfStrings(frame->payload));
      if (frame->type == FrameType::kStacks)
        budget_.Charge(frame->payload.size() * kMemoryPerStackByte);
      budget_.Charge((assembler_.activities - activities) * kMemoryPerActivity);
      if (budget_.exhausted()) return false;  // reading the whole file reports it
    }
    return true;
  }

  std::string Rest(uint64_t offset) const {
    if (input_.compressed() || input_.total() <= offset) return "";
    return i18n::English(" ({} bytes)", input_.total() - offset);
  }

  void Stop(uint64_t offset, std::string why) {
    if (!loss_.empty()) return;
    loss_ = std::move(why);
    loss_offset_ = offset;
    stopped_ = true;
  }

  absl::Status NotATrace(const std::string& name, std::string_view head) const {
    if (head.starts_with(kFrameMagic))
      return absl::InvalidArgumentError(
          i18n::Format("'{}' is a .trace that is damaged or cut off within its header ({} bytes), "
                       "so nothing can be read from it",
                       name, read_));
    std::string kind = LooksLike(head);
    return absl::InvalidArgumentError(
        kind.empty()
            ? i18n::Format("'{}' is not a .trace: it does not begin with a trace header", name)
            : i18n::Format("'{}' is not a .trace: it looks like {}", name, kind));
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
        if (PassKeyframe(offset)) return absl::OkStatus();
        // The queued frames precede the damage, so they are taken first.
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
        if (absl::IsResourceExhausted(frame.status())) return frame.status();
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
      // Takes the header immediately, because nothing else can be read without it.
      while (!queue_.empty() && (header || queue_.size() > window_))
        if (absl::Status s = Take(); !s.ok()) return s;
      if (header && !assembler_.has_header) return NotATrace(name, head);
    }
    return absl::OkStatus();
  }

  // Adds the first item of the queue to the trace.
  absl::Status Take() {
    if (Cancelled(options_)) return absl::CancelledError(i18n::Text("reading was cancelled"));
    Item item = std::move(queue_.front());
    queue_.pop_front();
    queued_ -= item.payload;
    if (stopped_) return absl::OkStatus();
    const bool had_header = assembler_.has_header;
    // Only rows that reach the builder count towards the memory limit, not rows outside the part.
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
      if (item.frame.type == FrameType::kStrings)
        budget_.Charge(MemoryOfStrings(item.frame.payload));
      if (item.frame.type == FrameType::kStacks)
        budget_.Charge(item.frame.payload.size() * kMemoryPerStackByte);
      if (!budget_.exhausted()) status = assembler_.Add(item.frame);
    }
    // A thread of the pool ran out of memory; the file may be valid.
    if (item.batch != nullptr && absl::IsResourceExhausted(item.batch->status))
      return item.batch->status;
    // Without the header, nothing can be shown. The error for a newer version is returned
    // unchanged.
    if (!status.ok() && !had_header && absl::IsUnimplemented(status)) return status;
    budget_.Charge((assembler_.builder.events() - before) * kMemoryPerEvent +
                   (assembler_.activities - before_too) * kMemoryPerActivity);
    if (budget_.exhausted())
      return budget_.Exceeded(i18n::Format("the first {} events and {} activities of the trace",
                                           assembler_.builder.events(), assembler_.activities),
                              i18n::Text("record fewer steps"));
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
      if (!budget_.Fits(added * kMemoryPerEvent)) break;  // the caller reports this
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
  bool skipped_ = false;  // data outside the requested part was skipped
  bool later_ = false;
  bool ended_ = false;
  const FooterFile* indexed_ = nullptr;  // the file itself and its index, if available
  const Footer* index_ = nullptr;
  const FooterFile* file_ = nullptr;  // read in place of the input after the first skip
  uint64_t begin_ = 0;
  uint64_t last_ = UINT64_MAX;       // offset after which nothing belongs to the part
  base::HashSet<uint64_t> outside_;  // offsets of activities that do not belong to the part
  std::string loss_;
  uint64_t loss_offset_ = 0;
};

// Reads to the end of the file or of the part.
absl::StatusOr<std::shared_ptr<const Trace>> Finish(FileReader& reader,
                                                    TraceAssembler::Impl& assembler,
                                                    const std::string& path,
                                                    std::optional<Footer>& index) {
  if (absl::Status s = reader.Run(DisplayName(path)); !s.ok()) return s;
  if (assembler.part)
    if (absl::Status s = assembler.part->Finish(reader.later(), assembler.builder); !s.ok())
      return s;
  if (reader.ended()) assembler.footer = std::move(index);
  const std::string loss = reader.Loss();
  if (!loss.empty()) {
    assembler.builder.AddWarning(loss);
    return assembler.builder.Finish(false, loss);
  }
  // Formats of the end messages that files contain, listed so that they are translated.
  static constexpr std::string_view kEndings[] = {
      TEXT_MARK("the program ended with {}"), TEXT_MARK("not everything could be shown: {}"),
      TEXT_MARK("the file is truncated or damaged: {}")};
  i18n::Know(kEndings);
  const std::string missing = reader.skipped() ? "" : assembler.Missing(true);
  if (!missing.empty()) {
    assembler.builder.AddWarning(missing);
    return assembler.builder.Finish(false, missing);
  }
  return assembler.builder.Finish(assembler.footer->complete, assembler.footer->end_message);
}

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
  const bool part = options.from_ns != INT64_MIN || options.to_ns != INT64_MAX;
  std::optional<FooterFile> file;
  std::optional<Footer> index;
  if (!input.compressed()) index = file.emplace(path).FindFooter();
  if (part && index.has_value()) {
    TraceAssembler::Impl assembler;
    assembler.part.emplace(options.from_ns, options.to_ns);
    FileReader reader(input, head, options, assembler);
    reader.SetIndex(*file, *index);
    reader.SkipBy(*index);
    if (reader.BeginAtKeyframe()) return Finish(reader, assembler, path, index);
  }
  TraceAssembler::Impl assembler;
  if (part) assembler.part.emplace(options.from_ns, options.to_ns);
  if (index.has_value() && !part) {
    // Limits each count to the file's size in bytes, since an event takes more than one byte in any
    // file large enough to matter. If there are more rows, the tables grow as they are filled.
    const auto believable = [&](uint64_t n) {
      return static_cast<size_t>(std::min(n, input.total()));
    };
    assembler.builder.Reserve({believable(index->events), believable(index->allocations),
                               believable(index->retags), believable(index->slices),
                               believable(index->activities)});
  }
  FileReader reader(input, head, options, assembler);
  if (index.has_value()) reader.SetIndex(*file, *index);
  if (index.has_value() && part) reader.SkipBy(*index);
  return Finish(reader, assembler, path, index);
}

}  // namespace vramscope::trace
