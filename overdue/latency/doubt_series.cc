#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "overdue/latency/bounds.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/redistribution.h"

// Doubts about the order of calls in time: a change, bursts of late calls, load.

namespace overdue {
namespace {

constexpr std::size_t kChangeGroups = 32;
constexpr std::size_t kChangeGroupsMin = 16;
constexpr double kChangeDeviations = 1.73;  // Kolmogorov's 0.5 % point.
constexpr double kChangeRatio = 1.25;
// Past give-ups a curve is as good as the calls that are still watched.
constexpr std::uint64_t kWatchedMin = 30;

constexpr std::uint64_t kLateMin = 20;
constexpr std::uint64_t kBurstCellsMin = 10;
constexpr double kBurstDeviations = 3.5;
constexpr double kBurstDispersion = 1.5;

constexpr std::uint64_t kLoadCallsMin = 20;
constexpr std::size_t kLoadCellsMin = 20;
constexpr double kLoadDeviations = 2.576;
constexpr double kLoadRatio = 1.3;

std::vector<std::uint64_t> sum_of(CountsOverTime cells) {
  std::vector<std::uint64_t> sums;
  for (const BucketCounts* cell : cells) {
    if (cell->first() + cell->size() > sums.size()) sums.resize(cell->first() + cell->size());
    cell->add_to(sums);
  }
  return sums;
}

WaitedOverTime part_of(const WaitedOverTime& cells, std::size_t from, std::size_t to) {
  const auto cut = [&](CountsOverTime counts) {
    return counts.empty() ? counts : counts.subspan(from, to - from);
  };
  return {.replied = cut(cells.replied), .gave_up = cut(cells.gave_up)};
}

// How many of the calls would be open after each bucket's replies, had nobody given up.
class OpenCalls {
 public:
  explicit OpenCalls(const WaitedOverTime& cells) {
    std::vector<std::uint64_t> replied = sum_of(cells.replied);
    std::vector<std::uint64_t> gave_up = sum_of(cells.gave_up);
    const std::size_t buckets = std::max(replied.size(), gave_up.size());
    replied.resize(buckets);
    gave_up.resize(buckets);
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) calls_ += replied[bucket] + gave_up[bucket];
    Redistribution calls(calls_);
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      if (calls.weight() > 1 && calls.watched() < kWatchedMin) break;
      if (replied[bucket] + gave_up[bucket] > 0) last_ = static_cast<std::uint32_t>(bucket);
      calls.reply(replied[bucket]);
      after_.push_back(calls.still_open());
      calls.give_up(gave_up[bucket]);
    }
    after_.resize(last_ + 1);
    after_.resize(buckets, after_.back());
  }

  std::uint64_t calls() const { return calls_; }
  double after(std::uint32_t bucket) const { return after_[bucket]; }
  // Nearest rank. Requires: a call.
  Change::At at(Quantile q) const {
    const auto open = static_cast<double>(calls_ - rank_of(q, calls_));
    for (std::uint32_t bucket = 0; bucket <= last_; ++bucket) {
      if (after_[bucket] <= open) return {.bucket = bucket, .seen = true};
    }
    return {.bucket = last_, .seen = false};
  }

 private:
  std::uint64_t calls_ = 0;
  std::vector<double> after_;  // By bucket; after the last that enough were watched in it stays.
  std::uint32_t last_ = 0;
};

// Consecutive cells with about a 32nd of the calls.
struct Group {
  std::size_t first_cell = 0;
  std::uint64_t calls = 0;
  double above = 0;
  double share() const { return above / static_cast<double>(calls); }
};

// How many of the calls given up are above the threshold, as the log's calls that were open then.
double gave_up_above(const BucketCounts& gave_up, const OpenCalls& open, std::uint32_t threshold) {
  double above = 0;
  gave_up.for_each([&](std::uint32_t bucket, std::uint64_t count) {
    const double chance = bucket < threshold ? open.after(threshold) / open.after(bucket) : 1;
    above += chance * static_cast<double>(count);
  });
  return above;
}

