#include "overdue/simulated/timer_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace overdue {
namespace {

Instant at(std::int64_t ns) { return Instant(Duration(ns)); }

// One without a lane is what it stands beside: the same pushes, some of them as limits, the same pops. Times
// go on from the last pop, and a limit may come before the last in the lane.
RC_GTEST_PROP(TimerQueue, GivesWhatAQueueWithoutALaneGives, ()) {
  TimerQueue lane;
  EventQueue plain;
  std::int64_t now = 0;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-60, 100))) {
    if (step >= 0) {
      const auto slot = static_cast<std::uint32_t>(step);
      const Instant when = at(now + step / 2);
      const auto ticket = step % 2 == 0 ? lane.push(when, slot) : lane.push_limit(when, slot);
      RC_ASSERT(ticket == plain.push(when, slot));
      continue;
    }
    const Instant end = at(now - step);
    EventQueue::Event event{}, expected{};
    const bool any = plain.pop_until(end, expected);
    RC_ASSERT(lane.pop_until(end, event) == any);
    if (!any) continue;
    RC_ASSERT(event.at == expected.at);
    RC_ASSERT(event.ticket == expected.ticket);
    now = event.at.time_since_epoch().count();
  }
}

TEST(TimerQueue, KeepsTheOrderOfAThousandLimitsAcrossItsWidening) {
  TimerQueue queue;
  EventQueue::Event event{};
  for (int i = 0; i < 40; ++i) queue.push_limit(at(i), 1);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(queue.pop_until(at(i), event));
  for (int i = 40; i < 1000; ++i) queue.push_limit(at(i), 1);
  queue.push(at(500), 2);
  for (int i = 30; i < 1000; ++i) {
    ASSERT_TRUE(queue.pop_until(at(2000), event));
    EXPECT_EQ(event.at, at(i));
    if (i != 500) continue;
    ASSERT_TRUE(queue.pop_until(at(2000), event));
    EXPECT_EQ(event.slot(), 2U);
  }
  EXPECT_FALSE(queue.pop_until(at(2000), event));
}

}  // namespace
}  // namespace overdue
