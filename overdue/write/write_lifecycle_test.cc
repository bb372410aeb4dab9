#include "overdue/write/write_lifecycle.h"

#include <gtest/gtest.h>

#include "overdue/write/scripted_write.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using Kind = PersistKind;

WriteTerms offering(std::vector<OnUnknown> steps) { return {.on_unknown = std::move(steps)}; }

// Two attempts, both sent and given up: the caller waits for its deadline, 100 s.
void send_both(ScriptedWrite& write) {
  write.start(100s);
  write.persisted(0s, Kind::entry);
  write.connected(0s, 1);
  write.wakeup(10s);
  write.connected(10s, 2);
  write.wakeup(20s);
}

TEST(WriteLifecycle, IsAppliedByItsReplyAndToldOnceThatIsDurable) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}));
  EXPECT_EQ(write.start(100s), "persist entry");
  EXPECT_EQ(write.persisted(1s, Kind::entry), "start 1");
  EXPECT_EQ(write.connected(1s, 1), "");
  EXPECT_EQ(write.answer(2s, 1, 200), "persist outcome applied reply");
  EXPECT_EQ(write.persisted(3s, Kind::outcome), "tell applied reply");
  EXPECT_EQ(write.lifecycle.next_wakeup(), std::nullopt);
}

TEST(WriteLifecycle, IsUnknownAtItsDeadlineAndResolvedByARetryUnderItsKey) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}));
  write.start(100s);
  EXPECT_EQ(write.persisted(0s, Kind::entry), "start 1");
  write.connected(0s, 1);
  EXPECT_EQ(write.wakeup(10s), "abandon 1; start 2");
  write.connected(10s, 2);
  EXPECT_EQ(write.wakeup(20s), "abandon 2");
  EXPECT_EQ(write.lifecycle.next_wakeup(), Instant(100s));
  EXPECT_EQ(write.wakeup(100s), "tell unknown; send again 3");
  EXPECT_EQ(write.answer(101s, 3, 409), "");
  EXPECT_EQ(write.lifecycle.next_wakeup(), Instant(102s));
  EXPECT_EQ(write.wakeup(102s), "send again 4");
  EXPECT_EQ(write.answer(103s, 4, 200), "persist outcome applied reply");
  EXPECT_EQ(write.persisted(104s, Kind::outcome), "resolved applied reply");
}

TEST(WriteLifecycle, AtTheDeadlineTheClockAnswersAndTheReplyThenResolves) {
  for (const Duration early : {1ns, 0ns, -1ns}) {
    ScriptedWrite write(two_attempts(), offering({}));
    send_both(write);
    const std::string text = write.answer(100s - early, 2, 200);
    EXPECT_EQ(text,
              early > 0ns ? "persist outcome applied reply" : "tell unknown; persist outcome applied reply");
  }
}

}  // namespace
}  // namespace overdue
