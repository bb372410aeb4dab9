#include "overdue/cli/seed_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace overdue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Scenario one_expectation() {
  Scenario scenario;
  Expectation expectation;
  expectation.field = "load.goodput";
  expectation.is = ">= 95%";
  scenario.expectations = {expectation};
  return scenario;
}

std::vector<ExpectationResult> judged(std::optional<double> value, bool held) {
  ExpectationResult one;
  one.text = "load.goodput >= 95%";
  one.held = held;
  one.value = value;
  one.shown = value ? "some" : "never";
  one.unit = FieldUnit::share;
  return {one};
}

RunResult writing(std::uint64_t applied, std::uint64_t duplicates) {
  RunResult result;
  result.writes = WriteCounts{.intents = applied, .applied = applied};
  result.checker.found[0] = duplicates;
  if (duplicates > 0) result.checker.first = {"intent 4 twice", "intent 9 twice"};
  return result;
}

// Seeds 1 to 9 with values 10 %, 20 %, ..., 90 %; those below 50 % fail.
void add(SeedTally& tally, std::uint64_t seed) {
  const double value = static_cast<double>(seed) / 10;
  tally.add(seed, writing(seed, seed == 7 || seed == 2 ? 1 : 0), judged(value, value >= 0.5));
}

void expect_nine(const SeedsReport& report) {
  EXPECT_EQ(report.runs, 9U);
  EXPECT_EQ(report.held, 5U);
  EXPECT_THAT(report.failed_seeds, ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(report.expectations.size(), 1U);
  const SeedsReport::Row& row = report.expectations[0];
  EXPECT_EQ(row.text, "load.goodput >= 95%");
  EXPECT_EQ(row.held, 5U);
  EXPECT_EQ(row.low, 0.1);
  EXPECT_EQ(row.median, 0.5);
  EXPECT_EQ(row.high, 0.9);
  EXPECT_EQ(row.median_shown, "50.0 %");
  EXPECT_EQ(report.writes.value().applied, 45U);
  EXPECT_EQ(report.checker.of(FindingKind::duplicate), 2U);
  EXPECT_THAT(report.checker.first, ElementsAre("seed 2: intent 4 twice", "seed 2: intent 9 twice",
                                                "seed 7: intent 4 twice", "seed 7: intent 9 twice"));
}

TEST(SeedTally, DoesNotDependOnTheOrderNorOnTheThreads) {
  const Scenario scenario = one_expectation();
  SeedTally forward(scenario);
  for (std::uint64_t seed = 1; seed <= 9; ++seed) add(forward, seed);
  expect_nine(forward.report());

  SeedTally left(scenario);
  SeedTally right(scenario);
  for (std::uint64_t seed = 9; seed >= 1; --seed) add(seed % 3 == 0 ? left : right, seed);
  SeedTally all(scenario);
  all.merge(std::move(left));
  all.merge(std::move(right));
  all.merge(SeedTally(scenario));
  expect_nine(all.report());
}

TEST(SeedTally, KeepsTheFirstFailedSeedsAndCountsThemAll) {
  const Scenario scenario = one_expectation();
  SeedTally all(scenario);
  SeedTally other(scenario);
  for (std::uint64_t seed = 3000; seed > 0; --seed)
    (seed % 2 == 0 ? all : other).add(seed, writing(1, 1), judged(0.5, false));
  all.merge(std::move(other));
  const SeedsReport report = all.report();
  EXPECT_EQ(report.runs - report.held, 3000U);
  ASSERT_EQ(report.failed_seeds.size(), SeedTally::kFailedSeedsMax);
  EXPECT_EQ(report.failed_seeds.front(), 1U);
  EXPECT_EQ(report.failed_seeds.back(), 1000U);
  EXPECT_EQ(report.checker.all(), 3000U);
  ASSERT_EQ(report.checker.first.size(), 5U);
  EXPECT_EQ(report.checker.first.back(), "seed 3: intent 4 twice");
}

TEST(SeedTally, WhatNeverCameIsMoreThanAnyValueAndNoNumber) {
  const Scenario scenario = one_expectation();
  SeedTally tally(scenario);
  tally.add(1, {}, judged(0.5, true));
  tally.add(2, {}, judged(std::nullopt, false));
  tally.add(3, {}, judged(std::nullopt, false));
  const SeedsReport::Row row = tally.report().expectations.at(0);
  EXPECT_EQ(row.low_shown, "50.0 %");
  EXPECT_EQ(row.median_shown, "never");
  EXPECT_FALSE(row.median);
  EXPECT_EQ(row.high_shown, "never");
  EXPECT_FALSE(tally.report().writes) << "no client has a journal";
}

TEST(SeedTally, OfNoRunThereIsNoRow) {
  const SeedsReport report = SeedTally(one_expectation()).report();
  EXPECT_EQ(report.runs, 0U);
  EXPECT_THAT(report.expectations, IsEmpty());
}

}  // namespace
}  // namespace overdue
