// The hot path takes no memory: every operator new of this test program counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <variant>

#include "overdue/call/operation.h"

namespace {
std::uint64_t allocations = 0;
}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc)
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace overdue {
namespace {

using namespace std::chrono_literals;

// A call whose first attempt is given up and whose second is answered.
void call_with_a_retry(Dependency& dependency, Instant start, std::uint64_t seed) {
  Operation operation(dependency, CallKind::keyed_write, seed);
  (void)operation.handle(start, CallStarted{});
  (void)operation.handle(start + 1ms, AttemptConnected{AttemptNumber{1}});
  (void)operation.handle(start + 100ms, WakeupReached{});
  const Instant again = operation.next_wakeup().value();
  (void)operation.handle(again, WakeupReached{});
  (void)operation.handle(again + 1ms, AttemptConnected{AttemptNumber{2}});
  (void)operation.handle(again + Duration(1'000'000 + static_cast<std::int64_t>(seed % 50) * 1'000'000),
                         AttemptEnded{.attempt = AttemptNumber{2}, .ending = Ending::replied, .way = 1ms});
  ASSERT_TRUE(operation.finished());
}

TEST(Operation, TakesNoMemoryOnceItsDependencyHasSeenLatenciesOfThatRange) {
  const CallPolicyOptions options{.promise = 2s,
                                  .request_timeout = 100ms,
                                  .attempts_max = 3,
                                  .backoff = {.jitter = Jitter::decorrelated},
                                  .retry_budget = RetryBudget::Options{.retries_per_1000_requests = 1000},
                                  .watch = Probability{0.5},
                                  .window = 200s};
  Dependency dependency(CallPolicy::create(options).value(), Instant{});
  Instant now{};
  for (std::uint64_t seed = 0; seed < 300; ++seed) call_with_a_retry(dependency, now += 1s, seed);
  const std::uint64_t before = allocations;
  for (std::uint64_t seed = 0; seed < 300; ++seed) call_with_a_retry(dependency, now += 1s, seed);
  EXPECT_EQ(allocations - before, 0U);
  const std::uint64_t counted = allocations;
  EXPECT_FALSE(dependency.recent_latencies().empty());
  EXPECT_GT(allocations, counted) << "the count itself works";
}

}  // namespace
}  // namespace overdue
