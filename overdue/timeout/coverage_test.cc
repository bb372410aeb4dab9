// Do the intervals and the advice keep their promise? Each test generates 1,000 logs of the lesson's world,
// asks for advice, and counts how often the interval covers the truth and the advised timeout keeps the
// accepted rate. Seeds are fixed, so a figure moves only when the code does; it is printed.
//
// Latencies are counted in cells of 1/4096 octave, and the truth is that of the same cells: far finer than
// what the logs can tell apart, so the coverage measured is that of the method and not of wide buckets.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/distribution.h"
#include "overdue/latency/quantile_interval.h"
#include "overdue/timeout/advice.h"

namespace overdue {
namespace {

constexpr int kLogs = 1000;
constexpr int kReferenceBits = 18;
constexpr std::uint32_t kReferenceSize = 1U << kReferenceBits;
constexpr double kLostShare = 0.004;
constexpr float kLimitMs = 1000.0F;
constexpr double kCallsPerSecond = 200.0;
constexpr double kPauseEverySeconds = 60.0;
constexpr double kPauseMin = 0.2;
constexpr double kPauseMax = 0.5;
constexpr std::uint32_t kReplicas = 4;
constexpr std::uint32_t kBlocks = 256;

// Cells from 1/8 ms up: the bits of the value without its lowest eleven.
constexpr std::uint32_t kFirstCell = std::bit_cast<std::uint32_t>(0.125F) >> 11;
constexpr std::uint32_t cell_of(float ms) { return (std::bit_cast<std::uint32_t>(ms) >> 11) - kFirstCell; }
constexpr float ms_of(std::uint32_t cell) { return std::bit_cast<float>((cell + kFirstCell) << 11); }
constexpr std::uint32_t kCells = cell_of(kLimitMs) + 1;
Duration duration_of(std::uint32_t cell) {
  return Duration(std::llround(static_cast<double>(ms_of(cell)) * 1e6));
}

// A sample of the lesson's reply latencies, taken as the distribution itself.
struct Reference {
  std::vector<float> ms;
  std::vector<std::uint32_t> cell;

  Reference() {
    Random random(20'261'129);
    const Lognormal delay{.log_median = 0.0, .log_sigma = 0.4};
    const Lognormal service{.log_median = 2.0, .log_sigma = 0.5};
    const Uniform slow_path{.low = 40.0, .high = 400.0};
    for (std::uint32_t i = 0; i < kReferenceSize; ++i) {
      const bool slow = random.uniform() < 0.02;
      const double served = slow ? slow_path.draw(random) : service.draw(random);
      ms.push_back(static_cast<float>(delay.draw(random) + served + delay.draw(random)));
      cell.push_back(cell_of(ms.back()));
    }
  }
};

const Reference& reference() {
  static const Reference one;
  return one;
}

// The share of replies in each cell, by which every answer is judged.
class Truth {
 public:
  Truth() : mass_(kCells, 0.0) {}
  void add(float ms, double weight) { mass_[std::min(cell_of(ms), kCells - 1)] += weight; }

  Duration quantile(double q) const {
    double seen = 0;
    for (std::uint32_t cell = 0; cell < kCells; ++cell) {
      seen += mass_[cell];
      if (seen >= q) return duration_of(cell);
    }
    return duration_of(kCells - 1);
  }
  double share_above(Duration timeout) const {
    double above = 0;
    for (std::uint32_t cell = kCells; cell-- > 0 && duration_of(cell) > timeout;) above += mass_[cell];
    return above;
  }

 private:
  std::vector<double> mass_;
};

Truth independent_truth() {
  Truth truth;
  for (const float ms : reference().ms) truth.add(ms, 1.0 / kReferenceSize);
  return truth;
}

// Dependence is asked for above this alone, below p90, so only the blocks of later replies are kept; the
// median goes without.
constexpr float kTailFromMs = 15.0F;
constexpr std::uint32_t kTailFrom = cell_of(kTailFromMs);

// One log: what ended in each cell, and for each block of time its replies and the late ones among them.
struct Log {
  std::vector<std::uint32_t> replied = std::vector<std::uint32_t>(kCells);
  std::vector<std::uint32_t> gave_up = std::vector<std::uint32_t>(kCells);
  std::vector<BlockTail> blocks{kBlocks};
  std::vector<std::uint32_t> late;  // Block and cell of each reply from kTailFrom on.
  std::uint64_t cut_early = 0;

