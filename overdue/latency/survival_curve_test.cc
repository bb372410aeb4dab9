#include "overdue/latency/survival_curve.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/test_tables.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using namespace testing_tables;

double fraction(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::stod(text);
  return std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
}

Ending ending_named(const std::string& name) {
  for (std::size_t i = 0; i < kEndingCount; ++i) {
    if (kEndingNames[i] == name) return static_cast<Ending>(i);
  }
  check_failed("an unknown ending");
}

struct GoldenCase {
  std::string name;
  std::vector<Ended> ended;
  std::vector<std::pair<Duration, double>> unreplied;
  std::vector<double> end;  // Reset, rejected and open share, where given.
};

std::vector<GoldenCase> golden_cases() {
  std::ifstream file("tests/golden/survival_curves.txt");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::int64_t ms = 0;
    std::string text;
    if (word == "case") {
      cases.push_back({.name = line.substr(5), .ended = {}, .unreplied = {}, .end = {}});
    } else if (word == "row") {
      std::uint64_t count = 0;
      words >> ms >> text >> count;
      cases.back().ended.push_back({ms * 1ms, ending_named(text), count});
    } else if (word == "point") {
      words >> ms >> text;
      cases.back().unreplied.emplace_back(ms * 1ms, fraction(text));
    } else if (word == "end") {
      while (words >> text) cases.back().end.push_back(fraction(text));
    }
  }
  return cases;
}

TEST(SurvivalCurve, AgreesWithExactFractionsOnEveryGoldenCase) {
  const std::vector<GoldenCase> cases = golden_cases();
  ASSERT_EQ(cases.size(), 9U);
  for (const GoldenCase& one : cases) {
    SCOPED_TRACE(one.name);
    const EndingTable table = exact_table(one.ended);
    const SurvivalCurve curve(table);
    for (const auto& [t, unreplied] : one.unreplied) {
      EXPECT_NEAR(curve.at(t).unreplied(), unreplied, 1e-13);
      EXPECT_NEAR(curve.at(t).replied, 1.0 - unreplied, 1e-13);
    }
    if (one.end.empty()) continue;
    EXPECT_NEAR(curve.back().reset, one.end[0], 1e-13);
    EXPECT_NEAR(curve.back().rejected, one.end[1], 1e-13);
    EXPECT_NEAR(curve.back().open, one.end[2], 1e-13);
  }
}

TEST(SurvivalCurve, BeforeTheFirstRowEverythingIsOpen) {
  const EndingTable table = exact_table({{5ms}, {9ms}});
  const SurvivalCurve curve(table);
  EXPECT_FALSE(curve.row_at(5ms - 1ns));
  EXPECT_EQ(curve.at(5ms - 1ns).open, 1.0);
  EXPECT_EQ(curve.at(5ms - 1ns).watched_after, 2U);
  EXPECT_EQ(curve.row_at(5ms), 0U);
  EXPECT_EQ(curve.at(5ms).replied, 0.5);
}

TEST(SurvivalCurve, ARankOfRepliesIsReachedExactly) {
  const EndingTable table = evenly_replied(1000, 1ms);
  const SurvivalCurve curve(table);
  for (int k = 1; k <= 1000; ++k) EXPECT_EQ(curve.first_row_reaching(k / 1000.0, 999), k - 1) << k;
  EXPECT_FALSE(curve.first_row_reaching(0.5, 400));
}

TEST(SurvivalCurve, ARankOfRepliesLiesInTheRowItIsCountedIn) {
  const EndingTable table =
      exact_table({{1ms, Ending::reset}, {2ms, Ending::replied, 3}, {3ms, Ending::timed_out}, {4ms}});
  const SurvivalCurve curve(table);
  EXPECT_EQ(curve.row_of_reply(1), 1U);
  EXPECT_EQ(curve.row_of_reply(3), 1U);
  EXPECT_EQ(curve.row_of_reply(4), 3U);
}

TEST(SurvivalCurve, AnEmptyRowChangesNothingEvenAfterTheLastGiveUp) {
  EndingTable table = exact_table({{1ms}, {2ms, Ending::timed_out}});
  table.push_back({.low = 3ms, .mid = 3ms, .high = 3ms});
  const SurvivalCurve curve(table);
  EXPECT_EQ(curve.back().open, 0.5);
  EXPECT_EQ(curve.back().replied, 0.5);
}

TEST(SurvivalCurve, AnEmptyTableHasNoCalls) {
  const EndingTable table;
  const SurvivalCurve curve(table);
  EXPECT_TRUE(curve.empty());
  EXPECT_EQ(curve.calls(), 0U);
}