std::vector<Group> groups_of(const WaitedOverTime& cells, const OpenCalls& open, std::uint32_t threshold) {
  std::vector<Group> groups;
  std::uint64_t before = 0;
  std::uint64_t last_number = 0;
  for (std::size_t cell = 0; cell < cells.replied.size(); ++cell) {
    const BucketCounts* const gave_up = cells.gave_up.empty() ? nullptr : cells.gave_up[cell];
    const std::uint64_t in_cell = cells.replied[cell]->total() + (gave_up == nullptr ? 0 : gave_up->total());
    if (in_cell == 0) continue;
    const double middle = static_cast<double>(before) + static_cast<double>(in_cell) / 2;
    const auto number = static_cast<std::uint64_t>(middle * static_cast<double>(kChangeGroups) /
                                                   static_cast<double>(open.calls()));
    if (groups.empty() || number != last_number) groups.push_back({.first_cell = cell});
    last_number = number;
    Group& group = groups.back();
    group.calls += in_cell;
    group.above += static_cast<double>(cells.replied[cell]->count_from(threshold + 1));
    if (gave_up != nullptr) group.above += gave_up_above(*gave_up, open, threshold);
    before += in_cell;
  }
  return groups;
}

// The group before which the largest cumulated deviation ends, if it is too large for chance.
std::optional<std::size_t> change_at(const std::vector<Group>& groups) {
  if (groups.size() < kChangeGroupsMin) return std::nullopt;
  const auto count = static_cast<double>(groups.size());
  double mean = 0;
  double squares = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    mean += groups[i].share() / count;
    if (i == 0) continue;
    const double step = groups[i].share() - groups[i - 1].share();
    squares += step * step;
  }
  const double deviation = std::sqrt(squares / (2 * (count - 1)));
  double cumulated = 0;
  double largest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    cumulated += groups[i].share() - mean;
    if (std::abs(cumulated) <= largest) continue;
    largest = std::abs(cumulated);
    at = i + 1;
  }
  if (largest <= kChangeDeviations * deviation * std::sqrt(count) || at == 0) return std::nullopt;
  return at;
}

std::vector<double> middle_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&values](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (std::size_t i = from; i < to; ++i) ranks[order[i]] = static_cast<double>(from + to - 1) / 2;
    from = to;
  }
  return ranks;
}

// Spearman's rho: the correlation of mid-ranks; 0 where one side does not vary.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> ranks_a = middle_ranks(a);
  const std::vector<double> ranks_b = middle_ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double product = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    squares_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    squares_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  return squares_a == 0 || squares_b == 0 ? 0 : product / std::sqrt(squares_a * squares_b);
}

// A quarter of what a cell holds on average. One late call in a cell of n adds calls / (n * late) to
// Pearson's sum: from a quarter of the mean up that is a fifth of the cells at most, and no dispersion of 1.5
// by itself.
double quarter_of_mean(const std::vector<LateOfCalls>& cells) {
  double calls = 0;
  for (const LateOfCalls& cell : cells) calls += cell.calls;
  return cells.empty() ? 0 : calls / static_cast<double>(cells.size()) / 4;
}

// The cells with calls, from the first to the last with a quarter of the usual number. A log that is written
// as calls end begins with calls begun before its first end, and all of those are long.
std::vector<LateOfCalls> well_filled(std::span<const LateOfCalls> seconds) {
  std::vector<LateOfCalls> cells;
  for (const LateOfCalls& second : seconds) {
    if (second.calls > 0) cells.push_back(second);
  }
  const double enough = quarter_of_mean(cells);
  const auto is_filled = [enough](const LateOfCalls& cell) { return cell.calls >= enough; };
  const auto first = std::ranges::find_if(cells, is_filled);
  const auto last = std::find_if(cells.rbegin(), std::make_reverse_iterator(first), is_filled).base();
  return {first, last};
}

// Each cell of fewer calls than `enough` together with the next ones, the last with those before.
std::vector<LateOfCalls> pooled(const std::vector<LateOfCalls>& cells, double enough) {
  std::vector<LateOfCalls> pools;
  bool full = true;
  for (const LateOfCalls& cell : cells) {
    if (full) pools.emplace_back();
    LateOfCalls& pool = pools.back();
    pool.calls += cell.calls;
    pool.late += cell.late;
    pool.spread += cell.spread;
    full = pool.calls >= enough;
  }
  return pools;
}

struct LoadCell {
  std::uint64_t calls = 0;
  std::uint32_t median = 0;
};

std::uint32_t median_of_medians(std::span<const LoadCell> cells) {
  std::vector<std::uint32_t> medians;
  for (const LoadCell& cell : cells) medians.push_back(cell.median);
  std::ranges::sort(medians);
  return medians[(medians.size() - 1) / 2];
}

double ratio(Duration numerator, Duration denominator) {
  return static_cast<double>(numerator.count()) /
         static_cast<double>(std::max(denominator, Duration(1)).count());
}

}  // namespace

