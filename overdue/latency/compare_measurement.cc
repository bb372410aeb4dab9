#include <algorithm>
#include <limits>

#include "overdue/latency/compare.h"
#include "overdue/latency/measurement.h"

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

SparseCounts untimed_block(const EndingTable& table, std::optional<Duration> limit) {
  SparseCounts block;
  std::uint64_t beyond = 0;
  for (const EndingRow& row : table) {
    const bool late = limit && row.low > *limit;
    beyond += row.gave_up() + (late ? row.replied : 0);
    if (late || row.replied == 0) continue;
    const std::uint32_t bucket = LatencyHistogram::bucket_of(std::max(row.mid, Duration{}));
    if (!block.empty() && block.back().bucket == bucket) {
      block.back().count += row.replied;
    } else {
      block.push_back({bucket, row.replied});
    }
  }
  if (beyond > 0) block.push_back({ReplicaCalls::kBeyondLimit, beyond});
  return block;
}

// The median and the p95 are of the calls that waited, those without a reply as infinite.
void read_tables(const Measurement& measurement, FleetCalls& fleet) {
  std::vector<TimedOutAt> timed_out;
  for (const ReplicaCalls& replica : fleet.replicas) {
    TimedOutAt& at = timed_out.emplace_back();
    for (const auto& [latency, count] : measurement.ends_of(replica.backend, Ending::timed_out))
      at.add(latency.count(), count);
  }
  if (const auto limit = common_limit(timed_out)) fleet.limit = Duration(*limit);
  for (ReplicaCalls& replica : fleet.replicas) {
    if (const std::uint64_t waited = waited_of(replica); waited > 0) {
      const std::array ranks = {rank_of(Quantile(0.5), waited), rank_of(Quantile(0.95), waited)};
      const auto rows = measurement.reply_rows_of(replica.backend, ranks);
      replica.median = within(fleet.limit, rows[0]);
      replica.p95 = within(fleet.limit, rows[1]);
    }
    if (!fleet.timed)
      replica.blocks.push_back(untimed_block(measurement.table_of(replica.backend), fleet.limit));
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

SparseCounts joined_counts(const TimeGrid& grid, const JoinedBlock& block, BucketSums& sums) {
  SparseCounts counts;
  std::uint64_t beyond = 0;
  for (const Ending ending : kWaitedEndings) {
    sums.add(grid, Measurement::series_of(block.backend, ending), block.from, block.to);
    sums.drain([&](std::uint32_t bucket, std::uint64_t count) {
      if (ending != Ending::replied || (block.limit && bucket > *block.limit)) {
        beyond += count;
      } else {
        counts.push_back({bucket, count});
      }
    });
  }
  if (beyond > 0) counts.push_back({ReplicaCalls::kBeyondLimit, beyond});
  return counts;
}

void read_blocks(const TimeGrid& grid, FleetCalls& fleet) {
  const auto limit = grid_limit(grid, fleet);
  const std::uint32_t joined = std::min(kCompareBlocks, grid.block_count());
  BucketSums sums;
  for (ReplicaCalls& replica : fleet.replicas) {
    for (std::uint32_t j = 0; j < joined; ++j) {
      const std::uint32_t from = j * grid.block_count() / joined;
      const std::uint32_t to = (j + 1) * grid.block_count() / joined;
      replica.blocks.push_back(joined_counts(grid, {replica.backend, from, to, limit}, sums));
    }
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
