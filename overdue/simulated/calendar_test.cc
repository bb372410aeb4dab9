#include "overdue/simulated/calendar.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/simulated/timer_queue.h"

namespace overdue {
namespace {

constexpr std::int64_t kPage = std::int64_t{1} << 16;  // Of a new calendar, in ns.

Instant at(std::int64_t ns) { return Instant(Duration(ns)); }

// What it took in comes out in order, whatever it refused, and each entry it has room for is taken.
RC_GTEST_PROP(Calendar, GivesWhatItTookInOrder, ()) {
  Calendar calendar;
  std::set<Calendar::Entry> expected;
  std::int64_t now = 0;
  EventQueue::Ticket ticket = 0;
  for (const std::int64_t step :
       *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-60, 100))) {
    if (step >= 0) {
      const Instant when = at(now + step * step * kPage / 8);
      const Calendar::Entry entry = EventQueue::entry_of(when, ++ticket);
      if (calendar.put(entry)) expected.insert(entry);
      RC_ASSERT(expected.size() >= 4 || expected.contains(entry) || step * step / 8 >= 1000);
    } else if (!expected.empty()) {
      RC_ASSERT(calendar.first() == *expected.begin());
      now = EventQueue::event_of(calendar.first()).at.time_since_epoch().count();
      calendar.take_first();
      calendar.turn_to(at(now));
      expected.erase(expected.begin());
    }
    RC_ASSERT(calendar.first() == (expected.empty() ? EventQueue::kNone : *expected.begin()));
  }
}

TEST(Calendar, RefusesTheFifthOnAPageAndWhatIsPastTheLastPage) {
  Calendar calendar;
  for (EventQueue::Ticket ticket = 1; ticket <= 4; ++ticket)
    EXPECT_TRUE(calendar.put(EventQueue::entry_of(at(2 * kPage - 1), ticket)));
  EXPECT_FALSE(calendar.put(EventQueue::entry_of(at(2 * kPage - 1), 5)));
  EXPECT_TRUE(calendar.put(EventQueue::entry_of(at(2 * kPage), 6)));
  EXPECT_TRUE(calendar.put(EventQueue::entry_of(at(4096 * kPage - 1), 7)));
  EXPECT_FALSE(calendar.put(EventQueue::entry_of(at(4096 * kPage), 8)));
  calendar.turn_to(at(kPage - 1));
  EXPECT_FALSE(calendar.put(EventQueue::entry_of(at(4096 * kPage), 9)));
}

TEST(Calendar, HasRoomForOnePageMoreWhenOneIsTurned) {
  Calendar calendar;
  ASSERT_TRUE(calendar.put(EventQueue::entry_of(at(kPage), 1)));
  calendar.turn_to(at(kPage));
  EXPECT_TRUE(calendar.put(EventQueue::entry_of(at(4096 * kPage), 2)));
  calendar.take_first();
  EXPECT_EQ(calendar.first(), EventQueue::entry_of(at(4096 * kPage), 2));
}

TEST(Calendar, AsksForShorterPagesWhereTheyAreFullAndForLongerOnesWhereTheyEndTooSoon) {
  Calendar calendar;
  EXPECT_EQ(calendar.better_bits(), 16U);
  for (EventQueue::Ticket ticket = 1; ticket <= 5; ++ticket)
    calendar.put(EventQueue::entry_of(at(0), ticket));
  EXPECT_EQ(calendar.better_bits(), 15U);
  EXPECT_EQ(calendar.better_bits(), 16U);  // None was refused since.
  calendar.put(EventQueue::entry_of(at(8000 * kPage), 6));
  EXPECT_EQ(calendar.better_bits(), 17U);
}

TEST(Calendar, RefusesEverythingWhileItIsClosed) {
  Calendar calendar;
  calendar.close();
  EXPECT_FALSE(calendar.put(EventQueue::entry_of(at(0), 1)));
  EXPECT_EQ(calendar.first(), EventQueue::kNone);
  calendar.open();
  EXPECT_TRUE(calendar.put(EventQueue::entry_of(at(0), 2)));
}

TEST(Calendar, AsksForNoLongerPagesWhereHalfOfThemAreInUse) {
  Calendar calendar;
  EventQueue::Ticket ticket = 0;
  for (int page = 0; page < 2048; ++page)
    ASSERT_TRUE(calendar.put(EventQueue::entry_of(at(page * kPage), ++ticket)));
  EXPECT_FALSE(calendar.put(EventQueue::entry_of(at(8000 * kPage), ++ticket)));
  EXPECT_EQ(calendar.better_bits(), 16U);
  calendar.take_first();
  EXPECT_FALSE(calendar.put(EventQueue::entry_of(at(8000 * kPage), ++ticket)));
  EXPECT_EQ(calendar.better_bits(), 17U);
}

// Through many changes of the pages' length: crowds, then pauses, then both; and then more at once than there
// are pages for, so that the calendar is closed.
TEST(TimerQueue, GivesWhatAQueueWithoutACalendarGivesAtEveryPace) {
  TimerQueue queue;
  EventQueue plain;
  Random random(7);
  Instant now{};
  for (int round = 0; round < 260'000; ++round) {
    const int scale = round < 40'000 ? 12 : round < 80'000 ? 34 : round < 120'000 ? 10 + 4 * (round % 7) : 28;
    const auto ahead = static_cast<std::int64_t>(random.below(std::uint64_t{1} << scale));
    const auto slot = static_cast<std::uint32_t>(round % 1000);
    ASSERT_EQ(queue.push(now + Duration(ahead), slot), plain.push(now + Duration(ahead), slot));
    // Some are always there.
    if (round % 40'000 < 200 || (round >= 120'000 && round < 140'000)) continue;
    EventQueue::Event event{}, expected{};
    ASSERT_TRUE(plain.pop_until(Instant::max(), expected));
    ASSERT_TRUE(queue.pop_until(Instant::max(), event));
    ASSERT_EQ(event.at, expected.at);
    ASSERT_EQ(event.ticket, expected.ticket);
    now = event.at;
  }
}

}  // namespace
}  // namespace overdue
