#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/base/time.h"
#include "overdue/call/operation.h"
#include "overdue/write/outcome.h"
#include "overdue/write/reconciler.h"
#include "overdue/write/write_event.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// WriteLifecycle owns one write from before its first byte to its confirmed end. It has the entry persisted,
// starts an Operation, answers the caller by its deadline with applied, not applied or unknown, and carries
// an unknown one on, for as long as it takes: to applied or not applied by proof, or to a person with the
// reason. It never guesses.
//
//     idle -> persisting -> running -> confirmed
//                 |            |           ^
//                 +----------> unresolved -+-> needs_person -> closed
//     (any) -> stopped, where another process took the entry over; (any) -> closed, where a person closed it
//
// Rules, by number as in docs/unknown-writes.md: nothing is sent before the entry is durable and acknowledged
// (R1). A proof of attempts counts only for the process that made them all, while it holds the entry's epoch,
// and is durable before anybody is told (R2). The server's record of the key counts always, whoever hears of
// it, and is persisted without an epoch (R3). Nothing else counts (R4). A confirmed write stays as it is.
//
// After a crash a lifecycle begins with EntryRecovered in place of CallStarted, and holds that at least one
// attempt is open. The bytes never pass through here: the world keeps them, frozen, with the entry.
//
// Requires: CallStarted or EntryRecovered comes first and once; `now` never runs backwards; dependency and
//           terms outlive it. Every Persist is answered, and one of an entry that was answered `unknown` is
//           answered again once it is known.
// Threads:  none; one owner drives it.
// Replay:   equal dependency, terms, seed and events give equal actions.
class WriteLifecycle {
 public:
  struct Identity {
    std::uint64_t epoch = 1;  // Of a new entry.
    Instant last_send = Instant::max();
    std::optional<Instant> valid_until;  // The limit its requests carry: when it is worth asking once more.
    std::uint64_t seed = 1;
  };
  enum class State : std::uint8_t {
    idle,
    persisting,    // The entry, or the take-over of one.
    running,       // Attempts are made, the caller waits.
    unresolved,    // The caller was told unknown.
    needs_person,  // Late proof still ends it.
    confirmed,
    closed,   // By a person.
    stopped,  // Another process owns the entry. Record proof is still handed to the journal.
  };
  static constexpr std::array<std::string_view, 8> kStateNames = {
      "idle", "persisting", "running", "unresolved", "needs_person", "confirmed", "closed", "stopped"};

  WriteLifecycle(Dependency& dependency, const WriteTerms& terms, const Identity& identity);

  [[nodiscard]] WriteActions handle(Instant now, const WriteEvent& event);

  // When to deliver WakeupReached; nullopt if only an outside event can matter.
  [[nodiscard]] std::optional<Instant> next_wakeup() const;

  State state() const { return state_; }
  bool answered() const { return answered_; }
  std::uint64_t epoch() const { return identity_.epoch; }
  std::optional<Instant> deadline() const;
  // What the lifecycle knows, for traces and for tests that compare states.
  struct Knowledge {
    bool entry_known, sealed, expired_seen, other_payload, last_send_passed, resend_open, waiting;
    std::optional<Outcome> outcome;         // Proved, and where not confirmed still to be made durable.
    std::optional<Question> question;       // Of the step that is out.
    std::optional<PersistKind> persisting;  // The last persist asked and not answered.
    bool operation_finished;
    std::uint32_t attempts, resends, steps, steps_after_last_send, steps_after_both;
  };
  Knowledge knowledge() const;

 private:
  void advance(Instant now, WriteActions& out);
  void on_started(Instant now, const CallStarted& event, WriteActions& out);
  void on_recovered(const EntryRecovered& event, WriteActions& out);
  void on_caller_left(Instant now, WriteActions& out);
  void on_attempt_ended(Instant now, const AttemptEnded& event, WriteActions& out);
  void on_resend_ended(Instant now, const AttemptEnded& event, WriteActions& out);
  void on_record_told(Instant now, const RecordTold& told, WriteActions& out);
  void on_person(const PersonDecided& decided, WriteActions& out);

  void on_persist_ended(Instant now, const PersistEnded& ended, WriteActions& out);
  void on_entry_persisted(Instant now, PersistResult result, WriteActions& out);
  void on_taken_over(std::uint64_t epoch_before, WriteActions& out);
  void on_outcome_persisted(Instant now, const PersistEnded& ended, WriteActions& out);
  void on_found_ended(const PersistEnded& ended, WriteActions& out);
  void on_closed(const PersistEnded& ended, WriteActions& out);

  void follow_operation(Instant now, const ActionList& actions, WriteActions& out);
  void on_operation_finished(Instant now, const FinishCall& finish, WriteActions& out);
  void on_evidence(const Evidence& evidence, WriteActions& out);
  void note_attempt_row(const AttemptEnded& event, WriteActions& out) const;
  bool every_attempt_did_nothing() const;

  void prove(const Outcome& outcome, WriteRow row, WriteActions& out);
  void persist(const Persist& what, WriteActions& out);
  void persist_later(Instant now, const Persist& what);
  void tell(Verdict verdict, WriteActions& out);
  void confirm(WriteActions& out);
  void answer_by_clock(Instant now, WriteActions& out);
  void hand_over(Instant now, WriteActions& out);
  void take_step(Instant now, WriteActions& out);
  void step_without_proof(Instant now, std::optional<Duration> retry_after);
  void ask_person(PersonReason reason, WriteActions& out);
  void stop(WriteActions& out);
  bool unresolved() const { return state_ == State::unresolved || state_ == State::needs_person; }
  Reconciler::Situation situation(Instant now) const;

  Dependency* dependency_;
  const WriteTerms* terms_;
  Identity identity_;
  Operation operation_;
  Reconciler reconciler_;
  State state_ = State::idle;
  State resume_ = State::unresolved;  // After a take-over.
  Instant deadline_ = Instant::max();
  Instant now_{};
  std::optional<Outcome> outcome_;
  std::optional<Persist> again_;       // A persist to be asked for once more,
  Instant again_at_{};                 // then.
  std::optional<Persist> persisting_;  // The last asked, until it is answered.
  std::optional<Question> question_;   // The step that is out,
  Instant answer_by_{};                // and until when.
  std::optional<Closing> closing_;     // Until proof has contradicted it.
  std::uint32_t resends_ = 0;
  std::uint32_t resends_open_ = 0;  // Those of which nothing is proved.
  bool running_operation_ = false;  // The Operation was started.
  bool answered_ = false;
  bool entry_known_ = false;  // Durable and acknowledged.
  bool sealed_ = false;       // The seal is durable.
  bool expired_seen_ = false;
  bool other_payload_ = false;
};

}  // namespace overdue
