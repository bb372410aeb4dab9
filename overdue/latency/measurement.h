#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "overdue/base/attempt_columns.h"
#include "overdue/base/name_table.h"
#include "overdue/base/run_both.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/exact_counts.h"
#include "overdue/latency/histogram.h"
#include "overdue/latency/longest.h"
#include "overdue/latency/starts.h"
#include "overdue/latency/time_grid.h"

namespace overdue {

// Measurement is what a log says, kept in bounded memory and one pass: every statistic of this program is
// computed from it. Adding attempts in another order, or on several threads and merging, gives the same
// measurement.
//
// Exact: up to kDistinctMax distinct latencies the counts are kept by value; beyond that by bucket
// (resolution()). By value and backend only while that fits too (ExactCounts): else a table that leaves
// backends out is by bucket. Memory: about 20 MB for a log of 16 backends and 200,000 distinct latencies,
// whatever its length. Refused attempts are counted in endings() and are in nothing else; they never waited
// (DESIGN, the words). Threads: none; one Measurement a thread, merged at the end, then prepare().
class Measurement {
 public:
  static constexpr std::size_t kDistinctMax = ExactCounts::kDistinctMax;
  static constexpr std::size_t kRoutesMax = 1024;
  enum class Resolution { exact, bucket };

  Measurement();
  Measurement(Measurement&&) = default;
  Measurement& operator=(Measurement&&) = default;

  // `backends` and `routes` are the reader's tables the ids in the rows refer to; other tables at another
  // call are fine. Requires: elapsed and connect times >= 0.
  void add(std::span<const Attempt> attempts, const NameTable& backends, const NameTable& routes);
  void add(const AttemptColumns& rows, const NameTable& backends);
  // `count` endings of one latency without a backend, each a call (histogram files). at: about when, if
  // known; then they are in blocks() and seconds(), and not in starts() and longest(), which need the moment.
  void add_counts(Ending ending, Duration elapsed, std::uint64_t count,
                  std::optional<WallTime> at = std::nullopt);
  void merge(const Measurement& other, const RunBoth& run_both = run_in_turn);
  // After the last add or merge: any number of threads may ask from now on.
  void prepare(const RunBoth& run_both = run_in_turn) const;
  // Gives these backends the next ids, in this order, where they have none: then ids do not depend on what
  // was merged first.
  void expect_backends(std::span<const std::string> names);
  // Attempts that started at both ends of `span` are to come (TimeGrid::expect). Requires: nothing was added.
  void expect_starts(const TimeGrid::TimeSpan& span);
  // Gives the routes their ids in the order of their names: then ids do not depend on which thread met them.
  void order_routes_by_name();

  // --expected-interval: the calls a closed loop did not send while it waited (C14): for each that ended
  // after `elapsed` > interval, others that end so after elapsed - interval, ... down to one interval. They
  // are in endings() and tables, and, having no start of their own, not in the series over time. Requires:
  // interval > 0.
  void fill_in_expected(Duration interval);

  Resolution resolution() const;
  // That are kept by value; 0 where they are kept by bucket.
  std::size_t distinct_latencies() const { return exact_.dropped() ? 0 : exact_.distinct(); }
  std::uint64_t calls() const { return calls_; }            // Rows that began a call.
  std::uint64_t attempts() const;                           // All rows, refused ones too.
  std::array<std::uint64_t, kEndingCount> endings() const;  // Indexed by Ending.
  std::array<std::uint64_t, kEndingCount> endings_of(std::uint16_t backend) const;
  std::uint64_t untimed_give_ups() const { return untimed_give_ups_; }
  std::uint64_t exact_zeros() const { return exact_zeros_; }  // Replies with elapsed 0.

  // Endings by latency, over the backends for which `leave_out[id]` is not set (shorter than size: not set).
  EndingTable table(const std::vector<bool>& leave_out = {}) const;
  EndingTable table_of(std::uint16_t backend) const;
  // What is asked of each of many backends, without a table of it. The rows (their low, mid and high alone)
  // in which its replies, cumulated, reach these ranks: ascending, of 1 and above, nothing beyond its last
  // reply.
  std::vector<std::optional<EndingRow>> reply_rows_of(std::uint16_t backend,
                                                      std::span<const std::uint64_t> ranks) const;
  // Where its attempts ended so, by the low of their row, ascending, and how many. Requires: not replied.
  std::vector<std::pair<Duration, std::uint64_t>> ends_of(std::uint16_t backend, Ending ending) const;
  // Its rows joined, but not across give-ups and not across `split`: a curve over them is the table's curve
  // at `split` and at its end.
  EndingTable joined_table_of(std::uint16_t backend, Duration split) const;

  const NameTable& backends() const { return backends_; }
  // One histogram over replies for each route id, and its give-ups by the same buckets; those of id 0, no
  // route named, stay empty. With more than kRoutesMax routes none is kept, and routes_overflowed().
  const NameTable& routes() const { return routes_; }
  const std::vector<LatencyHistogram>& replies_by_route() const { return replies_by_route_; }
  const std::vector<BucketCounts>& give_ups_by_route() const { return give_ups_by_route_; }
  bool routes_overflowed() const { return routes_overflowed_; }
  const LatencyHistogram& connect_times() const { return connect_times_; }
  // Connect times as replies, by value while there are at most kDistinctMax of them.
  EndingTable connect_table() const;

