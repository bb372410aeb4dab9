#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "overdue/base/random.h"
#include "overdue/write/exploration.h"
#include "overdue/write/scripted_write.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

// Any event that can come to a running lifecycle, sensible or not. Attempts that were not connected answer
// nothing: no world can say that.
WriteEvent random_event(Random& random, const std::vector<AttemptNumber>& connected,
                        std::vector<Persist>& asked) {
  const auto any = [&]<typename T>(std::initializer_list<T> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random.below(values.size())));
  };
  switch (random.below(6)) {
    case 0: {
      if (asked.empty()) return WakeupReached{};
      // Of what was asked, in any order; an entry of which nobody could say is reported again.
      const auto at = asked.begin() + static_cast<std::ptrdiff_t>(random.below(asked.size()));
      const Persist what = *at;
      auto result =
          any({PersistResult::done, PersistResult::done, PersistResult::rolled_back, PersistResult::unknown});
      if (what.guard && random.below(4) == 0) result = PersistResult::epoch_lost;
      if (what.kind != PersistKind::entry || result != PersistResult::unknown) asked.erase(at);
      return PersistEnded{.kind = what.kind, .result = result, .closing = what.closing};
    }
    case 1:
      if (!connected.empty())
        return AttemptEnded{.attempt = connected[random.below(connected.size())],
                            .ending = any({Ending::replied, Ending::reset}),
                            .status = any({std::uint16_t{200}, std::uint16_t{402}, std::uint16_t{409},
                                           std::uint16_t{422}, std::uint16_t{429}, std::uint16_t{500}})};
      return WakeupReached{};
    case 2:
      return RecordTold{
          .question = {.kind = any({OnUnknown::retry, OnUnknown::query, OnUnknown::fence, OnUnknown::list}),
                       .after_seal = random.below(2) == 0},
          .says = any({RecordSays::applied, RecordSays::rejected, RecordSays::fenced, RecordSays::absent,
                       RecordSays::in_flight, RecordSays::expired, RecordSays::other_payload,
                       RecordSays::nothing}),
          .limit_passed = random.below(4) == 0,
          .at_primary = random.below(4) != 0};
    case 3:
      return PersonDecided{.applied = random.below(2) == 0, .unproven = random.below(2) == 0};
    case 4:
      if (random.below(20) == 0) return CallerLeft{};
      return WakeupReached{};
    default:
      return WakeupReached{};
  }
}