// Any endings at few distinct times, so that ties of all kinds happen.
std::vector<Ended> any_endings() {
  const auto one = rc::gen::construct<std::tuple<int, int, int>>(
      rc::gen::inRange(0, 40), rc::gen::element(0, 0, 0, 1, 3, 4, 5), rc::gen::inRange(1, 5));
  std::vector<Ended> ended;
  for (const auto& [ms, ending, count] : *rc::gen::container<std::vector<std::tuple<int, int, int>>>(one)) {
    ended.push_back({ms * 1ms, static_cast<Ending>(ending), static_cast<std::uint64_t>(count)});
  }
  return ended;
}

RC_GTEST_PROP(SurvivalCurve, SharesAddUpToOneAtEveryRow, ()) {
  const EndingTable table = exact_table(any_endings());
  const SurvivalCurve curve(table);
  for (std::size_t row = 0; row < curve.size(); ++row) {
    const SurvivalCurve::Point point = curve[row];
    RC_ASSERT(std::abs(point.replied + point.open + point.reset + point.rejected - 1.0) < 1e-12);
    if (row > 0) {
      RC_ASSERT(point.replied >= curve[row - 1].replied);
    }
  }
}

TEST(SurvivalCurve, EveryRowOfALongTableIsWhereTheRowsUpToItEnd) {
  Random random(9);
  std::vector<Ended> ended;
  for (int call = 0; call < 1000; ++call) {
    const double kind = random.uniform();
    const Ending ending = kind < 0.1    ? Ending::timed_out
                          : kind < 0.2  ? Ending::reset
                          : kind < 0.25 ? Ending::rejected
                                        : Ending::replied;
    ended.push_back({1ms * (call + 1), ending, 1 + random.below(3)});
  }
  const EndingTable table = exact_table(ended);
  const SurvivalCurve curve(table);
  ASSERT_EQ(table.size(), 1000U);
  std::uint64_t watched = curve.calls();
  for (std::size_t row = 0; row < table.size(); ++row) {
    const EndingRow& here = table[row];
    watched -= here.replied + here.rejected + here.reset + here.gave_up();
    // Whoever is watched after it gives up at once, which moves nothing.
    EndingTable until(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(row) + 1);
    until.push_back(
        {.low = here.low + 1ns, .mid = here.low + 1ns, .high = here.low + 1ns, .timed_out = watched});
    const SurvivalCurve ending_here(until);
    const SurvivalCurve::Point& end = ending_here.back();
    const SurvivalCurve::Point point = curve[row];
    ASSERT_EQ(point.replied, end.replied) << row;
    ASSERT_EQ(point.open, end.open) << row;
    ASSERT_EQ(point.reset, end.reset) << row;
    ASSERT_EQ(point.rejected, end.rejected) << row;
    ASSERT_EQ(point.greenwood, end.greenwood) << row;
    ASSERT_EQ(point.replies, end.replies) << row;
    ASSERT_EQ(point.watched_after, watched) << row;
  }
}

RC_GTEST_PROP(SurvivalCurve, MultiplyingAllCountsChangesNoShare, ()) {
  std::vector<Ended> ended = any_endings();
  const EndingTable table = exact_table(ended);
  for (Ended& one : ended) one.count *= 7;
  const EndingTable table_of_seven = exact_table(ended);
  const SurvivalCurve curve(table);
  const SurvivalCurve curve_of_seven(table_of_seven);
  for (std::size_t row = 0; row < curve.size(); ++row) {
    RC_ASSERT(std::abs(curve[row].replied - curve_of_seven[row].replied) < 1e-12);
    RC_ASSERT(std::abs(curve[row].open - curve_of_seven[row].open) < 1e-12);
  }
}

// The definition in words: one product over the rows, with calls that never reply at risk by their weight.
RC_GTEST_PROP(SurvivalCurve, EqualsTheWeightedProductLimit, ()) {
  const EndingTable table = exact_table(any_endings());
  const SurvivalCurve curve(table);
  double kept = 1;       // G.
  double never = 0;      // C.
  double unreplied = 1;  // S.
  double greenwood = 0;  // V.
  double watched = static_cast<double>(curve.calls());
  for (std::size_t row = 0; row < table.size(); ++row) {
    const double replied = static_cast<double>(table[row].replied);
    const double at_risk = watched + kept * never;
    if (replied > 0) {
      unreplied *= 1.0 - replied / at_risk;
      if (at_risk - replied > 1e-9) greenwood += replied / (at_risk * (at_risk - replied));
    }
    const double ended = static_cast<double>(table[row].reset + table[row].rejected);
    never += ended / kept;
    watched -= replied + ended;
    RC_ASSERT(std::abs(curve[row].unreplied() - unreplied) < 1e-11);
    if (unreplied > 1e-9) {
      RC_ASSERT(std::abs(curve[row].greenwood - greenwood) < 1e-9 * (1.0 + greenwood));
    }
    if (unreplied <= 1e-9) break;
    const double gave_up = static_cast<double>(table[row].gave_up());
    if (gave_up >= watched) break;
    kept *= 1.0 - gave_up / watched;
    watched -= gave_up;
  }
}

}  // namespace
}  // namespace overdue
