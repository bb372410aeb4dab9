#include "overdue/simulated/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

Instant at(std::int64_t ns) { return Instant(Duration(ns)); }

TEST(EventQueue, GivesEqualTimesInTheOrderOfScheduling) {
  EventQueue queue;
  for (std::uint32_t slot : {7U, 3U, 9U, 1U, EventQueue::kSlotMax}) queue.push(at(5), slot);
  queue.push(at(4), 2);
  std::vector<std::uint32_t> slots;
  while (!queue.empty()) slots.push_back(queue.pop().slot());
  EXPECT_EQ(slots, (std::vector<std::uint32_t>{2, 7, 3, 9, 1, EventQueue::kSlotMax}));
}

// Against a sorted list, for any interleaving of pushes and pops.
RC_GTEST_PROP(EventQueue, GivesTheEarliestOfAllThatIsPending, ()) {
  EventQueue queue;
  std::vector<std::pair<std::int64_t, std::uint64_t>> pending;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-40, 60))) {
    if (step >= 0) {
      pending.emplace_back(step, queue.push(at(step), static_cast<std::uint32_t>(step)));
    } else if (!pending.empty()) {
      const auto first = std::ranges::min_element(pending);
      const EventQueue::Event event = queue.pop();
      RC_ASSERT(event.at == at(first->first));
      RC_ASSERT(event.ticket == first->second);
      RC_ASSERT(event.slot() == static_cast<std::uint32_t>(first->first));
      pending.erase(first);
    }
    RC_ASSERT(queue.size() == pending.size());
    RC_ASSERT(queue.empty() == pending.empty());
  }
}

TEST(EventQueue, KeepsItsOrderThroughTensOfThousands) {
  EventQueue queue;
  Random random(1);
  for (std::uint32_t i = 0; i < 50'000; ++i)
    queue.push(at(static_cast<std::int64_t>(random.below(10'000))), i);
  EventQueue::Event before = queue.pop();
  for (int i = 0; i < 100'000 && !queue.empty(); ++i) {
    const EventQueue::Event event = queue.pop();
    ASSERT_TRUE(before.at < event.at || (before.at == event.at && before.ticket < event.ticket));
    before = event;
    if (i < 50'000) queue.push(event.at + Duration(static_cast<std::int64_t>(random.below(3))), 0);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, LeavesWhatIsPastTheEndWhereItIs) {
  EventQueue queue;
  EventQueue::Event event{};
  EXPECT_FALSE(queue.pop_until(Instant::max(), event));
  queue.push(at(10), 1);
  EXPECT_FALSE(queue.pop_until(at(9), event));
  EXPECT_TRUE(queue.pop_until(at(10), event));
  EXPECT_EQ(event.slot(), 1U);
  EXPECT_FALSE(queue.pop_until(Instant::max(), event));
}

}  // namespace
}  // namespace overdue
