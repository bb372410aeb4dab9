#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/latency/measurement.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/read.h"

namespace overdue {

// What a thread tells about the lines it read, put together at the end in the order of the file.
struct ReadAccount {
  struct Aside {
    std::string_view reason;  // A literal.
    std::uint64_t count = 0;
    std::uint64_t first_chunk = 0;
    std::uint64_t first_line = 0;  // 0-based, of that chunk.
    std::string first_value = {};
  };
  struct UnitDoubt {
    std::string why;
    std::uint64_t chunk = 0;
    std::uint64_t line = 0;  // 0-based, of that chunk.
  };
  struct ChunkLines {
    std::uint64_t chunk = 0;
    std::uint64_t lines = 0;
  };
  std::vector<Aside> asides;
  std::vector<ChunkLines> chunks;
  std::set<std::string, std::less<>> notes;
  std::optional<UnitDoubt> unit_doubt;  // The first.
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::uint64_t filtered = 0;
  std::optional<Duration> records_up_to;

  void merge(const ReadAccount& other);
  // Puts lines, calls, attempts, set_aside and notes into `summary`. Line numbers count from `header_lines`.
  void finish(std::uint64_t header_lines, SourceSummary& summary);
};
// At most 40 characters of `value`; what does not print is written as \\xNN.
std::string shown_value(std::string_view value);
inline constexpr std::string_view kLineTooLong = "line longer than 256 KiB";

// AccountingSink keeps the account, drops rows outside --since and --until, and hands on the rest.
class AccountingSink : public RowSink {
 public:
  explicit AccountingSink(const ReadOptions& options) : since_(options.since), until_(options.until) {}
  void begin_chunk(std::uint64_t number) { account_.chunks.push_back({number, 0}); }
  void end_chunk(std::uint64_t lines) {
    account_.chunks.back().lines = lines;
    backend_chunks_.resize(names.backends.size(), account_.chunks.back().chunk);
  }
  // The chunk in which each backend of names.backends was met first.
  const std::vector<std::uint64_t>& backend_chunks() const { return backend_chunks_; }
  // Call after flush().
  const ReadAccount& account();

  void set_aside(std::string_view reason, std::uint64_t line) final;
  void set_aside_for(std::string_view reason, std::uint64_t line, std::string_view value) final;
  void doubt_unit(std::string_view why, std::uint64_t line) final;
  void records_up_to(Duration longest) final;
  void note(std::string_view text) final;

 protected:
  void take(std::span<const Attempt> rows) final;
  virtual void keep(std::span<const Attempt> rows) = 0;
  bool takes_all() const { return !since_ && !until_; }
  bool in_range(std::optional<WallTime> at) const;
  void count(std::uint64_t calls, std::uint64_t attempts) {
    account_.calls += calls;
    account_.attempts += attempts;
  }

 private:
  std::optional<WallTime> since_, until_;
  std::string_view last_note_;
  std::vector<Attempt> in_range_;
  std::vector<std::uint64_t> backend_chunks_;
  ReadAccount account_;
};

// MeasuringSink measures, one Measurement a group.
class MeasuringSink final : public AccountingSink {
 public:
  static constexpr std::size_t kGroupsMax = 200;

  // `expected`: when rows of the log are known to have started, at most (Measurement::expect_starts).
  explicit MeasuringSink(const ReadOptions& options,
                         const std::optional<TimeGrid::TimeSpan>& expected = std::nullopt);
  void add_counts(Ending ending, Duration elapsed, std::uint64_t count, std::optional<WallTime> at) override;
  bool too_many_groups() const { return names.groups.size() > kGroupsMax + 1; }

  // By group id; null where a group has no row.
  std::vector<std::unique_ptr<Measurement>>& groups() { return groups_; }

 protected:
  void keep(std::span<const Attempt> rows) override;
  void take_columns(const AttemptColumns& columns) override;

 private:
  Measurement& group(std::uint16_t id);

  bool grouped_;
  std::optional<TimeGrid::TimeSpan> expected_;
  std::vector<std::unique_ptr<Measurement>> groups_;
  std::vector<std::vector<Attempt>> by_group_;
  std::vector<std::uint16_t> met_;
};

// HandingSink hands the rows to a function. A count becomes that many rows, up to kRowsOfACountMax: one line
// may claim more than anyone could wait for.
class HandingSink final : public AccountingSink {
 public:
  static constexpr std::uint64_t kRowsOfACountMax = 65'536;

  HandingSink(const ReadOptions& options, const TakeAttempts& to) : AccountingSink(options), to_(to) {}
  void add_counts(Ending ending, Duration elapsed, std::uint64_t count, std::optional<WallTime> at) override;

 protected:
  void keep(std::span<const Attempt> rows) override;

 private:
  const TakeAttempts& to_;
};

}  // namespace overdue