  void clear() {
    std::fill(replied.begin(), replied.end(), 0U);
    std::fill(gave_up.begin(), gave_up.end(), 0U);
    std::fill(blocks.begin(), blocks.end(), BlockTail{});
    late.clear();
    cut_early = 0;
  }
  void reply(std::uint32_t block, std::uint32_t cell) {
    ++replied[cell];
    ++blocks[block].replied;
    if (cell >= kTailFrom) late.push_back(block << 24 | cell);
  }
  void give_up(float ms) { ++gave_up[std::min(cell_of(ms), kCells - 1)]; }

  EndingTable table() const {
    EndingTable table;
    for (std::uint32_t cell = 0; cell < kCells; ++cell) {
      if (replied[cell] + gave_up[cell] == 0) continue;
      EndingRow row;
      row.low = row.mid = row.high = duration_of(cell);
      row.replied = replied[cell];
      row.timed_out = gave_up[cell];
      table.push_back(row);
    }
    return table;
  }
  std::vector<BlockTail> tails(Duration late_above) const {
    if (late_above < duration_of(kTailFrom)) return {};
    std::uint32_t first_late = kTailFrom;
    while (first_late < kCells && duration_of(first_late) <= late_above) ++first_late;
    std::vector<BlockTail> tails = blocks;
    for (const std::uint32_t reply : late)
      tails[reply >> 24].late += (reply & 0xffffffU) >= first_late ? 1U : 0U;
    return tails;
  }
};

// How often what was said was true.
struct Tally {
  const char* what;
  int given = 0;
  int covered = 0;
  int low_above = 0;
  int high_below = 0;

  void count(Duration truth, std::optional<Duration> low, bool low_beyond, std::optional<Duration> high) {
    ++given;
    const bool too_high = low_beyond || (low && *low > truth);
    const bool too_low = high && *high < truth;
    low_above += too_high ? 1 : 0;
    high_below += too_low ? 1 : 0;
    covered += too_high || too_low ? 0 : 1;
  }
  double share() const { return given == 0 ? 1.0 : static_cast<double>(covered) / given; }
  void print(const char* world) const {
    std::printf("[ coverage ] %s, %s: %.1f %% of %d (low end above %.1f %%, high end below %.1f %%)\n", world,
                what, 100.0 * share(), given, 100.0 * low_above / std::max(given, 1),
                100.0 * high_below / std::max(given, 1));
  }
};

struct AdviceTally {
  Tally interval;
  double accept_false;
  int advised = 0;
  int kept = 0;
  double kept_share() const { return advised == 0 ? 1.0 : static_cast<double>(kept) / advised; }

