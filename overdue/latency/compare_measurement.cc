#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "overdue/latency/compare.h"
#include "overdue/latency/measurement.h"
#include "overdue/latency/redistribution.h"

namespace overdue {
namespace {

constexpr std::uint32_t kCompareBlocks = 16;
constexpr std::uint64_t kTimeoutsForLimit = 5;
constexpr std::uint64_t kLimitShareDivisor = 4;  // A quarter of the timed-out calls.
constexpr std::array<Ending, 3> kWaitedEndings = {Ending::replied, Ending::timed_out, Ending::abandoned};

// By latency in whatever steps a source has them: how many calls timed out.
struct TimedOutAt {
  std::uint64_t total = 0;
  std::vector<std::pair<std::int64_t, std::uint64_t>> counts;

  void add(std::int64_t position, std::uint64_t count) {
    if (count == 0) return;
    total += count;
    counts.emplace_back(position, count);
  }
  // Where a quarter of them had ended. Requires: total > 0.
  std::int64_t limit() {
    std::ranges::sort(counts);
    const std::uint64_t rank = (total + kLimitShareDivisor - 1) / kLimitShareDivisor;
    std::uint64_t seen = 0;
    for (const auto& [position, count] : counts) {
      seen += count;
      if (seen >= rank) return position;
    }
    return counts.back().first;
  }
};

std::optional<std::int64_t> common_limit(std::vector<TimedOutAt>& replicas) {
  std::optional<std::int64_t> least;
  TimedOutAt all;
  for (TimedOutAt& replica : replicas) {
    for (const auto& [position, count] : replica.counts) all.add(position, count);
    if (replica.total < kTimeoutsForLimit) continue;
    const std::int64_t limit = replica.limit();
    if (!least || limit < *least) least = limit;
  }
  if (!least && all.total > 0) least = all.limit();
  return least;
}

std::uint64_t waited_of(const ReplicaCalls& replica) {
  std::uint64_t waited = 0;
  for (const Ending ending : kWaitedEndings) waited += replica.endings[static_cast<std::size_t>(ending)];
  return waited;
}

// Beyond the limit is as good as never.
std::optional<Duration> within(std::optional<Duration> limit, const std::optional<EndingRow>& row) {
  return row && !(limit && row->low > *limit) ? std::optional(row->mid) : std::nullopt;
}

std::optional<double> mean_within(std::optional<Duration> limit,
                                  std::span<const std::optional<EndingRow>> rows) {
  double sum = 0;
  for (const std::optional<EndingRow>& row : rows) {
    const auto latency = within(limit, row);
    if (!latency) return std::nullopt;
    sum += static_cast<double>(latency->count());
  }
  return sum / static_cast<double>(rows.size());
}

std::vector<std::uint16_t> named_backends(const Measurement& measurement) {
  std::vector<std::uint16_t> backends;
  for (std::size_t id = 1; id < measurement.backends().size(); ++id) {
    const auto backend = static_cast<std::uint16_t>(id);
    const auto endings = measurement.endings_of(backend);
    if (std::ranges::any_of(endings, [](std::uint64_t count) { return count > 0; }))
      backends.push_back(backend);
  }
  return backends;
}

// Requires: nothing above the bucket yet.
void add_last(SparseCounts& counts, std::uint32_t bucket, std::uint64_t count) {
  if (count == 0) return;
  if (!counts.empty() && counts.back().bucket == bucket) {
    counts.back().count += count;
  } else {
    counts.push_back({bucket, count});
  }
}

void read_untimed_block(const EndingTable& table, std::optional<Duration> limit, ReplicaCalls& replica) {
  SparseCounts block;
  SparseCounts left;
  std::uint64_t beyond = 0;
  for (const EndingRow& row : table) {
    const std::uint32_t bucket = LatencyHistogram::bucket_of(std::max(row.mid, Duration{}));
    const bool late = limit && row.low > *limit;
    const bool early = !limit || row.low < *limit;
    add_last(block, bucket, late ? 0 : row.replied);
    add_last(left, bucket, early ? row.gave_up() : 0);
    beyond += (late ? row.replied : 0) + (early ? 0 : row.gave_up());
  }
  add_last(block, ReplicaCalls::kBeyondLimit, beyond);
  replica.blocks.push_back(std::move(block));
  if (!left.empty()) replica.left.push_back(std::move(left));
}

// The first of its calls to be given up.
std::optional<Duration> first_give_up(const Measurement& measurement, const ReplicaCalls& replica,
                                      const TimedOutAt& timed_out) {
  std::optional<Duration> first;
  for (const auto& [latency, count] : timed_out.counts)
    first = std::min(first.value_or(Duration::max()), Duration(latency));
  if (replica.endings[static_cast<std::size_t>(Ending::abandoned)] == 0) return first;
  for (const auto& [latency, count] : measurement.ends_of(replica.backend, Ending::abandoned))
    first = std::min(first.value_or(Duration::max()), latency);
  return first;
}

// Of the middle half, the median amidst them, and last of the p95.
constexpr std::size_t kMiddle = 25;
using Ranks = std::array<std::uint64_t, kMiddle + 1>;

Ranks ranks_of(std::uint64_t waited) {
  Ranks ranks{};
  for (std::size_t i = 0; i < kMiddle; ++i)
    ranks[i] = rank_of(Quantile(static_cast<double>(13 + i) / 50), waited);  // 26, 28, ... 74 %.
  ranks[kMiddle] = rank_of(Quantile(0.95), waited);
  return ranks;
}

// The replies, counted from the fastest, with which the calls that waited reach the ranks: those given up
// from the limit on as infinite, those before it as far as they were watched. One more than there are: not
// seen. Requires: ranks ascend, and somebody waited.
Ranks reply_ranks(const Measurement& measurement, const ReplicaCalls& replica, std::optional<Duration> limit,
                  Ranks ranks) {
  const std::uint64_t waited = waited_of(replica);
  Redistribution calls(waited);
  std::uint64_t seen = 0;
  std::size_t found = 0;
  for (const EndingRow& row : measurement.joined_table_of(replica.backend, limit.value_or(Duration::max()))) {
    if (limit && row.low > *limit) break;
    for (; found < ranks.size() && row.replied > 0; ++found) {
      const double to_come = calls.still_open() - static_cast<double>(waited - ranks[found]);
      const double needed = std::max(std::ceil(to_come / calls.weight() * (1 - 1e-12)), 1.0);
      if (needed > static_cast<double>(row.replied)) break;
      ranks[found] = seen + static_cast<std::uint64_t>(needed);
    }
    seen += row.replied;
    calls.reply(row.replied);
    calls.give_up(row.gave_up());
  }
  for (; found < ranks.size(); ++found)
    ranks[found] = replica.endings[static_cast<std::size_t>(Ending::replied)] + 1;
  return ranks;
}

// The median and the p95 are of the calls that waited.
void read_tables(const Measurement& measurement, FleetCalls& fleet) {
  std::vector<TimedOutAt> timed_out;
  for (const ReplicaCalls& replica : fleet.replicas) {
    TimedOutAt& at = timed_out.emplace_back();
    for (const auto& [latency, count] : measurement.ends_of(replica.backend, Ending::timed_out))
      at.add(latency.count(), count);
  }
  if (const auto limit = common_limit(timed_out)) fleet.limit = Duration(*limit);
  for (std::size_t i = 0; i < fleet.replicas.size(); ++i) {
    ReplicaCalls& replica = fleet.replicas[i];
    if (const std::uint64_t waited = waited_of(replica); waited > 0) {
      Ranks ranks = ranks_of(waited);
      const auto first = first_give_up(measurement, replica, timed_out[i]);
      if (first && !(fleet.limit && *first >= *fleet.limit))
        ranks = reply_ranks(measurement, replica, fleet.limit, ranks);
      const auto rows = measurement.reply_rows_of(replica.backend, ranks);
      replica.median = within(fleet.limit, rows[kMiddle / 2]);
      replica.p95 = within(fleet.limit, rows[kMiddle]);
      replica.middle = mean_within(fleet.limit, std::span(rows).first(kMiddle));
    }
    if (!fleet.timed) read_untimed_block(measurement.table_of(replica.backend), fleet.limit, replica);
  }
}

// Counts by bucket, cleared in the time it took to fill them: thousands of backends share one.
class BucketSums {
 public:
  // Adds the series in the grid's blocks [from, to).
  void add(const TimeGrid& grid, std::uint32_t series, std::uint32_t from, std::uint32_t to) {
    if (series >= grid.series_count()) return;
    for (std::uint32_t b = from; b < to; ++b) {
      const BucketCounts& counts = grid.at(series, b);
      if (counts.empty()) continue;
      const std::size_t end = std::size_t{counts.first()} + counts.size();
      if (sums_.size() < end) sums_.resize(end);
      first_ = std::min<std::size_t>(first_, counts.first());
      end_ = std::max(end_, end);
      counts.add_to(sums_);
    }
  }
  // Hands every bucket with calls to `use` in ascending order, and forgets it.
  template <typename Use>
  void drain(const Use& use) {
    for (std::size_t bucket = first_; bucket < end_; ++bucket) {
      if (sums_[bucket] > 0) use(static_cast<std::uint32_t>(bucket), sums_[bucket]);
      sums_[bucket] = 0;
    }
    first_ = sums_.size();
    end_ = 0;
  }

