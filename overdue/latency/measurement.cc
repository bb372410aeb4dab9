#include "overdue/latency/measurement.h"

#include <algorithm>
#include <limits>

#include "overdue/base/check.h"
#include "overdue/latency/exact_counts_merge.h"

namespace overdue {
namespace {

constexpr std::size_t kBatchRows = ExactCounts::kBatchMax;

// A sixteenth of a second, so that longer blocks are whole seconds; four seconds of log fill 64 blocks.
constexpr Duration kBlockLengthMin = std::chrono::microseconds(62'500);

// Few blocks for many backends, so that backends times blocks is bounded: 256 up to 16 backends, 32 up to
// 1,024, then fewer, down to 8.
std::uint32_t blocks_max_for(std::size_t backends) {
  std::uint32_t blocks = 256;
  while (blocks > 32 && backends * blocks > 4096) blocks /= 2;
  while (blocks > 8 && backends * blocks > 32'768) blocks /= 2;
  return blocks;
}

WallTime end_of(WallTime start, Duration elapsed) {
  return start > WallTime::max() - elapsed ? WallTime::max() : start + elapsed;
}

}  // namespace

Measurement::Measurement()
    : facts_(kEndingCount),
      without_start_(kEndingCount),
      blocks_({.block_length_min = kBlockLengthMin, .blocks_max = blocks_max_for(1), .bucket_shift = 0}),
      seconds_({.block_length_min = std::chrono::seconds(1), .blocks_max = 8192, .bucket_shift = 2}),
      replies_by_route_(1),
      give_ups_by_route_(1) {}

void Measurement::SeriesFacts::merge(const SeriesFacts& other) {
  count += other.count;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

void Measurement::IdMap::begin_batch(std::size_t size) {
  if (entries.size() < size) entries.resize(size);
  if (++batch != 0) return;
  entries.assign(size, Entry{});  // Once in 2^32 batches the numbers begin anew.
  batch = 1;
}

void Measurement::expect_backends(std::span<const std::string> names) {
  for (const std::string& name : names) add_backend(name);
}

void Measurement::expect_starts(const TimeGrid::TimeSpan& span) {
  blocks_.expect(span);
  seconds_.expect(span);
  starts_.expect(span.first, span.last);
}

void Measurement::add(std::span<const Attempt> attempts, const NameTable& backends, const NameTable& routes) {
  for (std::size_t done = 0; done < attempts.size(); done += kBatchRows) {
    add_batch(attempts.subspan(done, std::min(kBatchRows, attempts.size() - done)), backends, routes);
  }
}

// The rows of a batch that waited, column by column: a pass over a column keeps its few values in registers
// and lets the loads of many rows run side by side. Rows with a start fill the columns from the front, others
// from the back.
struct Measurement::Columns {
  std::array<Duration, kBatchRows> elapsed;
  std::array<WallTime, kBatchRows> start;
  std::array<std::uint16_t, kBatchRows> series;
  std::array<std::uint16_t, kBatchRows> bucket;
  std::size_t with_start = 0;
  std::size_t first_without_start = kBatchRows;
};

// How often connecting took so many whole milliseconds, below 32: nearly all of a batch, of few different
// ones.
class ConnectTally {
 public:
  bool try_add(Duration connect) {
    const auto whole = static_cast<std::uint64_t>(connect.count()) / kTick;
    if (whole >= counts_.size() || static_cast<std::uint64_t>(connect.count()) != whole * kTick) return false;
    ++counts_[whole];
    return true;
  }
  template <typename Use>
  void for_each(const Use& use) const {
    for (std::size_t whole = 0; whole < counts_.size(); ++whole) {
      if (counts_[whole] > 0) use(Duration(static_cast<std::int64_t>(whole * kTick)), counts_[whole]);
    }
  }

 private:
  static constexpr std::uint64_t kTick = 1'000'000;
  std::array<std::uint32_t, 32> counts_{};
};

void Measurement::add_batch(std::span<const Attempt> attempts, const NameTable& backends,
                            const NameTable& routes) {
  backend_ids_.begin_batch(backends.size());
  route_ids_.begin_batch(routes.size());
  Columns columns;
  std::uint64_t calls = 0;
  ConnectTally connects;
  std::int64_t all_elapsed = 0;  // Negative if any is.
  for (const Attempt& row : attempts) {
    const std::uint32_t series = series_of(backend_id_of(row.backend, backends), row.ending);
    calls += row.begins_call ? 1 : 0;
    if (row.ending == Ending::refused) [[unlikely]] {
      ++facts_[series].count;
      continue;
    }
    const std::size_t at = row.has_start ? columns.with_start++ : --columns.first_without_start;
    all_elapsed |= row.elapsed.count();
    columns.elapsed[at] = row.elapsed;
    columns.start[at] = row.start;
    columns.series[at] = static_cast<std::uint16_t>(series);
    columns.bucket[at] = static_cast<std::uint16_t>(LatencyHistogram::bucket_of(row.elapsed));
    facts_[series].add(row.elapsed, 1);
    if (row.has_connect && !connects.try_add(row.connect)) add_connects(row.connect, 1);
    if (row.ending == Ending::replied) {
      if (row.elapsed == Duration(0)) [[unlikely]]
        ++exact_zeros_;
      if (row.route == 0) continue;
      if (const std::uint16_t route = route_id_of(row.route, routes); route != 0)
        replies_by_route_[route].add(row.elapsed);
    } else if (row.ending == Ending::timed_out || row.ending == Ending::abandoned) {
      untimed_give_ups_ += row.untimed ? 1 : 0;
      if (row.route == 0) continue;
      if (const std::uint16_t route = route_id_of(row.route, routes); route != 0)
        give_ups_by_route_[route].add(LatencyHistogram::bucket_of(row.elapsed));
    }
  }
  connects.for_each([this](Duration connect, std::uint64_t count) { add_connects(connect, count); });
  OVERDUE_CHECK(all_elapsed >= 0);
  calls_ += calls;
  const auto started = [&columns](const auto& column) { return std::span(column).first(columns.with_start); };
  const auto others = [&columns](const auto& column) {
    return std::span(column).subspan(columns.first_without_start);
  };
  const Columns& all = columns;
  add_started(started(all.start), started(all.elapsed), started(all.series), started(all.bucket));
  add_others(others(all.elapsed), others(all.series), others(all.bucket));
}

void Measurement::add_connects(Duration connect, std::uint64_t count) {
  if (count == 0) return;
  connect_times_.add(connect, count);
  exact_connects_.add(connect, 0, count);
}

void Measurement::add_started(std::span<const WallTime> starts, std::span<const Duration> elapsed,
                              std::span<const std::uint16_t> series, std::span<const std::uint16_t> buckets) {
  if (starts.empty()) return;
  exact_.add(elapsed, series);
  const TimeGrid::TimeSpan span = add_times(starts, elapsed);
  blocks_.add(series, starts, span, buckets);
  seconds_.add(0, starts, span, buckets);
  starts_.add(starts);
}

void Measurement::add_others(std::span<const Duration> elapsed, std::span<const std::uint16_t> series,
                             std::span<const std::uint16_t> buckets) {
  exact_.add(elapsed, series);
  for (std::size_t at = 0; at < series.size(); ++at) without_start_[series[at]].add(buckets[at]);
}

void Measurement::add(const AttemptColumns& rows, const NameTable& backends) {
  backend_ids_.begin_batch(backends.size());
  std::array<std::uint16_t, AttemptColumns::kRowsMax> series;
  std::array<std::uint16_t, AttemptColumns::kRowsMax> bucket;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t at = 0; at < rows.size; ++at) {
    const std::uint16_t backend = backend_id_of(rows.backend[at], backends);
    const std::uint32_t own = series_of(backend, rows.ending[at]);
    series[at] = static_cast<std::uint16_t>(own);
    bucket[at] = static_cast<std::uint16_t>(LatencyHistogram::bucket_of(rows.elapsed[at]));
    facts_[own].add(rows.elapsed[at], 1);
    const std::int64_t elapsed = rows.elapsed[at].count();
    least = elapsed < least ? elapsed : least;
  }
  OVERDUE_CHECK(least > 0);
  calls_ += rows.size;
  const std::span elapsed = std::span(rows.elapsed).first(rows.size);
  const std::span its_series = std::span<const std::uint16_t>(series).first(rows.size);
  const std::span its_bucket = std::span<const std::uint16_t>(bucket).first(rows.size);
  if (rows.has_start) {
    add_started(std::span(rows.start).first(rows.size), elapsed, its_series, its_bucket);
  } else {
    add_others(elapsed, its_series, its_bucket);
  }
}

// Requires: not empty. Returns from when to when they started.
TimeGrid::TimeSpan Measurement::add_times(std::span<const WallTime> starts,
                                          std::span<const Duration> elapsed) {
  with_start_ += starts.size();
  // Plain numbers and comparisons: std::min of objects goes through memory.
  std::int64_t first = starts.front().time_since_epoch().count();
  std::int64_t last = first;
  std::int64_t end = last_end_.time_since_epoch().count();
  for (std::size_t at = 0; at < starts.size(); ++at) {
    const std::int64_t start = starts[at].time_since_epoch().count();
    std::int64_t ended = 0;
    if (__builtin_add_overflow(start, elapsed[at].count(), &ended)) [[unlikely]]
      ended = std::numeric_limits<std::int64_t>::max();
    first = start < first ? start : first;
    last = start > last ? start : last;
    end = ended > end ? ended : end;
    if (longest_.may_keep(elapsed[at])) [[unlikely]]
      longest_.add({starts[at], elapsed[at]});
  }
  const TimeGrid::TimeSpan span{WallTime(Duration(first)), WallTime(Duration(last))};
  first_start_ = std::min(first_start_, span.first);
  last_start_ = std::max(last_start_, span.last);
  last_end_ = WallTime(Duration(end));
  return span;
}

inline std::uint16_t Measurement::backend_id_of(std::uint16_t reader_id, const NameTable& backends) {
  IdMap::Entry& entry = backend_ids_.entries[reader_id];
  if (entry.checked_in_batch != backend_ids_.batch) [[unlikely]] {
    entry.checked_in_batch = backend_ids_.batch;
    const std::string& name = backends.name_of(reader_id);
    if (backends_.name_of(entry.id) != name) entry.id = add_backend(name);
  }
  return entry.id;
}

std::uint16_t Measurement::add_backend(const std::string& name) {
  const std::uint16_t id = backends_.id_of(name);
  if (backends_.size() * kEndingCount > facts_.size()) {
    facts_.resize(backends_.size() * kEndingCount);
    without_start_.resize(facts_.size());
    blocks_.limit_blocks(blocks_max_for(backends_.size() - 1));
  }
  return id;
}

// 0 where none is kept.
inline std::uint16_t Measurement::route_id_of(std::uint16_t reader_id, const NameTable& routes) {
  if (routes_overflowed_) return 0;
  IdMap::Entry& entry = route_ids_.entries[reader_id];
  if (entry.checked_in_batch != route_ids_.batch) [[unlikely]] {
    entry.checked_in_batch = route_ids_.batch;
    const std::string& name = routes.name_of(reader_id);
    if (routes_.name_of(entry.id) != name) entry.id = add_route(name).value_or(0);
  }
  return entry.id;
}

std::optional<std::uint16_t> Measurement::add_route(const std::string& name) {
  const std::uint16_t id = routes_.id_of(name);
  if (routes_.size() > kRoutesMax + 1) {
    forget_routes();
    return std::nullopt;
  }
  replies_by_route_.resize(routes_.size());
  give_ups_by_route_.resize(routes_.size());
  return id;
}

void Measurement::forget_routes() {
  routes_overflowed_ = true;
  routes_ = NameTable();
  replies_by_route_ = {};
  give_ups_by_route_ = {};
}

void Measurement::add_without_start(std::uint32_t series, Duration elapsed, std::uint64_t count) {
  facts_[series].add(elapsed, count);
  without_start_[series].add(LatencyHistogram::bucket_of(elapsed), count);
}

void Measurement::add_counts(Ending ending, Duration elapsed, std::uint64_t count,
                             std::optional<WallTime> at) {
  OVERDUE_CHECK(elapsed >= Duration(0));
  if (count == 0) return;
  const std::uint32_t series = series_of(0, ending);
  calls_ += count;
  if (ending == Ending::refused) {
    facts_[series].count += count;
    return;
  }
  if (ending == Ending::replied && elapsed == Duration(0)) exact_zeros_ += count;
  exact_.add(elapsed, static_cast<std::uint16_t>(series), count);
  if (!at) return add_without_start(series, elapsed, count);
  facts_[series].add(elapsed, count);
  const std::uint32_t bucket = LatencyHistogram::bucket_of(elapsed);
  blocks_.add(series, *at, bucket, count);
  seconds_.add(0, *at, bucket, count);
  with_start_ += count;
  first_start_ = std::min(first_start_, *at);
  last_start_ = std::max(last_start_, *at);
  last_end_ = std::max(last_end_, end_of(*at, elapsed));
}

void Measurement::merge(const Measurement& other, const RunBoth& run_both) {
  std::vector<std::uint32_t> to_series(other.facts_.size());
  std::vector<std::uint16_t> to_exact_series(other.facts_.size());
  for (std::uint16_t backend = 0; backend < other.backends_.size(); ++backend) {
    const std::uint16_t own = add_backend(other.backends_.name_of(backend));
    for (std::uint32_t ending = 0; ending < kEndingCount; ++ending) {
      const std::uint32_t from = backend * static_cast<std::uint32_t>(kEndingCount) + ending;
      to_series[from] = series_of(own, static_cast<Ending>(ending));
      to_exact_series[from] = static_cast<std::uint16_t>(to_series[from]);
      facts_[to_series[from]].merge(other.facts_[from]);
      without_start_[to_series[from]].merge(other.without_start_[from]);
    }
  }
  ExactCounts::Merge exact(exact_, other.exact_, to_exact_series);
  run_both([&] { exact.begin(); },
           [&] {
             blocks_.merge(other.blocks_, to_series);
             seconds_.merge(other.seconds_, {0});
           });
  static_assert(ExactCounts::Merge::kParts == 2);
  run_both([&] { exact.add_rows(0); }, [&] { exact.add_rows(1); });
  exact.finish();
  starts_.merge(other.starts_);
  longest_.merge(other.longest_);
  connect_times_.merge(other.connect_times_);
  exact_connects_.merge(other.exact_connects_, {0});
  if (other.routes_overflowed_ && !routes_overflowed_) forget_routes();
  for (std::uint16_t route = 1; route < other.routes_.size() && !routes_overflowed_; ++route) {
    const std::optional<std::uint16_t> own = add_route(other.routes_.name_of(route));
    if (!own) break;
    replies_by_route_[*own].merge(other.replies_by_route_[route]);
    give_ups_by_route_[*own].merge(other.give_ups_by_route_[route]);
  }
  calls_ += other.calls_;
  untimed_give_ups_ += other.untimed_give_ups_;
  exact_zeros_ += other.exact_zeros_;
  with_start_ += other.with_start_;
  first_start_ = std::min(first_start_, other.first_start_);
  last_start_ = std::max(last_start_, other.last_start_);
  last_end_ = std::max(last_end_, other.last_end_);
  negative_elapsed += other.negative_elapsed;
}

}  // namespace overdue
