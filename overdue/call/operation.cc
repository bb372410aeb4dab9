#include "overdue/call/operation.h"

#include <algorithm>

#include "overdue/base/check.h"
#include "overdue/base/random.h"

namespace overdue {
namespace {

// Streams of one operation's seed: watching and jitter do not disturb each other.
constexpr std::uint64_t kWatchStreams = 1U << 16;

// Limits are plain numbers, "none" being past every other: an optional that was written member by member and
// is copied whole right afterwards makes the processor wait for the writes, 5 ns each time.
constexpr Instant kNoLimit = Instant::max();

Instant limit_after(Instant now, const std::optional<Duration>& length) {
  return length.has_value() ? saturating_add(now, *length) : kNoLimit;
}

void set(std::optional<Instant>& to, Instant limit) {
  if (limit == kNoLimit)
    to.reset();
  else
    to.emplace(limit);
}

// What is asked for is waited at least; where nothing is, any wait will do.
Duration delay_min(const std::optional<Duration>& retry_after) { return retry_after.value_or(Duration(0)); }

bool is_answer(Ending ending) { return ending == Ending::replied || ending == Ending::rejected; }

Ending ending_of(StatusMeaning meaning) {
  const bool replied = meaning == StatusMeaning::success || meaning == StatusMeaning::other_answer;
  return replied ? Ending::replied : Ending::rejected;
}

bool retried_by_policy(const RetryOn& on, Ending ending, StatusMeaning meaning, bool nothing_sent) {
  switch (ending) {
    case Ending::refused:
      return on.refused;
    case Ending::reset:
      return nothing_sent ? on.refused : on.reset;
    case Ending::timed_out:
      return on.timed_out;
    case Ending::replied:  // An answer that is no failure is not asked for again.
      return false;
    case Ending::rejected:
      return on.rejected && meaning != StatusMeaning::recorded_rejection;
    case Ending::abandoned:
      return false;
  }
  return false;
}

}  // namespace

// These come first so that those who ask for them hold them: each event goes through several.

inline void Operation::start_attempt(Instant now, ActionList& actions) {
  const CallPolicy& policy = dependency_->policy();
  states_[attempts_] = AttemptState{};
  started_at_ns_[attempts_] = now.time_since_epoch().count();
  ++attempts_;
  answer_by_ = std::min(deadline_, limit_after(now, dependency_->request_timeout()));
  wakeup_ = std::min(answer_by_, limit_after(now, policy->connect_timeout));
  state_ = State::waiting;
  StartAttempt& start = actions.add<StartAttempt>();
  start.attempt = AttemptNumber{attempts_};
  set(start.connect_by, wakeup_);
  set(start.answer_by, answer_by_);
}

// Requires: an attempt is running; it is the last one started.
inline void Operation::give_up_attempt(Ending why, ActionList& actions) {
  AttemptState attempt = states_[attempts_ - 1];
  attempt.ended = true;
  attempt.given_up = true;
  attempt.effect = evidence_of_attempt(why, StatusMeaning::error, !attempt.sent).effect;
  attempt.watched = attempt.sent && watches_attempt();
  states_[attempts_ - 1] = attempt;
  dependency_->on_ended_without_answer(why);
  actions.push(AbandonAttempt{.attempt = AttemptNumber{attempts_}, .watch = attempt.watched});
}

inline void Operation::limit_passed(Instant now, ActionList& actions) {
  if (state_ == State::idle || finished()) return;
  if (now >= deadline_) return finish_by_what_is_known(Stop::deadline, actions);
  if (now < wakeup_) return;
  if (state_ == State::backing_off) return start_attempt(now, actions);
  const bool nothing_sent = !states_[attempts_ - 1].sent;
  give_up_attempt(Ending::timed_out, actions);
  retry_or_stop(now, {.ending = Ending::timed_out, .nothing_sent = nothing_sent}, actions);
}

// The usual events hold all that they go through (flatten): its steps are small, and handing on to the next
// was a fifth of their instructions.

ActionList Operation::handle(Instant now, const Event& event) {
  return std::visit([&](const auto& one) { return handle(now, one); }, event);
}

[[gnu::flatten]] ActionList Operation::handle(Instant now, const CallStarted& event) {
  ActionList actions;
  on_started(now, event, actions);
  return actions;
}

ActionList Operation::handle(Instant now, const AttemptConnected& event) {
  ActionList actions;
  advance(now, actions);
  on_connected(event);
  return actions;
}

[[gnu::flatten]] ActionList Operation::handle(Instant now, const AttemptEnded& event) {
  ActionList actions;
  advance(now, actions);
  if (is_answer(event.ending))
    on_answer(now, event, actions);
  else
    on_broken(now, event, actions);
  return actions;
}

ActionList Operation::handle(Instant now, const CallerLeft& /*event*/) {
  ActionList actions;
  advance(now, actions);
  if (!finished()) finish_by_what_is_known(Stop::caller_left, actions);
  return actions;
}

[[gnu::flatten]] ActionList Operation::handle(Instant now, const WakeupReached& /*event*/) {
  ActionList actions;
  advance(now, actions);
  return actions;
}

std::optional<Instant> Operation::deadline() const {
  if (deadline_ == kNoLimit) return std::nullopt;
  return deadline_;
}

Effect Operation::effect_of(AttemptNumber attempt) const {
  const auto number = static_cast<std::uint32_t>(attempt);
  OVERDUE_CHECK(number >= 1 && number <= attempts_);
  return states_[number - 1].effect;
}

void Operation::on_started(Instant now, const CallStarted& event, ActionList& actions) {
  OVERDUE_CHECK(state_ == State::idle);
  deadline_ = std::min(event.deadline.value_or(kNoLimit), limit_after(now, dependency_->policy()->promise));
  if (now >= deadline_)
    return finish(Verdict::not_applied, Proof::never_sent, Stop::deadline_was_past, actions);
  dependency_->on_first_attempt(now);
  start_attempt(now, actions);
}

void Operation::on_connected(const AttemptConnected& event) {
  AttemptState& attempt = state_of(event.attempt);
  if (attempt.ended) return;  // Given up in the meantime: the world was told to send nothing.
  attempt.connected = true;
  attempt.sent = true;
  wakeup_ = answer_by_;
}

void Operation::on_answer(Instant now, const AttemptEnded& event, ActionList& actions) {
  AttemptState& attempt = state_of(event.attempt);
  OVERDUE_CHECK(attempt.connected);  // Nothing can answer what was not sent.
  const StatusMeaning meaning = dependency_->policy()->errors.meaning_of(event.status);
  const Ending ending = ending_of(meaning);
  const Evidence evidence = evidence_of_attempt(ending, meaning, event.nothing_written);
  const bool repeated = attempt.ended && !attempt.given_up;  // The network gave us the answer twice.
  if (!repeated) {
    AnswerSeen seen{.ending = ending, .elapsed = now - started_at(event.attempt), .late = attempt.given_up};
    if (event.way) seen.way = *event.way;
    dependency_->on_answer(now, seen);
  }
  const bool was_running = !attempt.ended;
  attempt.ended = true;
  attempt.given_up = false;
  attempt.watched = false;
  if (event.nothing_written) attempt.sent = false;
  if (evidence.effect != Effect::unknown && attempt.effect != Effect::happened)
    attempt.effect = evidence.effect;
  if (finished()) return actions.push(HandOnLate{event.attempt, evidence, ending, event.status});

  if (was_running || evidence.scope == ProofScope::operation)
    remember_last(event.attempt, ending, event.status);
  if (finish_if_final(meaning, evidence, actions)) return;
  if (meaning == StatusMeaning::other_payload) no_more_sends_ = true;
  if (was_running) {
    retry_or_stop(now,
                  {.ending = ending,
                   .meaning = meaning,
                   .nothing_sent = event.nothing_written,
                   .do_not_retry = event.do_not_retry,
                   .delay_min = delay_min(event.retry_after)},
                  actions);
  } else if (state_ == State::backing_off && no_more_sends_) {
    stop(Stop::not_retried, actions);
  } else if (state_ == State::listening && !listens()) {
    // What stood in the way of another attempt may be gone: this one is now known to have done nothing.
    if (stop_ == Stop::not_safe_to_retry && !event.do_not_retry)
      retry_or_stop(now, {.ending = ending, .meaning = meaning, .delay_min = delay_min(event.retry_after)},
                    actions);
    else
      finish_by_what_is_known(stop_, actions);
  }
}

void Operation::on_broken(Instant now, const AttemptEnded& event, ActionList& actions) {
  AttemptState& attempt = state_of(event.attempt);
  if (attempt.ended) {
    attempt.watched = false;
    if (state_ == State::listening && !listens()) finish_by_what_is_known(stop_, actions);
    return;
  }
  const bool nothing_written = event.nothing_written || event.ending == Ending::refused || !attempt.connected;
  attempt.ended = true;
  if (nothing_written) attempt.sent = false;
  attempt.effect = evidence_of_attempt(event.ending, StatusMeaning::error, nothing_written).effect;
  dependency_->on_ended_without_answer(event.ending);
  remember_last(event.attempt, event.ending, 0);
  retry_or_stop(now,
                {.ending = event.ending,
                 .nothing_sent = nothing_written,
                 .do_not_retry = event.do_not_retry,
                 .delay_min = delay_min(event.retry_after)},
                actions);
}

// An answer that ends the call, whichever attempt it answers.
bool Operation::finish_if_final(StatusMeaning meaning, const Evidence& evidence, ActionList& actions) {
  const bool read = kind_ == CallKind::read;
  if (evidence.effect == Effect::happened || (read && meaning == StatusMeaning::other_answer)) {
    finish(Verdict::applied, Proof::reply, Stop::answered, actions);
    return true;
  }
  const bool says_no =
      meaning == StatusMeaning::recorded_rejection || meaning == StatusMeaning::other_payload;
  if (evidence.scope == ProofScope::operation || (read && says_no)) {
    finish(Verdict::not_applied, Proof::recorded_rejection, Stop::answered, actions);
    return true;
  }
  return false;
}

// Whether the last attempt started is listened to after it was given up.
bool Operation::watches_attempt() const {
  const Probability watch = dependency_->policy()->watch;
  return watch.parts() > 0 && (watch.parts() == Probability::kScale ||
                               Random(seed_, kWatchStreams + attempts_).uniform() < watch.value());
}

void Operation::retry_or_stop(Instant now, const Failure& failure, ActionList& actions) {
  if (failure.ending == Ending::timed_out) remember_last(AttemptNumber{attempts_}, failure.ending, 0);
  const CallPolicyOptions& policy = dependency_->policy().options();
  const bool retried =
      retried_by_policy(policy.retry_on, failure.ending, failure.meaning, failure.nothing_sent);
  if (no_more_sends_ || failure.do_not_retry || !retried) return stop(Stop::not_retried, actions);
  if (kind_ == CallKind::unkeyed_write && !policy.unsafe_retry_without_key && !every_attempt_did_nothing())
    return stop(Stop::not_safe_to_retry, actions);
  if (attempts_ >= policy.attempts_max) return stop(Stop::attempts_spent, actions);
  const Backoff& backoff = policy.backoff;
  Random random(seed_, attempts_);
  Duration delay = backoff.delay_before(attempts_, std::max(backoff.base, delay_before_), random);
  delay_before_ = delay;
  delay = std::max(delay, failure.delay_min);
  const Instant retry_at = saturating_add(now, delay);
  if (retry_at >= deadline_) return stop(Stop::no_time_to_retry, actions);
  if (!dependency_->try_spend_retry(now)) return stop(Stop::budget_spent, actions);
  if (delay == Duration(0)) return start_attempt(now, actions);
  state_ = State::backing_off;
  wakeup_ = retry_at;
}

// No more is sent. Where an answer can still come and its effect matters, wait for it.
void Operation::stop(Stop why, ActionList& actions) {
  if (kind_ == CallKind::read || deadline_ == kNoLimit || !listens())
    return finish_by_what_is_known(why, actions);
  state_ = State::listening;
  stop_ = why;
  wakeup_ = kNoLimit;
}

void Operation::finish_by_what_is_known(Stop why, ActionList& actions) {
  if (state_ == State::waiting && !states_[attempts_ - 1].ended) {
    const Ending ending = why == Stop::deadline ? Ending::timed_out : Ending::abandoned;
    give_up_attempt(ending, actions);
    remember_last(AttemptNumber{attempts_}, ending, 0);
  }
  if (!every_attempt_did_nothing()) return finish(Verdict::unknown, Proof::none, why, actions);
  const bool none_sent = std::none_of(states_.begin(), states_.begin() + attempts_,
                                      [](const AttemptState& attempt) { return attempt.sent; });
  finish(Verdict::not_applied, none_sent ? Proof::never_sent : Proof::every_attempt_definite, why, actions);
}

void Operation::finish(Verdict verdict, Proof proof, Stop why, ActionList& actions) {
  OVERDUE_CHECK(!finished());
  // An answer of an attempt given up has come while the next one was running.
  if (state_ == State::waiting && !states_[attempts_ - 1].ended) give_up_attempt(Ending::abandoned, actions);
  state_ = State::finished;
  actions.push(FinishCall{.verdict = verdict,
                          .proof = proof,
                          .stop = why,
                          .attempt = last_attempt_,
                          .last_ending = last_ending_,
                          .last_status = last_status_});
}

Operation::AttemptState& Operation::state_of(AttemptNumber attempt) {
  const auto number = static_cast<std::uint32_t>(attempt);
  OVERDUE_CHECK(number >= 1 && number <= attempts_);
  return states_[number - 1];
}

Instant Operation::started_at(AttemptNumber attempt) const {
  return Instant(Duration(started_at_ns_[static_cast<std::uint32_t>(attempt) - 1]));
}

Evidence Operation::evidence_of_attempt(Ending ending, StatusMeaning meaning, bool nothing_written) const {
  return evidence_of({.ending = ending,
                      .meaning = meaning,
                      .nothing_written = nothing_written,
                      .via_proxy = dependency_->policy()->via_proxy,
                      .key_sent = kind_ == CallKind::keyed_write});
}

void Operation::remember_last(AttemptNumber attempt, Ending ending, std::uint16_t status) {
  last_attempt_ = attempt;
  last_ending_ = ending;
  last_status_ = status;
}

bool Operation::every_attempt_did_nothing() const {
  return std::all_of(states_.begin(), states_.begin() + attempts_,
                     [](const AttemptState& attempt) { return attempt.effect == Effect::did_not_happen; });
}

bool Operation::listens() const {
  return std::any_of(states_.begin(), states_.begin() + attempts_, [](const AttemptState& attempt) {
    return attempt.watched && attempt.effect == Effect::unknown;
  });
}

}  // namespace overdue