 private:
  std::vector<std::uint64_t> sums_;
  std::size_t first_ = std::numeric_limits<std::size_t>::max();
  std::size_t end_ = 0;
};

std::optional<std::int64_t> grid_limit(const TimeGrid& grid, const FleetCalls& fleet) {
  std::vector<TimedOutAt> timed_out;
  BucketSums sums;
  for (const ReplicaCalls& replica : fleet.replicas) {
    TimedOutAt& at = timed_out.emplace_back();
    sums.add(grid, Measurement::series_of(replica.backend, Ending::timed_out), 0, grid.block_count());
    sums.drain([&at](std::uint32_t bucket, std::uint64_t count) { at.add(bucket, count); });
  }
  return common_limit(timed_out);
}

struct JoinedBlock {
  std::uint16_t backend;
  std::uint32_t from;  // Blocks of the grid, [from, to).
  std::uint32_t to;
  std::optional<std::int64_t> limit;
};

// Of one replica, and with `left` those it was given up in before the limit.
SparseCounts joined_counts(const TimeGrid& grid, const JoinedBlock& block, BucketSums& sums,
                           SparseCounts& left) {
  SparseCounts counts;
  std::uint64_t beyond = 0;
  sums.add(grid, Measurement::series_of(block.backend, Ending::replied), block.from, block.to);
  sums.drain([&](std::uint32_t bucket, std::uint64_t count) {
    if (block.limit && bucket > *block.limit) {
      beyond += count;
    } else {
      counts.push_back({bucket, count});
    }
  });
  for (const Ending ending : {Ending::timed_out, Ending::abandoned})
    sums.add(grid, Measurement::series_of(block.backend, ending), block.from, block.to);
  sums.drain([&](std::uint32_t bucket, std::uint64_t count) {
    if (block.limit && bucket >= *block.limit) {
      beyond += count;
    } else {
      left.push_back({bucket, count});
    }
  });
  add_last(counts, ReplicaCalls::kBeyondLimit, beyond);
  return counts;
}

// The grid's blocks with a call of the fleet that waited. A log that is silent for most of its time (two
// files of ten minutes a day apart, one call that began an hour before the others) has few of the others.
std::vector<std::uint32_t> used_blocks(const TimeGrid& grid, const FleetCalls& fleet) {
  const auto is_used = [&](std::uint32_t block) {
    return std::ranges::any_of(fleet.replicas, [&](const ReplicaCalls& replica) {
      return std::ranges::any_of(kWaitedEndings, [&](Ending ending) {
        const std::uint32_t series = Measurement::series_of(replica.backend, ending);
        return series < grid.series_count() && !grid.at(series, block).empty();
      });
    });
  };
  std::vector<std::uint32_t> used;
  for (std::uint32_t block = 0; block < grid.block_count(); ++block) {
    if (is_used(block)) used.push_back(block);
  }
  return used;
}

void read_blocks(const TimeGrid& grid, FleetCalls& fleet) {
  const auto limit = grid_limit(grid, fleet);
  const std::vector<std::uint32_t> used = used_blocks(grid, fleet);
  const std::size_t joined = std::min<std::size_t>(kCompareBlocks, used.size());
  BucketSums sums;
  for (ReplicaCalls& replica : fleet.replicas) {
    bool any_left = false;
    replica.left.resize(joined);
    for (std::size_t j = 0; j < joined; ++j) {
      const std::uint32_t from = used[j * used.size() / joined];
      const std::uint32_t to = used[(j + 1) * used.size() / joined - 1] + 1;
      SparseCounts& left = replica.left[j];
      replica.blocks.push_back(joined_counts(grid, {replica.backend, from, to, limit}, sums, left));
      any_left = any_left || !left.empty();
    }
    if (!any_left) replica.left = {};
  }
}

}  // namespace

FleetCalls fleet_calls(const Measurement& measurement) {
  FleetCalls fleet;
  // Blocks hold the attempts with a start; where most have none, all of them without blocks say more.
  fleet.timed = !measurement.blocks().empty() && measurement.with_start() * 2 >= measurement.attempts();
  for (const std::uint16_t backend : named_backends(measurement)) {
    ReplicaCalls& replica = fleet.replicas.emplace_back();
    replica.name = measurement.backends().name_of(backend);
    replica.backend = backend;
    replica.judged = replica.name != NameTable::kOverflowName;
    replica.endings = measurement.endings_of(backend);
  }
  read_tables(measurement, fleet);
  if (fleet.timed) read_blocks(measurement.blocks(), fleet);
  return fleet;
}

Comparison compare_replicas(const Measurement& measurement) {
  return compare_replicas(fleet_calls(measurement));
}

}  // namespace overdue
