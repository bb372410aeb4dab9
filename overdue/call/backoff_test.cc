#include "overdue/call/backoff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace overdue {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, WithoutJitterDoublesUpToTheCap) {
  const Backoff backoff{.base = 25ms, .cap = 150ms, .jitter = Jitter::none};
  Random random(1);
  const std::vector<Duration> wanted = {25ms, 50ms, 100ms, 150ms, 150ms};
  for (std::uint32_t retry = 1; retry <= wanted.size(); ++retry)
    EXPECT_EQ(backoff.delay_before(retry, backoff.base, random), wanted[retry - 1]);
}

TEST(Backoff, DoesNotOverflowHoweverOftenItDoubles) {
  const Backoff backoff{.base = 1h, .cap = Duration::max(), .jitter = Jitter::none};
  Random random(1);
  EXPECT_EQ(backoff.delay_before(4'000'000, backoff.base, random), Duration::max());
}

TEST(Backoff, FullJitterReachesFromNothingToTheWholeDelay) {
  const Backoff backoff{.base = 10ns, .cap = 1s, .jitter = Jitter::full};
  Random random(7);
  std::vector<int> seen(41);
  for (int draw = 0; draw < 4'000; ++draw)
    ++seen.at(static_cast<std::size_t>(backoff.delay_before(3, backoff.base, random).count()));
  EXPECT_GT(*std::ranges::min_element(seen), 40) << "each of 0..40 ns is expected 98 times";
  EXPECT_LT(*std::ranges::max_element(seen), 180);
}

TEST(Backoff, DecorrelatedJitterLiesBetweenTheBaseAndThreeTimesTheDelayBefore) {
  const Backoff backoff{.base = 10ns, .cap = 1s, .jitter = Jitter::decorrelated};
  Random random(7);
  Duration least = 1h;
  Duration most{};
  for (int draw = 0; draw < 4'000; ++draw) {
    const Duration delay = backoff.delay_before(2, 20ns, random);
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_EQ(least, 10ns);
  EXPECT_EQ(most, 60ns);
}

TEST(Backoff, ABaseOfNothingIsAnImmediateRetry) {
  const Backoff backoff{.base = 0ns, .cap = 0ns, .jitter = Jitter::full};
  Random random(7);
  EXPECT_EQ(backoff.delay_before(5, 0ns, random), 0ns);
}

RC_GTEST_PROP(Backoff, NeverWaitsLongerThanItsCapOrLessThanNothing, ()) {
  const Duration base(*rc::gen::inRange<std::int64_t>(0, 1'000'000));
  const Duration cap = base + Duration(*rc::gen::inRange<std::int64_t>(0, 10'000'000));
  const auto jitter = *rc::gen::element(Jitter::none, Jitter::full, Jitter::decorrelated);
  const Backoff backoff{.base = base, .cap = cap, .jitter = jitter};
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  Duration before = base;
  for (std::uint32_t retry = 1; retry <= 12; ++retry) {
    const Duration delay = backoff.delay_before(retry, before, random);
    RC_ASSERT(delay >= (jitter == Jitter::full ? 0ns : base));
    RC_ASSERT(delay <= cap);
    before = delay;
  }
}

RC_GTEST_PROP(Backoff, EqualSeedsGiveEqualDelays, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random left(seed);
  Random right(seed);
  for (std::uint32_t retry = 1; retry < 5; ++retry)
    RC_ASSERT(Backoff{}.delay_before(retry, 25ms, left) == Backoff{}.delay_before(retry, 25ms, right));
}

}  // namespace
}  // namespace overdue
