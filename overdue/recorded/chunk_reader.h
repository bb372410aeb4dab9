#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/attempt_columns.h"
#include "overdue/recorded/read.h"
#include "overdue/recorded/unit_doubt.h"

namespace overdue {

// Inside the room: what a format's reader is given and what it must be.

// The tables one reading thread names things in.
struct ReaderNames {
  NameTable backends;
  NameTable routes;
  NameTable groups;
};

// RowSink takes a reader's rows, in batches handed on when full. One a thread; not shared.
class RowSink {
 public:
  static constexpr std::size_t kBatchRows = 2048;

  virtual ~RowSink() = default;

  // A fresh default row to fill in; valid until the next call of append(), or flush().
  Attempt& append() {
    if (used_ == batch_.size()) flush();
    batch_[used_] = Attempt{};
    return batch_[used_++];
  }
  // Rows that come column by column.
  void add(const AttemptColumns& columns) {
    flush();
    take_columns(columns);
  }
  // Undoes the last append(), which nothing else has followed.
  void take_back() { --used_; }
  void flush() {
    if (used_ > 0) take({batch_.data(), used_});
    used_ = 0;
  }
  // Histogram files: `count` endings at once.
  virtual void add_counts(Ending ending, Duration elapsed, std::uint64_t count,
                          std::optional<WallTime> at) = 0;

  // A line that is not measured, and why. `reason`: a string literal, the same for the same kind. `line`:
  // 0-based within the chunk being read.
  virtual void set_aside(std::string_view reason, std::uint64_t line) = 0;
  // The same, with the value that is at fault, so that a person sees it.
  virtual void set_aside_for(std::string_view reason, std::uint64_t line, std::string_view value) {
    (void)value;
    set_aside(reason, line);
  }
  // Why the unit of the latency may not be what it was taken for, as `line` shows: no advice is given then.
  virtual void doubt_unit(std::string_view why, std::uint64_t line) {
    (void)why;
    (void)line;
  }
  // The source has no room for longer times: what it lacks may have been longer (histogram files).
  virtual void records_up_to(Duration longest) { (void)longest; }
  // Something the user should be told once, however often it happened: "status 0 read as lost".
  virtual void note(std::string_view text) = 0;

  ReaderNames names;
  // What the reader keeps from one chunk to the next: made by it, and by it alone.
  struct Scratch {
    virtual ~Scratch() = default;
  };
  std::unique_ptr<Scratch> scratch;
  // Rows left out by --where; the reader counts them here and does nothing else with them. (--since and
  // --until are the sink's own.)
  std::uint64_t filtered = 0;
  // Calls that made no attempt (a proxy answered them itself): calls, though no row begins them.
  std::uint64_t calls_without_attempts = 0;

 protected:
  virtual void take(std::span<const Attempt> rows) = 0;
  virtual void take_columns(const AttemptColumns& columns) {
    for (std::size_t index = 0; index < columns.size; ++index) append() = columns.row(index);
  }

 private:
  std::vector<Attempt> batch_ = std::vector<Attempt>(kBatchRows);
  std::size_t used_ = 0;
};

// ChunkReader turns whole lines into rows. Configured once from the options and the head of the file; const
// and shared between threads afterwards.
class ChunkReader {
 public:
  virtual ~ChunkReader() = default;

  // `lines` is whole lines (the file's last may lack its newline; "\r\n" is a newline too). Every line ends
  // as rows, as set aside, or is a comment or header of the format. Returns the number of lines read. After
  // the last line kReadableAfter further bytes may be read (and mean nothing), so that loads need no end
  // check.
  static constexpr std::size_t kReadableAfter = 64;
  virtual std::uint64_t read(std::string_view lines, RowSink& sink) const = 0;

  // False where the state runs from line to line (hlog): such a file is read on one thread.
  virtual bool chunks_are_independent() const { return true; }
};

// A format recognised and ready: the summary's format, vantage, detail and flags are filled in.
struct OpenedFormat {
  std::unique_ptr<ChunkReader> reader;
  SourceSummary summary;
  std::optional<UnitClaim>
      unit_claim;                // To be held against the whole log; none: the unit is not in question.
  std::size_t header_bytes = 0;  // Skipped before the first chunk (a CSV header line).
  std::uint64_t header_lines = 0;
};

// One pair of functions a format. looks_like_*: could `head` (the first up to 256 KiB, whole lines) be this
// format? Certain enough to choose it without --format. open_*: fails with what is wrong and what would be
// right.
bool looks_like_csv(std::string_view head);
bool looks_like_ndjson(std::string_view head);
bool looks_like_nginx(std::string_view head);
bool looks_like_envoy(std::string_view head);
bool looks_like_hlog(std::string_view head);
Result<OpenedFormat> open_csv(std::string_view head, const std::string& path, const ReadOptions& options);
Result<OpenedFormat> open_ndjson(std::string_view head, const std::string& path, const ReadOptions& options);
Result<OpenedFormat> open_nginx(std::string_view head, const std::string& path, const ReadOptions& options);
Result<OpenedFormat> open_envoy(std::string_view head, const std::string& path, const ReadOptions& options);
Result<OpenedFormat> open_hlog(std::string_view head, const std::string& path, const ReadOptions& options);

}  // namespace overdue
