#include <algorithm>
#include <utility>

#include "overdue/base/check.h"
#include "overdue/latency/measurement.h"

// What is asked of a Measurement once the log is read: tables, and the two corrections a user may ask for.

namespace overdue {
namespace {

constexpr auto kEndings = static_cast<std::uint32_t>(kEndingCount);

// How many steps of `interval` can be taken from `elapsed` and leave at least one interval.
std::uint64_t steps_below(Duration elapsed, Duration interval) {
  return elapsed < interval ? 0 : static_cast<std::uint64_t>(elapsed / interval) - 1;
}

}  // namespace

Measurement::Resolution Measurement::resolution() const {
  return exact_.dropped() ? Resolution::bucket : Resolution::exact;
}

std::array<std::uint64_t, kEndingCount> Measurement::endings_of(std::uint16_t backend) const {
  OVERDUE_CHECK(backend < backends_.size());
  std::array<std::uint64_t, kEndingCount> counts{};
  for (std::uint32_t ending = 0; ending < kEndings; ++ending)
    counts[ending] = facts_[backend * kEndings + ending].count;
  return counts;
}

std::array<std::uint64_t, kEndingCount> Measurement::endings() const {
  std::array<std::uint64_t, kEndingCount> counts{};
  for (std::size_t series = 0; series < facts_.size(); ++series)
    counts[series % kEndingCount] += facts_[series].count;
  return counts;
}

std::uint64_t Measurement::attempts() const {
  std::uint64_t sum = 0;
  for (const SeriesFacts& facts : facts_) sum += facts.count;
  return sum;
}

std::optional<WallTime> Measurement::first_start() const {
  return with_start_ == 0 ? std::nullopt : std::optional(first_start_);
}
std::optional<WallTime> Measurement::last_start() const {
  return with_start_ == 0 ? std::nullopt : std::optional(last_start_);
}
std::optional<WallTime> Measurement::last_end() const {
  return with_start_ == 0 ? std::nullopt : std::optional(last_end_);
}

Measurement::Starts Measurement::starts() const {
  if (starts_.empty()) return {};
  return {starts_.first_cell_start(), starts_.cell_length(), starts_.counts()};
}

void Measurement::prepare(const RunBoth& run_both) const {
  if (!exact_.dropped()) exact_.prepare(run_both);
  if (!exact_connects_.dropped()) exact_connects_.prepare();
}

EndingTable Measurement::table(const std::vector<bool>& leave_out) const {
  std::vector<bool> included(backends_.size());
  for (std::size_t backend = 0; backend < included.size(); ++backend) {
    included[backend] = backend >= leave_out.size() || !leave_out[backend];
  }
  EndingTable table;
  if (!exact_.dropped()) table.reserve(exact_.distinct());  // One allocation: large tables must not double.
  visit_rows(included, [&table](const EndingRow& row) { table.push_back(row); });
  return table;
}

EndingTable Measurement::table_of(std::uint16_t backend) const {
  OVERDUE_CHECK(backend < backends_.size());
  std::vector<bool> included(backends_.size());
  included[backend] = true;
  EndingTable table;
  visit_rows(included, [&table](const EndingRow& row) { table.push_back(row); });
  return table;
}

std::vector<std::optional<EndingRow>> Measurement::reply_rows_of(std::uint16_t backend,
                                                                 std::span<const std::uint64_t> ranks) const {
  std::vector<std::optional<EndingRow>> rows(ranks.size());
  if (is_exact_by_backend()) {
    const std::vector<std::optional<Duration>> latencies = exact_.replies_at(backend, ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (const auto at = latencies[i]) rows[i] = EndingRow{.low = *at, .mid = *at, .high = *at};
    }
    return rows;
  }
  std::uint64_t seen = 0;
  std::size_t found = 0;
  for (const EndingRow& row : table_of(backend)) {
    seen += row.replied;
    for (; found < ranks.size() && seen >= ranks[found]; ++found)
      rows[found] = EndingRow{.low = row.low, .mid = row.mid, .high = row.high};
  }
  return rows;
}

std::vector<std::pair<Duration, std::uint64_t>> Measurement::ends_of(std::uint16_t backend,
                                                                     Ending ending) const {
  if (is_exact_by_backend()) return exact_.ends_of(backend, ending);
  std::vector<std::pair<Duration, std::uint64_t>> ends;
  for (const EndingRow& row : table_of(backend)) {
    const std::uint64_t count = row.count_of(ending);
    if (count > 0) ends.emplace_back(row.low, count);
  }
  return ends;
}

EndingTable Measurement::joined_table_of(std::uint16_t backend, Duration split) const {
  // By bucket there are few rows as it is.
  if (!is_exact_by_backend()) return table_of(backend);
  EndingTable table;
  exact_.visit_joined_rows(backend, split, [&table](const EndingRow& row) { table.push_back(row); });
  return table;
}

EndingTable Measurement::connect_table() const {
  EndingTable table;
  if (!exact_connects_.dropped()) {
    exact_connects_.visit_rows({true}, [&table](const EndingRow& row) { table.push_back(row); });
    return table;
  }
  const LatencyHistogram& connects = connect_times_;
  for (std::uint32_t bucket = 0; bucket < LatencyHistogram::kBucketCount; ++bucket) {
    const std::uint64_t count = connects.count_at(bucket);
    if (count == 0) continue;
    table.push_back({.low = std::max(connects.min(), LatencyHistogram::low_of(bucket)),
                     .mid = std::clamp(LatencyHistogram::middle_of(bucket), connects.min(), connects.max()),
                     .high = std::min(connects.max(), LatencyHistogram::high_of(bucket)),
                     .replied = count});
  }
  return table;
}

bool Measurement::is_in_table(std::size_t backend) const {
  for (std::uint32_t ending = 0; ending < kEndings; ++ending) {
    const bool waits = static_cast<Ending>(ending) != Ending::refused;
    if (waits && facts_[backend * kEndings + ending].count > 0) return true;
  }
  return false;
}

void Measurement::visit_rows(const std::vector<bool>& included, const VisitRow& visit) const {
  bool everything = true;
  bool anything = false;
  for (std::size_t backend = 0; backend < included.size(); ++backend) {
    if (!is_in_table(backend)) continue;
    everything = everything && included[backend];
    anything = anything || included[backend];
  }
  if (!anything) return;
  if (exact_.dropped() || (exact_.pooled() && !everything)) {
    for (const EndingRow& row : bucket_table(included)) visit(row);
  } else {
    exact_.visit_rows(included, visit);
  }
}

EndingTable Measurement::bucket_table(const std::vector<bool>& included) const {
  EndingTable table(LatencyHistogram::kBucketCount);
  Duration least = Duration::max();
  Duration greatest{};
  for (std::uint32_t series = 0; series < facts_.size(); ++series) {
    const SeriesFacts& facts = facts_[series];
    if (!included[series / kEndings] || facts.count == 0 || facts.max < facts.min) continue;
    least = std::min(least, facts.min);
    greatest = std::max(greatest, facts.max);
    const auto add = [&](const BucketCounts& counts) {
      counts.for_each([&](std::uint32_t bucket, std::uint64_t count) {
        table[bucket].add(static_cast<Ending>(series % kEndings), count);
      });
    };
    add(without_start_[series]);
    for (std::uint32_t block = 0; block < blocks_.block_count(); ++block) add(blocks_.at(series, block));
  }
  for (std::uint32_t bucket = 0; bucket < table.size(); ++bucket) {
    EndingRow& row = table[bucket];
    // The ends are known exactly. The last bucket also holds what is longer than it.
    const bool open_ended = bucket + 1 == LatencyHistogram::kBucketCount;
    row.low = std::max(LatencyHistogram::low_of(bucket), std::min(least, LatencyHistogram::high_of(bucket)));
    row.high = open_ended ? greatest : std::min(LatencyHistogram::high_of(bucket), greatest);
    row.mid = std::clamp(LatencyHistogram::middle_of(bucket), row.low, std::max(row.low, row.high));
  }
  std::erase_if(table, [](const EndingRow& row) { return row.is_empty(); });
  return table;
}

void Measurement::fill_in_expected(Duration interval) {
  OVERDUE_CHECK(interval > Duration(0));
  struct Ended {
    Duration elapsed;
    std::uint64_t count;
    std::uint16_t series;
  };
  const auto note = [interval](std::vector<Ended>& list, const EndingTable& table, std::uint16_t backend) {
    for (const EndingRow& row : table) {
      if (steps_below(row.mid, interval) == 0) continue;
      for (std::uint32_t number = 0; number < kEndings; ++number) {
        const auto ending = static_cast<Ending>(number);
        const std::uint64_t count = row.count_of(ending);
        if (count > 0)
          list.push_back({row.mid, count, static_cast<std::uint16_t>(series_of(backend, ending))});
      }
    }
  };
  // What was measured is read in full before anything is added, or the filled-in would be filled in again.
  std::vector<Ended> by_backend;
  for (std::uint16_t backend = 0; backend < backends_.size(); ++backend)
    note(by_backend, table_of(backend), backend);
  std::vector<Ended> exact = by_backend;
  if (exact_.pooled()) {
    exact.clear();
    note(exact, table(), 0);
  }
  std::uint64_t steps = 0;
  for (const Ended& ended : exact) steps += steps_below(ended.elapsed, interval);
  constexpr std::uint64_t kExactStepsMax = 20'000'000;
  if (steps > kExactStepsMax)
    exact_.drop();  // A very short interval: so many values do not stay exact anyway.
  for (const Ended& ended : exact) fill_in_exact(ended.elapsed, ended.series, ended.count, interval);
  for (const Ended& ended : by_backend) fill_in_buckets(ended.elapsed, ended.series, ended.count, interval);
}

void Measurement::fill_in_exact(Duration elapsed, std::uint16_t series, std::uint64_t count,
                                Duration interval) {
  const std::uint64_t steps = steps_below(elapsed, interval);
  for (std::uint64_t step = 1; step <= steps && !exact_.dropped(); ++step) {
    exact_.add(elapsed - static_cast<std::int64_t>(step) * interval, series, count);
  }
}

void Measurement::fill_in_buckets(Duration elapsed, std::uint16_t series, std::uint64_t count,
                                  Duration interval) {
  const std::uint64_t steps = steps_below(elapsed, interval);
  calls_ += steps * count;
  // All the steps that fall into one bucket at a time.
  for (std::uint64_t step = 1; step <= steps;) {
    const Duration filled = elapsed - static_cast<std::int64_t>(step) * interval;
    const Duration low = LatencyHistogram::low_of(LatencyHistogram::bucket_of(filled));
    const auto more = std::min(static_cast<std::uint64_t>((filled - low) / interval), steps - step);
    add_without_start(series, filled, count * (more + 1));
    facts_[series].add(filled - static_cast<std::int64_t>(more) * interval, 0);  // The least of them.
    step += more + 1;
  }
}

}  // namespace overdue
