// WriteLifecycle and its journal: what is proved, made durable, and told.
#include "overdue/base/check.h"
#include "overdue/base/random.h"
#include "overdue/write/write_lifecycle.h"

namespace overdue {

// Record proof goes to the journal whoever owns the entry (R3); attempt proof only under our epoch (R2).
void WriteLifecycle::prove(const Outcome& outcome, WriteRow row, WriteActions& out) {
  const bool fragile = is_attempt_proof(outcome.proof);
  if (state_ == State::confirmed) return out.rows.push_back(WriteRow::L19);
  if (state_ == State::closed) {
    if (fragile || !closing_ || closing_->applied == (outcome.state == EntryState::applied)) return;
    out.rows.push_back(WriteRow::L18);
    persist({.kind = PersistKind::contradiction, .outcome = outcome}, out);
    out.actions.emplace_back(RaiseAlarm{outcome, *closing_});
    closing_.reset();
    return;
  }
  if (state_ == State::stopped) {
    if (fragile) return;
    out.rows.push_back(WriteRow::L20);
  }
  if (outcome_ && (fragile || !is_attempt_proof(outcome_->proof))) return;  // Under way.
  outcome_ = outcome;
  again_.reset();
  question_.reset();
  out.rows.push_back(row);
  if (state_ == State::needs_person) out.rows.push_back(WriteRow::L15);
  Persist what{.kind = PersistKind::outcome, .outcome = outcome};
  if (fragile) what.guard = identity_.epoch;
  persist(what, out);
}

void WriteLifecycle::persist(const Persist& what, WriteActions& out) {
  persisting_ = what;
  out.actions.emplace_back(what);
}

void WriteLifecycle::persist_later(Instant now, const Persist& what) {
  Random random(identity_.seed, 1U << 20);
  again_ = what;
  again_at_ = saturating_add(now, terms_->between_steps.delay_before(1, terms_->between_steps.base, random));
}

void WriteLifecycle::tell(Verdict verdict, WriteActions& out) {
  OVERDUE_CHECK(!answered_);
  answered_ = true;
  out.actions.emplace_back(
      Tell{.verdict = verdict, .outcome = verdict == Verdict::unknown ? Outcome{} : outcome_.value()});
}

void WriteLifecycle::ask_person(PersonReason reason, WriteActions& out) {
  out.rows.push_back(WriteRow::L14);
  persist({.kind = PersistKind::person, .guard = identity_.epoch, .reason = reason}, out);
}

// outcome_ is durable, or nothing is there that could be.
void WriteLifecycle::confirm(WriteActions& out) {
  state_ = State::confirmed;
  question_.reset();
  again_.reset();  // What was to be asked once more is not needed any more.
  if (answered_)
    out.actions.emplace_back(Resolved{*outcome_});
  else
    tell(outcome_->state == EntryState::applied ? Verdict::applied : Verdict::not_applied, out);
}

// Another process owns the entry: no more is sent or asked. What we hear of it still goes to the journal.
void WriteLifecycle::stop(WriteActions& out) {
  if (!answered_) {
    out.rows.push_back(WriteRow::O10);
    tell(Verdict::unknown, out);
  }
  out.rows.push_back(WriteRow::L20);
  state_ = State::stopped;
  question_.reset();
  again_.reset();
}

void WriteLifecycle::on_persist_ended(Instant now, const PersistEnded& ended, WriteActions& out) {
  const std::optional<Persist> asked = persisting_;
  const bool current = asked && asked->kind == ended.kind;
  if (current) persisting_.reset();
  if (state_ == State::confirmed || state_ == State::closed) return;
  if (ended.kind == PersistKind::entry) return on_entry_persisted(now, ended.result, out);
  if (ended.result == PersistResult::ended) return on_found_ended(ended, out);
  if (ended.result == PersistResult::epoch_lost) {
    const bool of_outcome = ended.kind == PersistKind::outcome;
    if (of_outcome && (!outcome_ || !is_attempt_proof(outcome_->proof))) return;  // Replaced by record proof.
    if (of_outcome) outcome_.reset();
    if (state_ != State::stopped) stop(out);
    return;
  }
  if (ended.result != PersistResult::done) {
    // Each of these may be done twice. Where another persist has taken its place, it is not needed any more.
    if (current) persist_later(now, *asked);
    return;
  }
  switch (ended.kind) {
    case PersistKind::take_over:
      return on_taken_over(asked && asked->guard ? *asked->guard : identity_.epoch, out);
    case PersistKind::outcome:
      if (outcome_) confirm(out);
      return;
    case PersistKind::person:
      if (outcome_ || state_ != State::unresolved) return;
      state_ = State::needs_person;
      out.actions.emplace_back(AskPerson{asked ? asked->reason : PersonReason::nothing_offered});
      return;
    case PersistKind::seal:
      sealed_ = true;
      return;
    case PersistKind::closing:
      return on_closed(ended, out);
    case PersistKind::entry:
    case PersistKind::contradiction:
      return;
  }
}

void WriteLifecycle::on_entry_persisted(Instant now, PersistResult result, WriteActions& out) {
  if (entry_known_ || state_ == State::idle) return;
  if (result == PersistResult::unknown) {
    if (answered_) return;
    out.rows.push_back(WriteRow::O5);
    tell(Verdict::unknown, out);
    return hand_over(now, out);
  }
  if (result == PersistResult::rolled_back) {
    outcome_ = Outcome{EntryState::never, Proof::never_sent};
    out.rows.push_back(WriteRow::O4);
    return confirm(out);
  }
  if (result != PersistResult::done) return stop(out);  // It landed, and another process has it.
  entry_known_ = true;
  if (state_ != State::persisting) return prove({EntryState::never, Proof::never_sent}, WriteRow::L0, out);
  state_ = State::running;
  running_operation_ = true;
  out.rows.push_back(WriteRow::O3);
  // A request may not outlive the last send, so the caller does not wait past it either.
  deadline_ = std::min(deadline_, identity_.last_send);
  CallStarted started;
  if (deadline_ != Instant::max()) started.deadline = deadline_;
  follow_operation(now, operation_.handle(now, started), out);
}

void WriteLifecycle::on_taken_over(std::uint64_t epoch_before, WriteActions& out) {
  if (entry_known_) return;
  identity_.epoch = epoch_before + 1;
  entry_known_ = true;
  if (state_ == State::persisting) state_ = resume_;
  out.rows.push_back(WriteRow::L1);
}

// Another process ended it. Ends agree, unless a person's stands against proof of ours.
void WriteLifecycle::on_found_ended(const PersistEnded& ended, WriteActions& out) {
  if (ended.found.state != EntryState::closed) {
    outcome_ = ended.found;
    return confirm(out);
  }
  const std::optional<Outcome> ours = outcome_;
  outcome_.reset();
  again_.reset();
  question_.reset();
  closing_ = ended.closing;
  if (!answered_) tell(Verdict::unknown, out);
  state_ = State::closed;
  if (ours) prove(*ours, WriteRow::L18, out);
}

void WriteLifecycle::on_closed(const PersistEnded& ended, WriteActions& out) {
  closing_ = ended.closing;
  state_ = State::closed;
  again_.reset();
  out.actions.emplace_back(PersonAnswered{.closing = ended.closing});
  if (outcome_) {
    const Outcome ours = *outcome_;
    outcome_.reset();
    prove(ours, WriteRow::L18, out);
  }
}

WriteLifecycle::Knowledge WriteLifecycle::knowledge() const {
  Knowledge known{};
  known.entry_known = entry_known_;
  known.sealed = sealed_;
  known.expired_seen = expired_seen_;
  known.other_payload = other_payload_;
  known.last_send_passed = now_ >= identity_.last_send;
  known.resend_open = resends_open_ > 0;
  known.waiting = again_.has_value();
  known.outcome = outcome_;
  known.question = question_;
  if (persisting_) known.persisting = persisting_->kind;
  known.operation_finished = !running_operation_ || operation_.finished();
  known.attempts = operation_.attempts();
  known.resends = resends_;
  known.steps = reconciler_.steps();
  known.steps_after_last_send = reconciler_.steps_after_last_send();
  known.steps_after_both = reconciler_.steps_after_both();
  return known;
}

}  // namespace overdue