  void count(const SurvivalCurve& curve, const Log& log, const Truth& truth, Duration quantile) {
    const TimeoutAdvice advice =
        advise_timeout(curve, [&](Duration late_above) { return log.tails(late_above); },
                       {.accept_false = Probability{accept_false}, .headroom = {}});
    if (!advice.point) return;
    interval.count(quantile, advice.low, advice.low_beyond, advice.high);
    if (!advice.recommended) return;
    ++advised;
    kept += truth.share_above(*advice.recommended) <= accept_false ? 1 : 0;
  }
  void print(const char* world) const {
    interval.print(world);
    std::printf("[ coverage ] %s, %s: advised in %d, accepted rate kept in %.1f %%\n", world, interval.what,
                advised, 100.0 * kept_share());
  }
};

struct Coverage {
  AdviceTally one_percent{.interval = {.what = "timeout for 1 %"}, .accept_false = 0.01};
  AdviceTally per_mille{.interval = {.what = "timeout for 0.1 %"}, .accept_false = 0.001};
  Tally median{.what = "p50 of all calls"};
  Tally p90{.what = "p90 of all calls"};
  Tally p99{.what = "p99 of all calls"};
};

// `generate` fills the log of a number.
template <typename Generate>
Coverage measure(const char* world, const Truth& truth, const Generate& generate) {
  Coverage coverage;
  const Duration quantile_one_percent = truth.quantile(0.99);
  const Duration quantile_per_mille = truth.quantile(0.999);
  const auto of_all = [&](double q) { return truth.quantile(q / (1.0 - kLostShare)); };
  const Duration truths[] = {of_all(0.5), of_all(0.9), of_all(0.99)};
  double cut_early = 0;
  double calls = 0;
  Log log;
  for (int number = 0; number < kLogs; ++number) {
    log.clear();
    generate(static_cast<std::uint64_t>(number), log);
    const EndingTable table = log.table();
    const SurvivalCurve curve(table);
    cut_early += static_cast<double>(log.cut_early);
    calls += static_cast<double>(curve.calls());
    coverage.one_percent.count(curve, log, truth, quantile_one_percent);
    coverage.per_mille.count(curve, log, truth, quantile_per_mille);
    const std::vector<QuantileOfAll> answers = quantiles_of_all(
        curve, [&](Duration late_above) { return log.tails(late_above); },
        {Quantile{0.5}, Quantile{0.9}, Quantile{0.99}}, Probability{0.95});
    Tally* tallies[] = {&coverage.median, &coverage.p90, &coverage.p99};
    for (std::size_t i = 0; i < answers.size(); ++i) {
      tallies[i]->count(truths[i], answers[i].low, answers[i].low_beyond, answers[i].high);
    }
  }
  std::printf("[ coverage ] %s: %d logs of %.0f calls, %.1f %% cut early\n", world, kLogs, calls / kLogs,
              100.0 * cut_early / calls);
  coverage.one_percent.print(world);
  coverage.per_mille.print(world);
  coverage.median.print(world);
  coverage.p90.print(world);
  coverage.p99.print(world);
  return coverage;
}

constexpr int kIndependentCalls = 50'000;

// `limit(random)` is when the caller of one call gives up, in ms.
template <typename Limit>
void independent_log(std::uint64_t number, const Limit& limit, Log& log) {
  const Reference& lesson = reference();
  Random random(7, number);
  for (std::uint32_t call = 0; call < kIndependentCalls; ++call) {
    const std::uint32_t block = call * kBlocks / kIndependentCalls;
    const std::uint64_t which = random.next() >> (64 - kReferenceBits);
    const float limit_ms = std::min(limit(random), kLimitMs);
    const bool lost = random.uniform() < kLostShare;
    if (!lost && lesson.ms[which] <= limit_ms) {
      log.reply(block, lesson.cell[which]);
    } else {
      log.give_up(limit_ms);
      log.cut_early += limit_ms < kLimitMs ? 1U : 0U;
    }
  }
}

void expect_independent(const Coverage& coverage) {
  EXPECT_GE(coverage.one_percent.interval.share(), 0.93);
  EXPECT_GE(coverage.per_mille.interval.share(), 0.93);
  EXPECT_GE(coverage.median.share(), 0.93);
  EXPECT_GE(coverage.p90.share(), 0.93);
  EXPECT_GE(coverage.p99.share(), 0.93);
  EXPECT_GE(coverage.one_percent.kept_share(), 0.90);
  EXPECT_GE(coverage.per_mille.kept_share(), 0.90);
  // An interval that is not given covers nothing.
  EXPECT_EQ(coverage.one_percent.advised, kLogs);
}

TEST(Coverage, OfIndependentCalls) {
  const Coverage coverage = measure("independent", independent_truth(), [](std::uint64_t number, Log& log) {
    independent_log(number, [](Random&) { return kLimitMs; }, log);
  });
  expect_independent(coverage);
  EXPECT_EQ(coverage.per_mille.advised, kLogs);
}

// A tenth of the callers has a limit of its own, of 5 ms, and one of no use here.
TEST(Coverage, OfIndependentCallsOfWhichATenthHasAShortLimit) {
  expect_independent(
      measure("a tenth limited to 5 ms", independent_truth(), [](std::uint64_t number, Log& log) {
        independent_log(number, [](Random& random) { return random.uniform() < 0.1 ? 5.0F : kLimitMs; }, log);
      }));
}

// Callers leave at any time, a tenth of the calls before their reply: the slower a call, the surer it is cut.
TEST(Coverage, OfIndependentCallsOfWhichATenthIsCutEarly) {
  expect_independent(measure("a tenth cut early", independent_truth(), [](std::uint64_t number, Log& log) {
    const Exponential patience{.mean = 125.0};
    independent_log(
        number, [&](Random& random) { return std::max(0.125F, static_cast<float>(patience.draw(random))); },
        log);
  }));
}

// Each replica stands still for 0.2 to 0.5 s, every 60 s on average; a call that reaches it then waits for
// the end.
Truth paused_truth() {
  constexpr int kWaits = 16;
  const double mean_pause = (kPauseMin + kPauseMax) / 2;
  const double paused = mean_pause / (kPauseEverySeconds + mean_pause);
  Truth truth;
  Random random(3);
  for (const float ms : reference().ms) {
    truth.add(ms, (1.0 - paused) / kReferenceSize);
    for (int i = 0; i < kWaits; ++i) {
      // A call falls into a pause in proportion to its length, and anywhere in it.
      double pause = 0;
      do {
        pause = kPauseMin + (kPauseMax - kPauseMin) * random.uniform();
      } while (random.uniform() * kPauseMax > pause);
      truth.add(ms + static_cast<float>(1e3 * pause * random.uniform()), paused / kReferenceSize / kWaits);
    }
  }
  return truth;
}

void paused_log(std::uint64_t number, double seconds, Log& log) {
  struct Pause {
    double from = 0;
    double until = 0;
  };
  const Reference& lesson = reference();
  Random random(8, number);
  Pause pauses[kReplicas];
  for (Pause& pause : pauses) {
    pause.from = kPauseEverySeconds * standard_exponential(random);
    pause.until = pause.from + kPauseMin + (kPauseMax - kPauseMin) * random.uniform();
  }
  // One draw a call, its bits shared out: replica, lost or not, and which latency.
  constexpr auto kLostBelow = static_cast<std::uint64_t>(kLostShare * 0x1p40);
  double now = 0;
  double block_end = seconds / kBlocks;
  std::uint32_t block = 0;
  while ((now += standard_exponential(random) / kCallsPerSecond) < seconds) {
    while (now >= block_end && block + 1 < kBlocks) block_end = (++block + 1) * seconds / kBlocks;
    const std::uint64_t bits = random.next();
    Pause& pause = pauses[bits % kReplicas];
    while (pause.until < now) {
      pause.from = pause.until + kPauseEverySeconds * standard_exponential(random);
      pause.until = pause.from + kPauseMin + (kPauseMax - kPauseMin) * random.uniform();
    }
    const std::uint64_t which = bits >> (64 - kReferenceBits);
    if ((bits >> 2 & 0xff'ffff'ffffU) < kLostBelow) {
      log.give_up(kLimitMs);
    } else if (now < pause.from) {
      log.reply(block, lesson.cell[which]);
    } else {
      log.reply(block, cell_of(lesson.ms[which] + static_cast<float>(1e3 * (pause.until - now))));
    }
  }
}

void expect_paused(const Coverage& coverage) {
  EXPECT_GE(coverage.one_percent.interval.share(), 0.90);
  EXPECT_GE(coverage.per_mille.interval.share(), 0.90);
  EXPECT_GE(coverage.median.share(), 0.90);
  EXPECT_GE(coverage.p90.share(), 0.90);
  EXPECT_GE(coverage.p99.share(), 0.90);
  EXPECT_GE(coverage.one_percent.kept_share(), 0.90);
  EXPECT_GE(coverage.per_mille.kept_share(), 0.90);
  EXPECT_GE(coverage.one_percent.advised, kLogs * 9 / 10);
  EXPECT_GE(coverage.per_mille.advised, kLogs * 9 / 10);
}

TEST(Coverage, OfFiveMinutesWithPauses) {
  expect_paused(measure("pauses, 5 min", paused_truth(),
                        [](std::uint64_t number, Log& log) { paused_log(number, 300.0, log); }));
}

TEST(Coverage, OfThirtyMinutesWithPauses) {
  expect_paused(measure("pauses, 30 min", paused_truth(),
                        [](std::uint64_t number, Log& log) { paused_log(number, 1800.0, log); }));
}

}  // namespace
}  // namespace overdue