  // Time. All empty where no row had a start.
  std::optional<WallTime> first_start() const;
  std::optional<WallTime> last_start() const;
  std::optional<WallTime> last_end() const;
  std::uint64_t with_start() const { return with_start_; }
  // At most 256 blocks (fewer with many backends). Series of a backend and an ending: series_of().
  const TimeGrid& blocks() const { return blocks_; }
  static std::uint32_t series_of(std::uint16_t backend, Ending ending) {
    return backend * static_cast<std::uint32_t>(kEndingCount) + static_cast<std::uint32_t>(ending);
  }
  // Seconds (or the least power of two of seconds that fits 8,192), 16 buckets an octave, every ending but
  // refused as one series 0: what callers waited.
  const TimeGrid& seconds() const { return seconds_; }
  // How many attempts started in each of at most 65,536 equal cells of time, aligned like a TimeGrid.
  struct Starts {
    WallTime first_cell_start{};
    Duration cell_length{};
    std::vector<std::uint32_t> counts;
  };
  Starts starts() const;
  // The longest attempts, at most kLongestMax, longest first: where a closed loop may have stood still.
  static constexpr std::size_t kLongestMax = Longest::kMax;
  using Interval = Longest::Interval;
  std::vector<Interval> longest() const { return longest_.sorted(); }

  // What a format says besides rows, set by the reader that knows it.
  std::uint64_t negative_elapsed = 0;  // Rows set aside for an impossible duration (C26).

 private:
  // How often a series was seen, and its exact ends.
  struct SeriesFacts {
    std::uint64_t count = 0;
    Duration min = Duration::max();
    Duration max = Duration(-1);

    void add(Duration elapsed, std::uint64_t times) {
      count += times;
      if (elapsed < min) min = elapsed;
      if (elapsed > max) max = elapsed;
    }
    void merge(const SeriesFacts& other);
  };
  // From a reader's id to ours. The name behind an id is looked at once a batch, so tables may come and go.
  struct IdMap {
    struct Entry {
      std::uint32_t checked_in_batch = 0;
      std::uint16_t id = 0;
    };
    std::vector<Entry> entries;
    std::uint32_t batch = 0;
    void begin_batch(std::size_t size);
  };

  struct Columns;
  void add_batch(std::span<const Attempt> attempts, const NameTable& backends, const NameTable& routes);
  void add_started(std::span<const WallTime> starts, std::span<const Duration> elapsed,
                   std::span<const std::uint16_t> series, std::span<const std::uint16_t> buckets);
  void add_others(std::span<const Duration> elapsed, std::span<const std::uint16_t> series,
                  std::span<const std::uint16_t> buckets);
  TimeGrid::TimeSpan add_times(std::span<const WallTime> starts, std::span<const Duration> elapsed);
  void add_connects(Duration connect, std::uint64_t count);
  std::uint16_t route_id_of(std::uint16_t reader_id, const NameTable& routes);
  std::uint16_t backend_id_of(std::uint16_t reader_id, const NameTable& backends);
  std::uint16_t add_backend(const std::string& name);
  std::optional<std::uint16_t> add_route(const std::string& name);
  void forget_routes();
  void add_without_start(std::uint32_t series, Duration elapsed, std::uint64_t count);
  void fill_in_exact(Duration elapsed, std::uint16_t series, std::uint64_t count, Duration interval);
  void fill_in_buckets(Duration elapsed, std::uint16_t series, std::uint64_t count, Duration interval);
  bool is_in_table(std::size_t backend) const;
  void visit_rows(const std::vector<bool>& included, const VisitRow& visit) const;
  bool is_exact_by_backend() const { return !exact_.dropped() && !exact_.pooled(); }
  EndingTable bucket_table(const std::vector<bool>& included) const;

  NameTable backends_;
  NameTable routes_;
  IdMap backend_ids_;
  IdMap route_ids_;
  std::vector<SeriesFacts> facts_;           // By series.
  std::vector<BucketCounts> without_start_;  // By series.
  ExactCounts exact_;
  TimeGrid blocks_;
  TimeGrid seconds_;
  StartCells starts_;
  Longest longest_;
  std::vector<LatencyHistogram> replies_by_route_;
  std::vector<BucketCounts> give_ups_by_route_;
  LatencyHistogram connect_times_;
  ExactCounts exact_connects_;  // One series, 0.
  bool routes_overflowed_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t untimed_give_ups_ = 0;
  std::uint64_t exact_zeros_ = 0;
  std::uint64_t with_start_ = 0;
  WallTime first_start_ = WallTime::max();
  WallTime last_start_ = WallTime::min();
  WallTime last_end_ = WallTime::min();
};

}  // namespace overdue
