// What attempts, questions, people and the clock bring. What the journal brings is in
// write_lifecycle_persist.cc.
#include "overdue/write/write_lifecycle.h"

#include <algorithm>

#include "overdue/base/check.h"
#include "overdue/write/record_proof.h"

namespace overdue {
namespace {

bool is_answer(Ending ending) { return ending == Ending::replied || ending == Ending::rejected; }

WriteRow row_of(Proof proof) {
  switch (proof) {
    case Proof::status_applied:
    case Proof::listed:
      return WriteRow::L5;
    case Proof::recorded_rejection:
      return WriteRow::L6;
    case Proof::fenced:
      return WriteRow::L7;
    case Proof::limit_passed:
      return WriteRow::L8;
    case Proof::sealed_and_not_listed:
      return WriteRow::L13;
    case Proof::every_attempt_definite:
      return WriteRow::L11;
    case Proof::never_sent:
      return WriteRow::L0;
    case Proof::reply:
    case Proof::none:
      break;
  }
  return WriteRow::L4;
}

}  // namespace

WriteLifecycle::WriteLifecycle(Dependency& dependency, const WriteTerms& terms, const Identity& identity)
    : dependency_(&dependency),
      terms_(&terms),
      identity_(identity),
      operation_(dependency, terms.keyed ? CallKind::keyed_write : CallKind::unkeyed_write, identity.seed),
      reconciler_(terms, identity.seed, identity.valid_until) {}

WriteActions WriteLifecycle::handle(Instant now, const WriteEvent& event) {
  OVERDUE_CHECK(now >= now_);
  now_ = now;
  WriteActions out;
  advance(now, out);
  if (const auto* ended = std::get_if<AttemptEnded>(&event))
    on_attempt_ended(now, *ended, out);
  else if (const auto* connected = std::get_if<AttemptConnected>(&event)) {
    const bool of_operation =
        running_operation_ && static_cast<std::uint32_t>(connected->attempt) <= operation_.attempts();
    if (of_operation && state_ == State::running && !outcome_)  // Else it has its proof, or is past its end.
      follow_operation(now, operation_.handle(now, *connected), out);
  } else if (const auto* started = std::get_if<CallStarted>(&event))
    on_started(now, *started, out);
  else if (std::holds_alternative<CallerLeft>(event))
    on_caller_left(now, out);
  else if (const auto* recovered = std::get_if<EntryRecovered>(&event))
    on_recovered(*recovered, out);
  else if (const auto* persisted = std::get_if<PersistEnded>(&event))
    on_persist_ended(now, *persisted, out);
  else if (const auto* told = std::get_if<RecordTold>(&event))
    on_record_told(now, *told, out);
  else if (const auto* decided = std::get_if<PersonDecided>(&event))
    on_person(*decided, out);
  take_step(now, out);
  return out;
}

std::optional<Instant> WriteLifecycle::deadline() const {
  if (deadline_ == Instant::max()) return std::nullopt;
  return deadline_;
}

std::optional<Instant> WriteLifecycle::next_wakeup() const {
  Instant next = Instant::max();
  const auto at = [&](std::optional<Instant> when) { next = std::min(next, when.value_or(next)); };
  if (!answered_ && state_ != State::idle) at(deadline_);
  if (state_ == State::running && !outcome_) at(operation_.next_wakeup());
  if (again_) at(again_at_);
  if (question_) {
    at(answer_by_);
  } else if (state_ == State::unresolved && entry_known_ && !outcome_ && !persisting_ && !again_) {
    const auto step = reconciler_.next(situation(now_));
    if (const auto* planned = std::get_if<Reconciler::Step>(&step)) at(planned->at);
  }
  if (next == Instant::max()) return std::nullopt;
  return next;
}

// What the clock alone decides, before the event is looked at.
void WriteLifecycle::advance(Instant now, WriteActions& out) {
  if (state_ == State::running && !outcome_ && operation_.next_wakeup().value_or(Instant::max()) <= now)
    follow_operation(now, operation_.handle(now, WakeupReached{}), out);
  if (!answered_ && state_ != State::idle && now >= deadline_) answer_by_clock(now, out);
  if (question_ && now >= answer_by_) {
    reconciler_.on_unreachable();
    step_without_proof(now, std::nullopt);
    out.rows.push_back(WriteRow::L10);
  }
  if (again_ && now >= again_at_) {
    const Persist what = *again_;
    again_.reset();
    persist(what, out);
  }
}

void WriteLifecycle::on_started(Instant now, const CallStarted& event, WriteActions& out) {
  OVERDUE_CHECK(state_ == State::idle);
  const auto& promise = dependency_->policy()->promise;
  const Instant promised = promise ? saturating_add(now, *promise) : Instant::max();
  deadline_ = std::min(event.deadline.value_or(Instant::max()), promised);
  if (now >= deadline_) {
    outcome_ = Outcome{EntryState::never, Proof::never_sent};
    state_ = State::confirmed;
    out.rows.push_back(WriteRow::O2);
    return tell(Verdict::not_applied, out);
  }
  state_ = State::persisting;
  out.rows.push_back(WriteRow::O1);
  persist({.kind = PersistKind::entry}, out);
}

void WriteLifecycle::on_recovered(const EntryRecovered& event, WriteActions& out) {
  OVERDUE_CHECK(state_ == State::idle);
  OVERDUE_CHECK(event.state == EntryState::sent || event.state == EntryState::needs_person);
  answered_ = true;  // The call that asked is gone; who asks by the id hears of it.
  sealed_ = event.sealed;
  resume_ = event.state == EntryState::sent ? State::unresolved : State::needs_person;
  state_ = State::persisting;
  persist({.kind = PersistKind::take_over, .guard = event.epoch}, out);
}

void WriteLifecycle::on_caller_left(Instant now, WriteActions& out) {
  if (answered_) return;
  if (state_ == State::idle) {
    outcome_ = Outcome{EntryState::never, Proof::never_sent};
    state_ = State::confirmed;
    out.rows.push_back(WriteRow::O2);
    return tell(Verdict::not_applied, out);
  }
  if (state_ == State::running && !outcome_)
    return follow_operation(now, operation_.handle(now, CallerLeft{}), out);
  answer_by_clock(now, out);
}

// The caller waits no longer. Proof of the record is told though it is not durable yet; proof of the attempts
// is not, for another process may own the entry by now and send again.
void WriteLifecycle::answer_by_clock(Instant now, WriteActions& out) {
  if (state_ == State::running && !outcome_) return;  // The Operation answers.
  const bool known = outcome_ && !is_attempt_proof(outcome_->proof);
  out.rows.push_back(state_ == State::persisting ? WriteRow::O5 : WriteRow::O15);
  if (known)
    tell(outcome_->state == EntryState::applied ? Verdict::applied : Verdict::not_applied, out);
  else
    tell(Verdict::unknown, out);
  hand_over(now, out);
}

void WriteLifecycle::hand_over(Instant, WriteActions&) {
  if (state_ == State::persisting || state_ == State::running) state_ = State::unresolved;
}

void WriteLifecycle::follow_operation(Instant now, const ActionList& actions, WriteActions& out) {
  bool sends = false, finished = false;
  for (const Action& action : actions) {
    if (const auto* start = std::get_if<StartAttempt>(&action)) {
      sends = true;
      out.actions.emplace_back(*start);
    } else if (const auto* abandon = std::get_if<AbandonAttempt>(&action)) {
      out.rows.push_back(WriteRow::O11);
      out.actions.emplace_back(*abandon);
    } else if (const auto* finish = std::get_if<FinishCall>(&action)) {
      finished = true;
      on_operation_finished(now, *finish, out);
    } else if (const auto* late = std::get_if<HandOnLate>(&action)) {
      on_evidence(late->evidence, out);
    }
  }
  const bool listens = !actions.empty() && !sends && !finished && !operation_.finished() &&
                       operation_.next_wakeup() == operation_.deadline();
  if (listens) out.rows.push_back(WriteRow::O14);
}

void WriteLifecycle::on_operation_finished(Instant now, const FinishCall& finish, WriteActions& out) {
  if (finish.verdict == Verdict::applied)
    return prove({EntryState::applied, Proof::reply}, WriteRow::O6, out);
  if (finish.verdict == Verdict::not_applied && finish.proof == Proof::recorded_rejection)
    return prove({EntryState::rejected, Proof::recorded_rejection}, WriteRow::O7, out);
  const bool by_attempts = finish.verdict == Verdict::not_applied;
  const bool in_time = now < deadline_ && finish.stop != Stop::caller_left;
  if (by_attempts && in_time) return prove({EntryState::never, finish.proof}, WriteRow::O9, out);
  const bool rejected_by_proxy =
      dependency_->policy()->via_proxy && finish.last_ending == Ending::rejected && in_time;
  out.rows.push_back(rejected_by_proxy ? WriteRow::O10 : in_time ? WriteRow::O14 : WriteRow::O15);
  tell(Verdict::unknown, out);
  hand_over(now, out);
  if (by_attempts) prove({EntryState::never, finish.proof}, WriteRow::L11, out);
}

void WriteLifecycle::note_attempt_row(const AttemptEnded& event, WriteActions& out) const {
  const CallPolicy& policy = dependency_->policy();
  const StatusMeaning meaning = policy->errors.meaning_of(event.status);
  const Evidence evidence = evidence_of({.ending = event.ending,
                                         .meaning = meaning,
                                         .nothing_written = event.nothing_written,
                                         .via_proxy = policy->via_proxy,
                                         .key_sent = terms_->keyed});
  if (evidence.scope == ProofScope::operation) return;
  if (evidence.effect == Effect::did_not_happen)
    out.rows.push_back(WriteRow::O8);
  else if (is_answer(event.ending) && meaning == StatusMeaning::in_flight)
    out.rows.push_back(WriteRow::O12);
  else if (is_answer(event.ending) && meaning == StatusMeaning::other_payload)
    out.rows.push_back(WriteRow::O13);
  else
    out.rows.push_back(WriteRow::O11);
}

void WriteLifecycle::on_attempt_ended(Instant now, const AttemptEnded& event, WriteActions& out) {
  if (answered_) out.rows.push_back(WriteRow::O16);
  const bool says_other = is_answer(event.ending) && dependency_->policy()->errors.meaning_of(event.status) ==
                                                         StatusMeaning::other_payload;
  other_payload_ = other_payload_ || says_other;
  if (!running_operation_ || static_cast<std::uint32_t>(event.attempt) > operation_.attempts())
    return on_resend_ended(now, event, out);
  if (!operation_.finished() && (outcome_ || state_ != State::running)) return;  // It has its proof.
  if (state_ == State::running && !outcome_) note_attempt_row(event, out);
  follow_operation(now, operation_.handle(now, event), out);
}

// The reply to a request that was sent again, the last or an earlier one.
void WriteLifecycle::on_resend_ended(Instant now, const AttemptEnded& event, WriteActions& out) {
  const CallPolicy& policy = dependency_->policy();
  const Evidence evidence = evidence_of({.ending = event.ending,
                                         .meaning = policy->errors.meaning_of(event.status),
                                         .nothing_written = event.nothing_written,
                                         .via_proxy = policy->via_proxy,
                                         .key_sent = terms_->keyed});
  const bool current = question_ && question_->kind == OnUnknown::retry &&
                       static_cast<std::uint32_t>(event.attempt) == operation_.attempts() + resends_;
  if (current && evidence.scope == ProofScope::attempt) --resends_open_;
  on_evidence(evidence, out);
  if (!current) return;
  if (is_answer(event.ending))
    reconciler_.on_reached();
  else
    reconciler_.on_unreachable();
  step_without_proof(now, event.retry_after);
  if (evidence.scope != ProofScope::operation) out.rows.push_back(WriteRow::L10);
}

void WriteLifecycle::on_evidence(const Evidence& evidence, WriteActions& out) {
  if (evidence.scope == ProofScope::operation) {
    if (evidence.effect == Effect::happened)
      prove({EntryState::applied, Proof::reply}, WriteRow::L4, out);
    else
      prove({EntryState::rejected, Proof::recorded_rejection}, WriteRow::L6, out);
  } else if (evidence.scope == ProofScope::attempt && every_attempt_did_nothing()) {
    prove({EntryState::never, Proof::every_attempt_definite}, WriteRow::L11, out);
  }
}

// R2, but for the epoch, which the journal checks. A process that recovered the entry ran no Operation of it,
// and knows nothing of the attempts before.
bool WriteLifecycle::every_attempt_did_nothing() const {
  if (!entry_known_ || resends_open_ > 0 || !running_operation_) return false;
  for (std::uint32_t attempt = 1; attempt <= operation_.attempts(); ++attempt) {
    if (operation_.effect_of(AttemptNumber{attempt}) != Effect::did_not_happen) return false;
  }
  return true;
}

void WriteLifecycle::on_record_told(Instant now, const RecordTold& told, WriteActions& out) {
  const bool current = question_ == told.question && told.question.kind != OnUnknown::retry;
  if (told.says == RecordSays::expired && terms_->keyed)
    expired_seen_ = true;  // Else it closes nothing of ours.
  if (told.says == RecordSays::other_payload) other_payload_ = true;
  std::optional<Outcome> outcome = proof_of(told, *terms_);
  // Past the last send a record may have been deleted: nothing is found where it stood, or a tombstone.
  const bool may_be_deleted = terms_->expired == ExpiredKeys::deleted && now >= identity_.last_send;
  if (outcome && outcome->state == EntryState::never && may_be_deleted) outcome.reset();
  if (outcome) {
    if (current) question_.reset();
    return prove(*outcome, row_of(outcome->proof), out);
  }
  if (!current) return;
  if (told.says == RecordSays::nothing)
    reconciler_.on_unreachable();
  else
    reconciler_.on_reached();
  step_without_proof(now, told.retry_after);
  out.rows.push_back(told.says == RecordSays::absent ? WriteRow::L9 : WriteRow::L10);
}

void WriteLifecycle::step_without_proof(Instant now, std::optional<Duration> retry_after) {
  question_.reset();
  reconciler_.on_no_proof(now, retry_after);
}

Reconciler::Situation WriteLifecycle::situation(Instant now) const {
  return {.last_send_passed = now >= identity_.last_send,
          .sealed = sealed_,
          .limit_passed = identity_.valid_until && now >= *identity_.valid_until};
}

// The next step of an unresolved write, if its time has come and nothing else is under way.
void WriteLifecycle::take_step(Instant now, WriteActions& out) {
  if (state_ != State::unresolved || !entry_known_ || outcome_ || question_ || persisting_ || again_) return;
  if (other_payload_) return ask_person(PersonReason::other_payload, out);
  if (expired_seen_ && !sealed_) {
    if (!terms_->offers(OnUnknown::list)) return ask_person(PersonReason::key_expired, out);
    out.rows.push_back(WriteRow::L12);
    return persist({.kind = PersistKind::seal}, out);
  }
  const auto next = reconciler_.next(situation(now));
  if (const auto* reason = std::get_if<PersonReason>(&next)) return ask_person(*reason, out);
  const auto& step = *std::get_if<Reconciler::Step>(&next);
  if (step.at > now) return;
  reconciler_.on_taken(situation(now));
  if (step.kind == OnUnknown::retry && !dependency_->try_spend_retry(now))
    return step_without_proof(now, std::nullopt);  // A longer wait; never a failure.
  question_ = Question{.kind = step.kind, .after_seal = sealed_};
  answer_by_ = saturating_add(now, terms_->answer_within);
  if (step.kind == OnUnknown::retry) {
    ++resends_;
    ++resends_open_;
    out.rows.push_back(WriteRow::L2);
    out.actions.emplace_back(SendAgain{AttemptNumber{operation_.attempts() + resends_}, answer_by_});
  } else {
    out.rows.push_back(WriteRow::L3);
    out.actions.emplace_back(Ask{*question_, answer_by_});
  }
}

void WriteLifecycle::on_person(const PersonDecided& decided, WriteActions& out) {
  if (state_ != State::needs_person || outcome_ || persisting_) {
    out.actions.emplace_back(PersonAnswered{.closing = {.applied = decided.applied}, .declined = true});
    return;
  }
  const Closing closing{.applied = decided.applied, .sealed = sealed_ || expired_seen_};
  if (!closing.applied && !closing.sealed && !decided.unproven) {
    out.actions.emplace_back(PersonAnswered{.closing = closing, .declined = true});
    return;
  }
  out.rows.push_back(closing.applied ? WriteRow::L16 : WriteRow::L17);
  persist({.kind = PersistKind::closing, .closing = closing}, out);
}

}  // namespace overdue
