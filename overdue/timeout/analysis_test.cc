#include "overdue/timeout/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "overdue/base/random.h"
#include "overdue/latency/generated_log.h"
#include "overdue/timeout/policy_check.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// Calls of 1..100 ms in turn at 100 a second over four backends; `slow` is eight times slower. Every 250th is
// lost and given up after 2 s.
class Log {
 public:
  explicit Log(int calls, bool with_slow = false) {
    NameTable backends;
    NameTable routes;
    std::vector<Attempt> rows;
    Random random(7);
    for (int i = 0; i < calls; ++i) {
      const bool slow = with_slow && i % 4 == 3;
      Attempt row;
      row.start = WallTime(Duration(1'700'000'000'000'000'000) + i * 10ms);
      row.has_start = true;
      row.begins_call = true;
      row.backend = backends.id_of(slow ? "d" : std::string(1, static_cast<char>('a' + i % 3)));
      row.elapsed = Duration(1ms) * static_cast<std::int64_t>(1 + random.below(100)) * (slow ? 8 : 1);
      if (random.below(250) == 0) {
        row.ending = Ending::timed_out;
        row.elapsed = 2s;
      }
      row.connect = 2ms;
      row.has_connect = true;
      rows.push_back(row);
    }
    measurement.add(rows, backends, routes);
  }
  Measurement measurement;
};

const Candidate* find(const Analysis& analysis, std::string_view label) {
  for (const Candidate& candidate : analysis.candidates) {
    if (candidate.label == label) return &candidate;
  }
  return nullptr;
}