// A lifecycle told `events` random events; checks what is promised of its actions at every one.
std::string run_and_check(std::uint64_t seed, int events, const WriteTerms& terms) {
  Random random(seed);
  CallPolicyOptions options = two_attempts();
  options.via_proxy = random.below(2) == 0;
  ScriptedWrite write(options, terms, {.last_send = Instant(5000s), .seed = seed});
  std::string trace = write.start(100s);
  bool entry_durable = false;
  std::vector<AttemptNumber> connected;
  std::vector<Persist> asked = {{.kind = PersistKind::entry}};
  int told = 0;
  Instant now{};
  for (int index = 0; index < events; ++index) {
    const auto wakeup = write.lifecycle.next_wakeup();
    if (random.below(2) == 0 && wakeup) now = std::max(now, *wakeup);
    if (random.below(3) == 0) now += Duration(static_cast<std::int64_t>(random.below(20'000'000'000)));
    // By the deadline the caller is answered, at the latest by the first event at or past it.
    const WriteEvent event = random_event(random, connected, asked);
    if (const auto* ended = std::get_if<PersistEnded>(&event))
      entry_durable =
          entry_durable || (ended->kind == PersistKind::entry && ended->result == PersistResult::done);
    const bool over = write.lifecycle.state() == WriteLifecycle::State::confirmed ||
                      write.lifecycle.state() == WriteLifecycle::State::closed;
    const WriteActions out = write.lifecycle.handle(now, event);
    AttemptNumber started{};  // 0: none.
    for (const WriteAction& action : out.actions) {
      trace += "; " + text_of(action);
      const bool sends =
          std::holds_alternative<StartAttempt>(action) || std::holds_alternative<SendAgain>(action);
      RC_ASSERT(entry_durable || !sends);
      RC_ASSERT(!sends || now < Instant(5000s));
      if (const auto* tell = std::get_if<Tell>(&action)) {
        ++told;
        RC_ASSERT((tell->verdict == Verdict::unknown) == (tell->outcome.proof == Proof::none));
      }
      const auto* what = std::get_if<Persist>(&action);
      if (what != nullptr) asked.push_back(*what);
      if (what != nullptr && what->kind == PersistKind::outcome)
        RC_ASSERT(is_attempt_proof(what->outcome.proof) == what->guard.has_value());
      if (over) {
        RC_LOG() << trace;
        RC_ASSERT(std::holds_alternative<RaiseAlarm>(action) ||
                  std::holds_alternative<PersonAnswered>(action) ||
                  (what != nullptr && what->kind == PersistKind::contradiction));
      }
      if (const auto* start = std::get_if<StartAttempt>(&action)) started = start->attempt;
      // Begun and abandoned in one breath: no world ever sent it.
      if (const auto* abandoned = std::get_if<AbandonAttempt>(&action);
          abandoned && abandoned->attempt == started)
        started = AttemptNumber{};
    }
    if (started != AttemptNumber{}) {
      connected.push_back(started);
      (void)write.lifecycle.handle(now, AttemptConnected{started});
    }
    RC_ASSERT(told <= 1);
    RC_ASSERT(told == 1 || now < Instant(100s));
    const auto next = write.lifecycle.next_wakeup();
    RC_ASSERT(write.lifecycle.answered() || next.has_value());
    RC_ASSERT(!next || *next >= Instant{});
  }
  return trace;
}

WriteTerms random_terms(std::uint64_t seed) {
  Random random(seed, 1);
  WriteTerms terms;
  for (const OnUnknown step : {OnUnknown::retry, OnUnknown::query, OnUnknown::fence, OnUnknown::list}) {
    if (random.below(2) == 0) terms.on_unknown.push_back(step);
  }
  terms.after_deadline = static_cast<AfterDeadline>(random.below(3));
  terms.not_found = static_cast<NotFound>(random.below(3));
  return terms;
}

RC_GTEST_PROP(WriteLifecycleProperty, AnswersOnceByItsDeadlineSendsOnlyWhatIsDurableAndRestsAtItsEnd, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  run_and_check(seed, *rc::gen::inRange(1, 60), random_terms(seed));
}

// An end that was proved while its persist still waited to be asked again was persisted a second time.
TEST(WriteLifecycleProperty, SeedsThatOnceFailedHold) {
  for (const auto& [seed, events] : {std::pair(17602938811843139U, 19), std::pair(17602939861060616U, 5)})
    EXPECT_NO_THROW(run_and_check(seed, events, random_terms(seed)));
}

RC_GTEST_PROP(WriteLifecycleProperty, EqualEventsGiveEqualActions, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const int events = *rc::gen::inRange(1, 40);
  RC_ASSERT(run_and_check(seed, events, random_terms(seed)) ==
            run_and_check(seed, events, random_terms(seed)));
}

// Everything at once, which is too large to be walked whole: random ways of at most 150 steps each.
RC_GTEST_PROP(WriteLifecycleProperty, NoWayThroughALargerWorldDoublesLosesOrGuesses, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto flip = [&] { return random.below(2) == 0; };
  explored::Settings settings = explored::offering("all", {});
  settings.terms = random_terms(random.next());
  settings.attempts = 2;
  settings.noise = settings.new_operation = settings.records_no = settings.take_over = settings.person = true;
  settings.proxy = flip();
  settings.believes_direct = settings.definite = !settings.proxy;
  settings.retention = flip();
  settings.horizon = flip();
  settings.limit = settings.terms.not_found == NotFound::after_limit;
  settings.other_payload = flip();
  const explored::Rules rules(settings);
  std::size_t steps = 0;
  for (int walk = 0; walk < 5; ++walk) {
    explored::World world = rules.first();
    for (int step = 0; step < 150; ++step) {
      std::vector<explored::World> ways, faults;
      rules.steps(world, [&](const char*, int, explored::World&& next, bool fault) {
        (fault ? faults : ways).push_back(std::move(next));
      });
      std::vector<explored::World>& from =
          ways.empty() || (!faults.empty() && random.below(12) == 0) ? faults : ways;
      if (from.empty()) break;
      world = std::move(from[random.below(from.size())]);
      ++steps;
      const std::vector<Finding> findings = check_writes(world.history, world.ledger, false);
      RC_ASSERT(findings.empty());
    }
  }
  RC_CLASSIFY(steps > 200, "more than 200 steps");
}

}  // namespace
}  // namespace overdue
