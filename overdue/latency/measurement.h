#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/name_table.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/histogram.h"
#include "overdue/latency/time_grid.h"

namespace overdue {

// Measurement is what a log says, kept in bounded memory and one pass: every statistic of this program is computed
// from it. Adding attempts in another order, or on several threads and merging, gives the same measurement.
//
// Exact: up to kDistinctMax distinct latencies the counts are kept by value; beyond that by bucket (resolution()).
// Refused attempts are counted in endings() and are in nothing else; they never waited (DESIGN, the words).
// Threads: none; one Measurement a thread, merged at the end.
class Measurement {
 public:
  static constexpr std::size_t kDistinctMax = 200'000;
  enum class Resolution { exact, bucket };

  Measurement();

  // `backends` and `routes` are the reader's tables the ids in the rows refer to.
  void add(std::span<const Attempt> attempts, const NameTable& backends, const NameTable& routes);
  // `count` endings of one latency without a start time or backend (histogram files). at: when, if known.
  void add_counts(Ending ending, Duration elapsed, std::uint64_t count, std::optional<WallTime> at = std::nullopt);
  void merge(const Measurement& other);

  // --expected-interval: the calls a closed loop did not send while it waited (C14): for each reply of
  // `elapsed` > interval, replies of elapsed - interval, elapsed - 2 interval, ... down to one interval.
  void fill_in_expected(Duration interval);
  // --sent: `sent` minus what was counted are give-ups at `at` (C09). Requires: sent >= attempts().
  void censor_missing(std::uint64_t sent, Duration at);

  Resolution resolution() const;
  std::uint64_t calls() const;     // Rows that began a call.
  std::uint64_t attempts() const;  // All rows, refused ones too.
  std::array<std::uint64_t, kEndingCount> endings() const;             // Indexed by Ending.
  std::array<std::uint64_t, kEndingCount> endings_of(std::uint16_t backend) const;
  std::uint64_t untimed_give_ups() const;
  std::uint64_t exact_zeros() const;  // Replies with elapsed 0.

  // Endings by latency, over the backends for which `leave_out[id]` is not set (shorter than size: not set).
  EndingTable table(const std::vector<bool>& leave_out = {}) const;
  EndingTable table_of(std::uint16_t backend) const;

  const NameTable& backends() const { return backends_; }
  // One histogram a route over replies; nullopt where there were too many routes to keep (see routes_overflowed).
  const NameTable& routes() const { return routes_; }
  const std::vector<LatencyHistogram>& replies_by_route() const;
  bool routes_overflowed() const;
  const LatencyHistogram& connect_times() const;

  // Time. All empty where no row had a start.
  std::optional<WallTime> first_start() const;
  std::optional<WallTime> last_start() const;
  std::optional<WallTime> last_end() const;
  std::uint64_t with_start() const;
  // At most 256 blocks (fewer with many backends). Series of a backend and an ending: series_of().
  const TimeGrid& blocks() const;
  static std::uint32_t series_of(std::uint16_t backend, Ending ending) {
    return static_cast<std::uint32_t>(backend) * kEndingCount + static_cast<std::uint32_t>(ending);
  }
  // Seconds (or the least power of two of seconds that fits 8,192), 16 buckets an octave, every ending but refused
  // as one series 0: what callers waited.
  const TimeGrid& seconds() const;
  // How many attempts started in each of at most 65,536 equal cells of time, aligned like a TimeGrid.
  struct Starts {
    WallTime first_cell_start{};
    Duration cell_length{};
    std::vector<std::uint32_t> counts;
  };
  Starts starts() const;
  // The longest attempts, at most kLongestMax, longest first: where a closed loop may have stood still.
  static constexpr std::size_t kLongestMax = 4096;
  struct Interval {
    WallTime start{};
    Duration elapsed{};
    auto operator<=>(const Interval&) const = default;
  };
  std::vector<Interval> longest() const;

  // What a format says besides rows, set by the reader that knows it.
  std::uint64_t negative_elapsed = 0;      // Rows set aside for an impossible duration (C26).

 private:
  NameTable backends_;
  NameTable routes_;
};

}  // namespace overdue