TEST(Analyse, AdvisesOnTheUsualReplicasAndSaysWhatTheSlowOneWouldMakeOfIt) {
  const Log log(20'000, true);
  const Analysis analysis = analyse(log.measurement, {.advice = {.accept_false = Probability{0.01}}});
  ASSERT_EQ(analysis.advice.declined, "");
  EXPECT_LE(*analysis.advice.request_timeout, 100ms);
  ASSERT_TRUE(analysis.pooled && analysis.pooled->request_timeout);
  EXPECT_GT(*analysis.pooled->request_timeout, 700ms);
  ASSERT_EQ(analysis.backends.size(), 4u);
  EXPECT_TRUE(analysis.backends[3].left_out);
  EXPECT_EQ(analysis.backends[3].row.judgement, ReplicaJudgement::slow);
  EXPECT_GT(*analysis.backends[3].over_advised, 0.8);
  EXPECT_GT(*analysis.visible_rate_pooled, analysis.advice.visible_timeout_rate + 0.15);
  EXPECT_EQ(analysis.quantiles_kept.size(), analysis.quantiles.size());
}

// The curve of a backend is made of joined rows; give-ups before and after the timeout, and rejections, must
// leave its state there as it was.
TEST(Analyse, ShareOverTheAdviceIsThatOfTheBackendsWholeCurve) {
  Log log(20'000);
  Random random(9);
  NameTable backends;
  NameTable routes;
  std::vector<Attempt> more;
  for (int i = 0; i < 600; ++i) {
    Attempt row;
    row.backend = backends.id_of(std::string(1, static_cast<char>('a' + i % 3)));
    row.ending = i % 4 == 0 ? Ending::rejected : Ending::abandoned;
    row.elapsed = Duration(1ms) * static_cast<std::int64_t>(1 + random.below(150));
    more.push_back(row);
  }
  log.measurement.add(more, backends, routes);
  const Analysis analysis = analyse(log.measurement, {.advice = {.accept_false = Probability{0.05}}});
  ASSERT_TRUE(analysis.advice.request_timeout);
  ASSERT_EQ(analysis.backends.size(), 3u);
  for (const BackendAnalysis& backend : analysis.backends) {
    const EndingTable table = log.measurement.table_of(backend.row.backend);
    const SurvivalCurve curve(table);
    const SurvivalCurve::Point at = curve.at(*analysis.advice.request_timeout);
    EXPECT_GT(at.open, 0.0);
    EXPECT_DOUBLE_EQ(backend.over_advised.value(), at.open / (1 - at.rejected));
  }
}

// Of calls that are rejected after the timeout callers see timeouts: no share of them is above one.
TEST(Analyse, SharesOfTimeoutsStayBelowOneWhereRejectionsAreLate) {
  Log log(8'000, true);
  NameTable backends;
  NameTable routes;
  std::vector<Attempt> more;
  for (int i = 0; i < 12'000; ++i) {
    Attempt row;
    row.backend = backends.id_of(std::string(1, static_cast<char>('a' + i % 4)));
    row.ending = Ending::rejected;
    row.elapsed = Duration(1ms) * (1000 + i % 200);
    more.push_back(row);
  }
  log.measurement.add(more, backends, routes);
  const Analysis analysis = analyse(log.measurement, {.advice = {.accept_false = Probability{0.05}}});
  ASSERT_TRUE(analysis.advice.request_timeout);
  ASSERT_TRUE(analysis.visible_rate_pooled);
  EXPECT_GT(*analysis.visible_rate_pooled, 0.5);
  EXPECT_LE(*analysis.visible_rate_pooled, 1.0);
  for (const BackendAnalysis& backend : analysis.backends) EXPECT_LE(backend.over_advised.value(), 1.0);
}

TEST(Analyse, HeldCallsAreRateTimesLostTimesWait) {
  const Log log(20'000);
  const Analysis analysis = analyse(log.measurement, {.limit = 2s});
  const Candidate* today = find(analysis, "today");
  ASSERT_NE(today, nullptr);
  EXPECT_EQ(today->timeout, 2s);
  const double lost =
      static_cast<double>(analysis.endings[static_cast<std::size_t>(Ending::timed_out)]) / 20'000;
  EXPECT_NEAR(*analysis.attempts_per_second, 100, 0.01);
  EXPECT_NEAR(*today->held_calls, 100 * lost * 2, 0.01);
  EXPECT_NEAR(*today->extra_attempts_per_s, 100 * lost, 0.01);
}

TEST(Analyse, ConnectTimesAreAnsweredExactlyWhileTheyAreFew) {
  const Log log(20'000);
  const Analysis analysis = analyse(log.measurement, {});
  ASSERT_TRUE(analysis.connect.has_value());
  EXPECT_EQ(analysis.connect->advice.request_timeout, 2ms);  // Not the upper edge of its bucket.
}

TEST(Analyse, PromiseFitsFromTheAdvisedTimeoutOn) {
  const Log log(20'000);
  AnalysisOptions options{.advice = {.accept_false = Probability{0.01}}};
  const Duration advised = *analyse(log.measurement, options).advice.request_timeout;
  options.promise = advised;
  EXPECT_TRUE(analyse(log.measurement, options).promise->fits);
  options.promise = advised - 1ns;
  const Analysis missed = analyse(log.measurement, options);
  EXPECT_FALSE(missed.promise->fits);
  EXPECT_EQ(missed.doubts.back().code, "promise_missed");
}

TEST(Analyse, UnclearUnitsGiveNoAdvice) {
  const Log log(5'000);
  const Analysis analysis = analyse(log.measurement, {.unit_doubt = "the unit is anybody's guess"});
  EXPECT_EQ(analysis.advice.declined, "unit_unclear");
  EXPECT_FALSE(analysis.advice.request_timeout.has_value());
}

TEST(Analyse, NothingAtAllIsDeclinedAndNotACrash) {
  const Measurement nothing;
  const Analysis analysis = analyse(nothing, {.promise = 1s, .limit = 1s});
  EXPECT_EQ(analysis.advice.declined, "no_calls");
  EXPECT_TRUE(analysis.candidates.empty());
}

// The histogram of a block cannot tell which of a bucket's calls are later than the point; that there are
// some, and that they came together, it can.
TEST(Analyse, SeesThatLateCallsCameTogetherWhereAllOfThemAreInThePointsOwnBucket) {
  NameTable backends;
  NameTable routes;
  Random random(11);
  std::vector<Attempt> rows;
  for (int i = 0; i < 12'000; ++i) {
    Attempt row;
    row.start = WallTime(Duration(1'700'000'000'000'000'000) + i * 5ms);
    row.has_start = true;
    row.begins_call = true;
    const bool stalled = i % 3000 >= 1000 && i % 3000 < 1016;
    row.elapsed = (stalled ? Duration(500ms) : Duration(5ms)) +
                  Duration(static_cast<std::int64_t>(random.below(stalled ? 5'000'000 : 20'000'000)));
    rows.push_back(row);
  }
  Measurement measurement;
  measurement.add(rows, backends, routes);
  const Analysis analysis = analyse(measurement, {.advice = {.accept_false = Probability{0.001}}});
  ASSERT_EQ(LatencyHistogram::bucket_of(*analysis.advice.point), LatencyHistogram::bucket_of(504ms));
  EXPECT_EQ(analysis.advice.late_calls, 12U);
  EXPECT_GT(analysis.advice.vif, 2.5);
  EXPECT_LT(analysis.advice.vif, 6);
  EXPECT_LT(analysis.advice.effective_late_calls, 5);
}

void wait_at_most(Duration limit, Attempt& row) {
  if (row.elapsed <= limit) return;
  row.elapsed = limit;
  row.ending = Ending::timed_out;
}

// Of calls to one backend, without routes, at 1 %.
Analysis analysis_of(const std::vector<Attempt>& rows) {
  const NameTable names;
  Measurement measurement;
  measurement.add(rows, names, names);
  return analyse(measurement, {.advice = {.accept_false = Probability{0.01}}});
}

// The first third of the log had a limit of 150 ms, where the rest waited for a second.
// With `stalls`, a hundred calls in a row take half a second and more, four times.
Analysis of_changed_limit(std::uint64_t seed, bool stalls, Duration first_limit = 150ms) {
  GeneratedLog log(seed, {.calls = 30'000, .calls_per_second = 100});
  for (std::size_t i = 0; i < log.rows.size(); ++i) {
    Attempt& row = log.rows[i];
    row.backend = row.route = 0;
    if (stalls && i > 12'000 && i % 4'500 < 100) row.elapsed = 500ms + 1ms * (i % 4'500);
    const Duration limit = i < 10'000 ? first_limit : Duration(1s);
    wait_at_most(limit, row);
  }
  return analysis_of(log.rows);
}

bool has_doubt(const Analysis& analysis, std::string_view code) {
  return std::ranges::find(analysis.doubts, code, &Doubt::code) != analysis.doubts.end();
}

TEST(Analyse, ALimitThatChangedDuringTheLogIsNeitherDependenceNorABurst) {
  int bursts = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Analysis analysis = of_changed_limit(seed, false);
    ASSERT_GT(analysis.advice.point, Duration(150ms));
    EXPECT_LT(analysis.advice.vif, 1.5);
    EXPECT_LT(analysis.quantiles.at(3).vif, 1.5);
    bursts += has_doubt(analysis, "bursts") ? 1 : 0;
  }
  EXPECT_EQ(bursts, 0);
}

// Fifty calls a second under limits that change at each sixth of the log, of which most lie far below the
// point. In many a block of a second nobody reaches 60 or 100 ms, which is no sign that he would have been
// watched past the point.
Analysis of_many_limits(std::uint64_t seed, bool stalls) {
  constexpr std::array kLimits = {Duration(1500ms), Duration(60ms),  Duration(60ms),
                                  Duration(100ms),  Duration(100ms), Duration(100ms)};
  GeneratedLog log(seed, {.calls = 8'000, .calls_per_second = 50});
  for (std::size_t i = 0; i < log.rows.size(); ++i) {
    Attempt& row = log.rows[i];
    row.backend = row.route = 0;
    if (stalls && i % 1'000 < 15) row.elapsed = 110ms + 30ms * (i % 1'000);
    const Duration limit = kLimits[i * kLimits.size() / log.rows.size()];
    wait_at_most(limit, row);
  }
  return analysis_of(log.rows);
}

TEST(Analyse, LimitsThatChangedOftenAreNoDependenceHoweverFewReachThem) {
  int above_one = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Analysis analysis = of_many_limits(seed, false);
    EXPECT_LT(analysis.advice.vif, 2) << seed;
    EXPECT_FALSE(has_doubt(analysis, "few_episodes")) << seed;
    above_one += analysis.advice.vif > 1 ? 1 : 0;
  }
  EXPECT_LE(above_one, 1);
}

TEST(Analyse, StallsAreSeenUnderLimitsThatChangedOften) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_GT(of_many_limits(seed, true).advice.vif, 3) << seed;
}

// Later than the point of 225 ms, the first third could see replies up to 260 ms.
TEST(Analyse, ALimitThatCutOffPartOfTheLateRepliesIsNoDependence) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_LT(of_changed_limit(seed, false, 260ms).advice.vif, 1.5) << seed;
}

TEST(Analyse, StallsAreSeenWhereTheLimitChangedToo) {
  const Analysis analysis = of_changed_limit(1, true);
  EXPECT_GT(analysis.advice.vif, 4);
  EXPECT_TRUE(has_doubt(analysis, "bursts"));
}

// One of four backends is left out: of the calls kept 299 are needed, which is 399 of the log's.
TEST(Analyse, CallsNeededAreOfTheWholeLogWhereABackendIsLeftOut) {
  for (const int calls : {280, 380}) {
    NameTable backends;
    NameTable routes;
    std::vector<Attempt> rows;
    for (int i = 0; i < calls; ++i) {
      Attempt row;
      row.start = WallTime(1'700'000'000s) + i * 200ms;
      row.has_start = true;
      row.begins_call = true;
      row.backend = backends.id_of(std::string(1, static_cast<char>('a' + i % 4)));
      row.elapsed = Duration(1ms) * (1 + i * 37 % 100) * (i % 4 == 3 ? 10 : 1);
      rows.push_back(row);
    }
    Measurement measurement;
    measurement.add(rows, backends, routes);
    const Analysis analysis = analyse(measurement, {.advice = {.accept_false = Probability{0.01}}});
    ASSERT_EQ(analysis.comparison.left_out.size(), 1U);
    EXPECT_EQ(analysis.advice.declined, "too_few_calls");
    EXPECT_GE(analysis.advice.calls_needed, 396U);
    EXPECT_LE(analysis.advice.calls_needed, 402U);
  }
}

// A tenth was refused, and is no reply: of 300 calls 270 are left, where 299 are needed.
TEST(Analyse, CallsNeededAreMoreThanThereAreWhereSomeWereRefused) {
  for (const int calls : {300, 330}) {
    std::vector<Attempt> rows;
    for (int i = 0; i < calls; ++i) {
      Attempt row;
      row.elapsed = Duration(1ms) * (1 + i * 37 % 100);
      row.ending = i % 10 == 0 ? Ending::refused : Ending::replied;
      rows.push_back(row);
    }
    Measurement measurement;
    measurement.add(rows, NameTable(), NameTable());
    const Analysis analysis = analyse(measurement, {.advice = {.accept_false = Probability{0.01}}});
    EXPECT_EQ(analysis.advice.declined, "too_few_calls");
    EXPECT_EQ(analysis.advice.calls_needed, 333U);  // 299 * 10 / 9, rounded up.
  }
}

TEST(Analyse, AsksForRoomOnlyBeforeLargeTables) {
  const auto asked = [](std::int64_t distinct) {
    std::vector<Attempt> rows(static_cast<std::size_t>(distinct));
    for (std::int64_t i = 0; i < distinct; ++i)
      rows[static_cast<std::size_t>(i)].elapsed = Duration(1ms) + i * 1us;
    Measurement measurement;
    measurement.add(rows, NameTable(), NameTable());
    int times = 0;
    (void)analyse(measurement, {.make_room = [&] { ++times; }});
    return times;
  };
  EXPECT_EQ(asked(150'000), 0);
  EXPECT_EQ(asked(150'001), 1);
  EXPECT_EQ(asked(200'001), 0);  // By bucket.
}

TEST(TailsOf, CountsRepliesOfTheBackendsThatAreKept) {
  const Log log(4'000, true);
  const auto sum = [](const std::vector<BlockTail>& tails) {
    BlockTail total;
    for (const BlockTail& tail : tails) {
      total.replied += tail.replied;
      total.late += tail.late;
    }
    return total;
  };
  const EndingTable table = log.measurement.table();
  const SurvivalCurve curve(table);
  const BlockTail all = sum(tails_of(log.measurement, {}, curve)(200ms));
  std::vector<bool> mask(log.measurement.backends().size());
  for (std::size_t id = 0; id < mask.size(); ++id)
    mask[id] = log.measurement.backends().name_of(static_cast<std::uint16_t>(id)) == "d";
  const EndingTable without = log.measurement.table(mask);
  const SurvivalCurve kept_curve(without);
  const BlockTail kept = sum(tails_of(log.measurement, mask, kept_curve)(200ms));
  EXPECT_GT(all.late, 0u);
  EXPECT_EQ(kept.late, 0u);
  EXPECT_GT(all.replied, kept.replied);
}

class CheckTimeouts : public ::testing::Test {
 protected:
  PolicyCheck::Outcome outcome(TimeoutsSet set) {
    return check_timeouts(set, log_.measurement, analysis_, options_.advice, 0.2).rows.at(0).outcome;
  }
  const Log log_{20'000};
  const AnalysisOptions options_{.advice = {.accept_false = Probability{0.01}}};
  const Analysis analysis_ = analyse(log_.measurement, options_);
};

TEST_F(CheckTimeouts, SupportsWhatAdviseAdvises) {
  EXPECT_EQ(outcome({.request = analysis_.advice.request_timeout}), PolicyCheck::Outcome::supported);
  EXPECT_EQ(outcome({.connect = analysis_.connect->connect_timeout}), PolicyCheck::Outcome::supported);
}

TEST_F(CheckTimeouts, TurnsAtTheEndsOfWhatTheLogSupports) {
  EXPECT_EQ(outcome({.request = analysis_.advice.low}), PolicyCheck::Outcome::supported);
  EXPECT_EQ(outcome({.request = *analysis_.advice.low - 1ns}), PolicyCheck::Outcome::too_short);
  const Duration slackened = *analysis_.advice.point * 12 / 10;
  EXPECT_EQ(outcome({.request = round_up_timeout(slackened)}), PolicyCheck::Outcome::supported);
  EXPECT_EQ(outcome({.request = round_up_timeout(slackened) + 1ns}), PolicyCheck::Outcome::too_long);
}

// The ends are printed so that the verdict can be seen in them.
TEST_F(CheckTimeouts, PrintsALowEndThatWhatItSupportsIsNotBelow) {
  Analysis analysis = analysis_;
  analysis.advice.low = 19'002'300ns;
  const auto text = [&](Duration request) {
    return check_timeouts({.request = request}, log_.measurement, analysis, options_.advice, 0.2)
        .rows.at(0)
        .text;
  };
  EXPECT_THAT(text(30ms), StartsWith("the log supports 20 ms to "));
  EXPECT_THAT(text(19'150us), StartsWith("the log supports 19.1 ms to "));
  EXPECT_THAT(text(19'010us), StartsWith("the log supports 19.01 ms to "));
  EXPECT_THAT(text(19'010us), HasSubstr("; at 19.01 ms callers see "));
  EXPECT_THAT(text(19'002'500ns), StartsWith("the log supports 19.0023 ms to "));
  EXPECT_THAT(text(19ms), HasSubstr("; the log supports 20 ms to "));
  analysis.advice.high = 1'234'100us;
  EXPECT_THAT(text(1235ms), HasSubstr("to 1.235 s;"));
  EXPECT_THAT(text(1236ms), StartsWith("waits for replies that hardly ever come"));
  EXPECT_THAT(text(1236ms), HasSubstr("to 1.235 s;"));
}

TEST_F(CheckTimeouts, FloorAndCeilingMustLeaveRoomForTheAdvice) {
  EXPECT_EQ(outcome({.floor = 5ms}), PolicyCheck::Outcome::supported);
  EXPECT_EQ(outcome({.floor = 5s}), PolicyCheck::Outcome::too_long);
  EXPECT_EQ(outcome({.ceiling = 5s}), PolicyCheck::Outcome::supported);
  EXPECT_EQ(outcome({.ceiling = 5ms}), PolicyCheck::Outcome::too_short);
}

TEST(CheckTimeoutsOfASickBackend, SaysWhichAreLeftOutAndWhatCallersSeeUntilTheyAreMended) {
  const AnalysisOptions options{.advice = {.accept_false = Probability{0.01}}};
  const Log log(20'000, true);
  const PolicyCheck check = check_timeouts({.request = 99ms}, log.measurement,
                                           analyse(log.measurement, options), options.advice, 0.2);
  EXPECT_EQ(check.left_out, std::vector<std::string>{"d"});
  const PolicyCheck::Row& row = check.rows.at(0);
  EXPECT_EQ(row.outcome, PolicyCheck::Outcome::supported);
  EXPECT_GT(*row.visible_rate_pooled, *row.visible_rate + 0.15);
  EXPECT_NE(row.text.find("until what is left out is mended"), std::string::npos);

  const Log sound(20'000);
  const PolicyCheck other = check_timeouts({.request = 99ms}, sound.measurement,
                                           analyse(sound.measurement, options), options.advice, 0.2);
  EXPECT_TRUE(other.left_out.empty());
  EXPECT_FALSE(other.rows.at(0).visible_rate_pooled);
  EXPECT_EQ(other.rows.at(0).text.find("left out"), std::string::npos);
}

// A limit of 50 ms, while replies take up to 100.
class BeyondTheLongestWait : public ::testing::Test {
 protected:
  BeyondTheLongestWait() {
    NameTable names;
    std::vector<Attempt> rows;
    for (int i = 0; i < 20'000; ++i) {
      Attempt row;
      row.begins_call = true;
      row.start = WallTime(1'700'000'000s) + i * 10ms;
      row.has_start = true;
      row.elapsed = Duration(1ms) * (1 + i * 37 % 100);
      if (row.elapsed > 50ms) row = cut(row);
      rows.push_back(row);
    }
    measurement_.add(rows, names, names);
    analysis_ = analyse(measurement_, options_);
  }
  static Attempt cut(Attempt row) {
    row.elapsed = 50ms;
    row.ending = Ending::timed_out;
    return row;
  }
  const AnalysisOptions options_{.advice = {.accept_false = Probability{0.01}}, .promise = 5s};
  Measurement measurement_;
  Analysis analysis_;
};

TEST_F(BeyondTheLongestWait, NothingIsKnownWhileRepliesStillCame) {
  ASSERT_EQ(analysis_.advice.open.verdict, WaitVerdict::slow);
  const Candidate* promise = find(analysis_, "promise");
  ASSERT_TRUE(promise);
  EXPECT_FALSE(promise->rates.known);
  EXPECT_FALSE(promise->held_calls);
  EXPECT_FALSE(promise->extra_attempts_per_s);
  EXPECT_FALSE(analysis_.promise->check.rates.known);
  const Candidate* longest = find(analysis_, "longest");
  ASSERT_TRUE(longest);
  EXPECT_TRUE(longest->rates.known);
  EXPECT_TRUE(longest->extra_attempts_per_s);
}

TEST_F(BeyondTheLongestWait, ACheckClaimsNoFigureThere) {
  for (const Duration request : {Duration(50ms), Duration(50ms + 1ns)}) {
    const PolicyCheck check =
        check_timeouts({.request = request}, measurement_, analysis_, options_.advice, 0.2);
    EXPECT_EQ(check.rows.at(0).outcome, PolicyCheck::Outcome::cannot_say);
    EXPECT_EQ(check.rows.at(0).visible_rate.has_value(), request == 50ms);
    EXPECT_EQ(check.rows.at(0).text.find("callers see") == std::string::npos, request > 50ms);
  }
}

TEST(Analyse, KnowsWhatALongerPromiseDoesWhereTheOpenCallsAreLost) {
  const Log log(20'000);
  const Analysis analysis =
      analyse(log.measurement, {.advice = {.accept_false = Probability{0.01}}, .promise = 5s});
  ASSERT_TRUE(find(analysis, "promise"));
  EXPECT_TRUE(find(analysis, "promise")->rates.known);
}

}  // namespace
}  // namespace overdue