std::optional<Change> find_change(const WaitedOverTime& cells, Duration (*middle_of)(std::uint32_t)) {
  const OpenCalls open(cells);
  if (open.calls() == 0) return std::nullopt;
  for (const Quantile q : {Quantile(0.5), Quantile(0.9)}) {
    const Change::At threshold = open.at(q);
    if (!threshold.seen) continue;
    const std::vector<Group> groups = groups_of(cells, open, threshold.bucket);
    const auto split = change_at(groups);
    if (!split) continue;
    const std::size_t cell = groups[*split].first_cell;
    const Change::At before = OpenCalls(part_of(cells, 0, cell)).at(q);
    const Change::At after = OpenCalls(part_of(cells, cell, cells.replied.size())).at(q);
    const double factor = ratio(middle_of(after.bucket), middle_of(before.bucket));
    const bool slower = factor >= kChangeRatio && before.seen;
    const bool faster = factor <= 1 / kChangeRatio && after.seen;
    if (!slower && !faster) continue;
    std::uint64_t calls_before = 0;
    for (std::size_t i = 0; i < *split; ++i) calls_before += groups[i].calls;
    return Change{.quantile = q,
                  .after_share = static_cast<double>(calls_before) / static_cast<double>(open.calls()),
                  .after_cell = cell,
                  .before = before,
                  .after = after};
  }
  return std::nullopt;
}

std::optional<Bursts> find_bursts(std::span<const LateOfCalls> seconds) {
  Bursts bursts;
  const std::vector<LateOfCalls> counted = well_filled(seconds);
  double calls = 0;
  double late = 0;
  for (const LateOfCalls& cell : counted) {
    calls += cell.calls;
    late += cell.late;
    ++bursts.cells;
    bursts.cells_with_late += cell.late >= 0.5 ? 1 : 0;
  }
  bursts.late = static_cast<std::uint64_t>(std::llround(late));
  const std::vector<LateOfCalls> cells = pooled(counted, quarter_of_mean(counted));
  if (bursts.late < kLateMin || cells.size() < kBurstCellsMin) return std::nullopt;
  const auto cell_count = static_cast<double>(cells.size());
  double pearson = 0;
  double inverse_sum = 0;
  for (const LateOfCalls& cell : cells) {
    const double expected = late * cell.calls / calls;
    const double difference = cell.late - expected;
    pearson += (difference * difference + cell.spread) / expected;
    inverse_sum += calls / cell.calls;
  }
  const double variance =
      2 * (cell_count - 1) + (inverse_sum - cell_count * cell_count - 2 * cell_count + 2) / late;
  if (variance <= 0) return std::nullopt;
  bursts.dispersion = pearson / (cell_count - 1);
  const double z = (pearson - (cell_count - 1)) / std::sqrt(variance);
  if (z <= kBurstDeviations || bursts.dispersion < kBurstDispersion) return std::nullopt;
  return bursts;
}

std::optional<Load> find_load(CountsOverTime seconds, Duration (*middle_of)(std::uint32_t)) {
  std::vector<LoadCell> cells;
  for (const BucketCounts* second : seconds) {
    const std::uint64_t calls = second->total();
    if (calls >= kLoadCallsMin)
      cells.push_back({calls, second->bucket_of_rank(rank_of(Quantile(0.5), calls))});
  }
  if (cells.size() < kLoadCellsMin) return std::nullopt;
  std::vector<double> calls;
  std::vector<double> medians;
  for (const LoadCell& cell : cells) {
    calls.push_back(static_cast<double>(cell.calls));
    medians.push_back(static_cast<double>(cell.median));
  }
  const double z = rank_correlation(calls, medians) * std::sqrt(static_cast<double>(cells.size() - 1));
  if (z <= kLoadDeviations) return std::nullopt;
  std::ranges::stable_sort(cells, {}, &LoadCell::calls);
  const std::size_t quarter = cells.size() / 4;
  const std::span<const LoadCell> quiet = std::span(cells).first(quarter);
  const std::span<const LoadCell> busy = std::span(cells).last(quarter);
  const Load load{quiet[quarter / 2].calls, busy[quarter / 2].calls, median_of_medians(quiet),
                  median_of_medians(busy)};
  if (ratio(middle_of(load.busy_median), middle_of(load.quiet_median)) < kLoadRatio) return std::nullopt;
  return load;
}

}  // namespace overdue
