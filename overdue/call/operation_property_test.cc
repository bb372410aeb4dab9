// The promises of Operation's class comment over random worlds in which the truth is known: every attempt has
// a fate drawn for it, what it did over there is written down, and what the operation says is held against
// it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "overdue/call/operation.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
constexpr Instant kBegin{};

enum class Fate : std::uint8_t {
  refused,
  never_connects,
  breaks_before_sending,
  done_and_answered,
  done_and_reset,
  done_and_silent,
  lost_on_the_way,
  turned_away,          // 429, listed as nothing_happened; a proxy may say it of work that was done.
  rejected_and_stored,  // 402.
  in_flight,            // 409.
  failed_or_done,       // 500.
};
constexpr int kFates = 11;

struct World {
  explicit World(const CallPolicyOptions& options, CallKind kind, std::uint64_t seed)
      : policy(options),
        dependency(CallPolicy::create(options).value(), kBegin),
        call_kind(kind),
        operation(dependency, kind, seed),
        random(seed, 1),
        favourite(static_cast<Fate>(random.below(kFates))) {}

  void add(Instant at, const Event& event) { events.emplace(at, event); }
  Duration some_time() { return Duration(static_cast<std::int64_t>(random.below(1'500)) * 1'000'000); }

  void start_attempt(Instant now, const StartAttempt& start) {
    started.push_back(now);
    // One fate more often than the others, so that all attempts of a call may share it.
    const auto fate = random.below(3) != 0 ? favourite : static_cast<Fate>(random.below(kFates));
    const AttemptNumber attempt = start.attempt;
    if (fate == Fate::never_connects) return;
    const Instant connected = now + some_time() / 10;
    if (fate == Fate::refused)
      return add(connected, AttemptEnded{.attempt = attempt, .ending = Ending::refused});
    add(connected, AttemptConnected{attempt});
    fates[attempt] = fate;
  }

  // The world sends what was connected and not abandoned: here the effect comes about.
  void send(Instant now, AttemptNumber attempt) {
    const Fate fate = fates.at(attempt);
    const Instant answer = now + some_time();
    AttemptEnded ended{.attempt = attempt, .ending = Ending::replied, .status = 200};
    const bool was_stored = stored_no;
    switch (fate) {
      case Fate::breaks_before_sending:
        return add(answer,
                   AttemptEnded{.attempt = attempt, .ending = Ending::reset, .nothing_written = true});
      case Fate::done_and_answered:
      case Fate::done_and_reset:
      case Fate::done_and_silent:
        if (was_stored && call_kind == CallKind::keyed_write) {
          ended.status = 402;
          break;
        }
        done = true;
        if (fate == Fate::done_and_silent) return;
        if (fate == Fate::done_and_reset) ended.ending = Ending::reset;
        break;
      case Fate::turned_away:
        if (policy.via_proxy && random.below(2) == 0) done = done || !was_stored;
        ended.status = 429;
        break;
      case Fate::rejected_and_stored:
        if (done && call_kind == CallKind::keyed_write) break;  // Its record says that it was done: replayed.
        if (policy.via_proxy && call_kind != CallKind::keyed_write && random.below(2) == 0) done = true;
        stored_no = true;
        ended.status = 402;
        break;
      case Fate::in_flight:
        ended.status = 409;
        break;
      case Fate::failed_or_done:
        if (random.below(2) == 0) done = done || !was_stored;
        ended.status = 500;
        break;
      default:
        return;
    }
    add(answer, ended);
    if (random.below(4) == 0) add(answer + some_time(), ended);  // The network gives it twice.
  }

  void perform(Instant now, const ActionList& actions) {
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartAttempt>(&action)) {
        RC_ASSERT(finishes == 0);
        start_attempt(now, *start);
      } else if (const auto* abandon = std::get_if<AbandonAttempt>(&action)) {
        abandoned.push_back(abandon->attempt);
      } else if (const auto* finish = std::get_if<FinishCall>(&action)) {
        ++finishes;
        verdict = *finish;
        finished_at = now;
      } else {
        RC_ASSERT(finishes == 1);
        ++handed_on;
      }
    }
  }

  void tell(Instant now, const Event& event) {
    const bool was_finished = operation.finished();
    perform(now, operation.handle(now, event));
    trace.push_back(now.time_since_epoch().count());
    trace.push_back(static_cast<std::int64_t>(event.index()));
    if (const auto* connected = std::get_if<AttemptConnected>(&event)) {
      if (std::ranges::find(abandoned, connected->attempt) == abandoned.end()) send(now, connected->attempt);
    }
    if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
      if (was_finished && ended->ending == Ending::replied) ++late_answers;
    }
  }

  // To the last event there is, so that late answers come too.
  void run() {
    tell(kBegin, CallStarted{});
    while (true) {
      const auto wakeup = operation.next_wakeup();
      const bool event_first = !events.empty() && (!wakeup || events.begin()->first <= *wakeup);
      if (event_first) {
        const auto [at, event] = *events.begin();
        events.erase(events.begin());
        tell(at, event);
      } else if (wakeup) {
        tell(*wakeup, WakeupReached{});
      } else {
        return;
      }
    }
  }

  CallPolicyOptions policy;
  Dependency dependency;
  CallKind call_kind;
  Operation operation;
  Random random;
  Fate favourite;
  std::multimap<Instant, Event> events;
  std::map<AttemptNumber, Fate> fates;
  std::vector<Instant> started;
  std::vector<AttemptNumber> abandoned;
  std::vector<std::int64_t> trace;
  bool done = false;
  bool stored_no = false;
  int finishes = 0;
  int handed_on = 0;
  int late_answers = 0;
  FinishCall verdict{};
  Instant finished_at{};
};

CallPolicyOptions any_policy() {
  CallPolicyOptions policy;
  policy.promise = Duration(*rc::gen::inRange<std::int64_t>(1, 5'000) * 1'000'000);
  policy.connect_timeout = Duration(*rc::gen::inRange<std::int64_t>(1, 200) * 1'000'000);
  policy.request_timeout = Duration(*rc::gen::inRange<std::int64_t>(1, 2'000) * 1'000'000);
  policy.attempts_max = *rc::gen::inRange<std::uint32_t>(1, kAttemptsMax + 1);
  policy.backoff.base = Duration(*rc::gen::inRange<std::int64_t>(0, 100) * 1'000'000);
  policy.backoff.jitter = *rc::gen::element(Jitter::none, Jitter::full, Jitter::decorrelated);
  policy.via_proxy = *rc::gen::arbitrary<bool>();
  policy.unsafe_retry_without_key = *rc::gen::arbitrary<bool>();
  policy.watch = *rc::gen::element(Probability{0.0}, Probability{0.5}, Probability{1.0});
  policy.errors.set(429, StatusMeaning::nothing_happened);
  policy.errors.set(402, StatusMeaning::recorded_rejection);
  policy.errors.set(409, StatusMeaning::in_flight);
  return policy;
}

CallKind any_kind() {
  return *rc::gen::element(CallKind::read, CallKind::keyed_write, CallKind::unkeyed_write);
}

RC_GTEST_PROP(OperationProperty, FinishesOnceByItsDeadlineAndHandsOnEveryLaterAnswer, ()) {
  World world(any_policy(), any_kind(), *rc::gen::arbitrary<std::uint64_t>());
  world.run();
  RC_ASSERT(world.finishes == 1);
  RC_ASSERT(world.finished_at <= kBegin + *world.policy.promise);
  RC_ASSERT(world.started.size() <= world.policy.attempts_max);
  for (const Instant started : world.started) RC_ASSERT(started < kBegin + *world.policy.promise);
  RC_ASSERT(world.handed_on >= world.late_answers);
}

RC_GTEST_PROP(OperationProperty, AWritesVerdictIsNeverAGuess, ()) {
  const CallKind kind = *rc::gen::element(CallKind::keyed_write, CallKind::unkeyed_write);
  const CallPolicyOptions policy = any_policy();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  // What goes wrong needs several fates at once: a hundred worlds each.
  for (std::uint64_t run = 0; run < 100; ++run) {
    World world(policy, kind, seed + run);
    world.run();
    if (world.verdict.verdict == Verdict::applied) RC_ASSERT(world.done);
    if (world.verdict.verdict == Verdict::not_applied) RC_ASSERT(!world.done);
  }
}

RC_GTEST_PROP(OperationProperty, AWriteWithoutAKeyIsNeverSentAgainWhileOneOfItsAttemptsMayHaveHappened, ()) {
  CallPolicyOptions policy = any_policy();
  policy.unsafe_retry_without_key = false;
  World world(policy, CallKind::unkeyed_write, *rc::gen::arbitrary<std::uint64_t>());
  world.tell(kBegin, CallStarted{});
  while (!world.operation.finished()) {
    std::uint32_t open = 0;
    for (std::uint32_t attempt = 1; attempt <= world.operation.attempts(); ++attempt)
      open += world.operation.effect_of(AttemptNumber{attempt}) != Effect::did_not_happen ? 1U : 0U;
    RC_ASSERT(open <= 1U);
    const auto wakeup = world.operation.next_wakeup();
    if (!world.events.empty() && world.events.begin()->first <= *wakeup) {
      const auto [at, event] = *world.events.begin();
      world.events.erase(world.events.begin());
      world.tell(at, event);
    } else {
      world.tell(*wakeup, WakeupReached{});
    }
  }
}

RC_GTEST_PROP(OperationProperty, EqualSeedsAndEventsGiveEqualRuns, ()) {
  const CallPolicyOptions policy = any_policy();
  const CallKind kind = any_kind();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  World one(policy, kind, seed);
  World other(policy, kind, seed);
  one.run();
  other.run();
  RC_ASSERT(one.trace == other.trace);
  RC_ASSERT(one.verdict.verdict == other.verdict.verdict);
}

}  // namespace
}  // namespace overdue
