#include "overdue/write/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace overdue {
namespace {

// The ledger by what is asked of it: a run has as many operations as entries.
class LedgerIndex {
 public:
  explicit LedgerIndex(const Ledger& ledger) {
    for (const LedgerEntry& entry : ledger.entries()) {
      if (entry.mark == LedgerMark::effect || entry.mark == LedgerMark::effect_lost)
        effects_[entry.intent] += entry.mark == LedgerMark::effect ? 1 : -1;
      of_key_[{entry.caller, entry.key}].add(entry);
      if (!entry.reply.empty()) callers_of_reply_[entry.reply].push_back(entry.caller);
    }
  }

  int effects_of(std::string_view intent) const {
    const auto found = effects_.find(intent);
    return found == effects_.end() ? 0 : found->second;
  }
  // What it holds of one key.
  const Ledger& of_key(std::string_view caller, std::string_view key) const {
    static const Ledger kNothing;
    const auto found = of_key_.find({caller, key});
    return found == of_key_.end() ? kNothing : found->second;
  }
  bool answers_others(std::string_view reply, std::string_view caller) const {
    const auto found = callers_of_reply_.find(reply);
    return found != callers_of_reply_.end() &&
           std::ranges::any_of(found->second, [&](std::string_view one) { return one != caller; });
  }

 private:
  std::map<std::string_view, int> effects_;
  std::map<std::pair<std::string_view, std::string_view>, Ledger> of_key_;
  std::map<std::string_view, std::vector<std::string_view>> callers_of_reply_;
};

// One operation's part of the history, from its beginning.
class OperationCheck {
 public:
  using Entries = std::vector<const HistoryEntry*>;
  // Requires: entries are those of one operation, its beginning among them, in their order.
  OperationCheck(const HistoryEntry& begun, const Entries& entries, const LedgerIndex& index,
                 std::vector<Finding>& findings)
      : begun_(begun),
        entries_(entries),
        index_(index),
        ledger_(index.of_key(begun.caller, begun.key)),
        findings_(findings) {}

  void run(bool drained) {
    for (const HistoryEntry* entry : entries_) read(*entry);
    const int effects = index_.effects_of(begun_.text);
    const int under_key = ledger_.effects_under(begun_.caller, begun_.key);
    if (effects > 1) found(FindingKind::duplicate, fmt::format("{} effects of one intent", effects));
    // Under its key another intent may stand, where keys are used twice.
    if (said_applied_ && (under_key < 1 || effects < 1))
      found(FindingKind::loss, "said to be applied, and no effect is there");
    if (said_not_applied_ && under_key > 0)
      found(FindingKind::guess, "said to be not applied, and an effect is there");
    if (drained && !said_applied_ && !said_not_applied_) check_open();
  }

 private:
  void found(FindingKind kind, std::string text) {
    findings_.push_back({.kind = kind, .operation = begun_.operation, .text = std::move(text)});
  }

  void read(const HistoryEntry& entry) {
    switch (entry.mark) {
      case HistoryMark::begun:
      case HistoryMark::contradicted:
        break;
      case HistoryMark::persisted:
        persisted_ = true;
        break;
      case HistoryMark::sent:
        on_sent(entry);
        break;
      case HistoryMark::did_nothing:
      case HistoryMark::crashed:
        break;
      case HistoryMark::told:
        on_told(entry);
        break;
      case HistoryMark::journaled:
        on_journaled(entry);
        break;
      case HistoryMark::horizon:
        last_send_passed_ = true;
        break;
    }
  }

  void on_sent(const HistoryEntry& entry) {
    if (!persisted_) found(FindingKind::unpersisted, "sent before its entry was durable");
    if (entry.key != begun_.key) found(FindingKind::changed_request, "sent under another key");
    if (!payload_) payload_ = &entry.text;
    if (*payload_ != entry.text) found(FindingKind::changed_request, "sent with other bytes");
  }

  void on_told(const HistoryEntry& entry) {
    if (entry.verdict == Verdict::unknown) return;
    const bool applied = entry.verdict == Verdict::applied;
    const bool must_be_durable = is_attempt_proof(entry.proof) && persisted_;
    if (must_be_durable && !is_confirmed(state_))
      found(FindingKind::unpersisted, "told by proof of the attempts before that was durable");
    check_proof(entry.proof, applied, entry);
    if (applied && !entry.text.empty()) check_reply(entry.text);
    say(applied);
  }

  void on_journaled(const HistoryEntry& entry) {
    const bool ended = is_confirmed(state_) || state_ == EntryState::closed;
    if (ended && entry.state != state_)
      found(FindingKind::reversal,
            fmt::format("the journal went from {} to {}", kEntryStateNames[static_cast<std::size_t>(state_)],
                        kEntryStateNames[static_cast<std::size_t>(entry.state)]));
    state_ = entry.state;
    if (is_confirmed(entry.state)) {
      const bool applied = entry.state == EntryState::applied;
      check_proof(entry.proof, applied, entry);
      say(applied);
    } else if (entry.state == EntryState::needs_person) {
      reason_ = entry.reason;
    } else if (entry.state == EntryState::closed) {
      closed_ = true;
      if (!entry.closing.applied && entry.closing.sealed) {
        if (!key_is_closed()) found(FindingKind::guess, "closed by a person under a seal that is not there");
        say(false);
      }
    }
  }

  void say(bool applied) {
    if (applied ? said_not_applied_ : said_applied_)
      found(FindingKind::reversal, "said to be applied and said to be not applied");
    (applied ? said_applied_ : said_not_applied_) = true;
  }

  bool has(LedgerMark mark) const { return ledger_.has(mark, begun_.caller, begun_.key); }
  bool key_is_closed() const {
    return has(LedgerMark::expired) || has(LedgerMark::fenced) || has(LedgerMark::limit_passed);
  }

  void check_proof(Proof proof, bool applied, const HistoryEntry& entry) {
    const bool says_applied =
        proof == Proof::reply || proof == Proof::status_applied || proof == Proof::listed;
    if (says_applied != applied || !borne_out(proof, entry))
      found(FindingKind::guess,
            fmt::format("{} by {}, which nothing bears out", applied ? "applied" : "not applied",
                        kProofNames[static_cast<std::size_t>(proof)]));
  }

  bool borne_out(Proof proof, const HistoryEntry& entry) const {
    switch (proof) {
      case Proof::reply:
      case Proof::status_applied:
      case Proof::listed:
        return has(LedgerMark::effect);
      case Proof::recorded_rejection:
        return has(LedgerMark::rejected);
      case Proof::fenced:
        return has(LedgerMark::fenced);
      case Proof::limit_passed:
        return has(LedgerMark::limit_passed);
      case Proof::sealed_and_not_listed:
        return key_is_closed();
      case Proof::every_attempt_definite:
        return attempts_did_nothing(entry, true);
      case Proof::never_sent:
        return attempts_did_nothing(entry, false);
      case Proof::none:
        return false;
    }
    return false;
  }

  // Of the attempts sent before `until`: all by its process, and each did nothing.
  bool attempts_did_nothing(const HistoryEntry& until, bool any_sent) const {
    bool sent_any = false;
    for (const HistoryEntry* entry : entries_) {
      if (entry == &until) break;
      if (entry->mark != HistoryMark::sent) continue;
      sent_any = true;
      if (entry->process != until.process) return false;
      const auto nothing = [&](const HistoryEntry* other) {
        return other->mark == HistoryMark::did_nothing && other->process == entry->process &&
               other->attempt == entry->attempt;
      };
      if (std::ranges::none_of(entries_, nothing)) return false;
    }
    return any_sent || !sent_any;
  }

  void check_reply(const std::string& reply) {
    if (ledger_.answered(begun_.caller, begun_.key, reply)) return;
    const bool others = index_.answers_others(reply, begun_.caller);
    found(others ? FindingKind::leaked_key : FindingKind::unfaithful_reply,
          others ? "answered with another caller's reply" : "answered with what was never said of its key");
  }

  void check_open() {
    if (closed_ || !persisted_) return;
    if (state_ != EntryState::needs_person)
      return found(FindingKind::unresolved, "still open, and no person was asked");
    const bool holds = (reason_ == PersonReason::nothing_offered) ||
                       (reason_ == PersonReason::key_expired && has(LedgerMark::expired)) ||
                       (reason_ == PersonReason::other_payload && has(LedgerMark::other_payload)) ||
                       (reason_ == PersonReason::last_send_passed && last_send_passed_);
    if (!holds)
      found(FindingKind::unresolved, fmt::format("a person was asked because of {}, which does not hold",
                                                 kPersonReasonNames[static_cast<std::size_t>(reason_)]));
  }

  const HistoryEntry& begun_;
  const Entries& entries_;
  const LedgerIndex& index_;
  const Ledger& ledger_;  // Of this operation's key.
  std::vector<Finding>& findings_;
  const std::string* payload_ = nullptr;
  EntryState state_ = EntryState::sent;
  PersonReason reason_ = PersonReason::nothing_offered;
  bool persisted_ = false;
  bool said_applied_ = false;
  bool said_not_applied_ = false;
  bool closed_ = false;
  bool last_send_passed_ = false;
};

// Effects that no operation asked for under this caller's key.
void check_keys(const History& history, const Ledger& ledger, std::vector<Finding>& findings) {
  std::map<std::string_view, std::vector<const HistoryEntry*>> begun_for;
  for (const HistoryEntry& entry : history) {
    if (entry.mark == HistoryMark::begun) begun_for[entry.text].push_back(&entry);
  }
  for (const LedgerEntry& entry : ledger.entries()) {
    if (entry.mark != LedgerMark::effect) continue;
    const auto begun = begun_for.find(entry.intent);
    if (begun == begun_for.end()) continue;
    for (const HistoryEntry* one : begun->second) {
      if (one->caller == entry.caller) continue;
      findings.push_back({.kind = FindingKind::leaked_key,
                          .operation = one->operation,
                          .text = "its effect stands under another caller's key"});
    }
  }
}

}  // namespace

std::vector<Finding> check_writes(const History& history, const Ledger& ledger, bool drained) {
  std::vector<Finding> findings;
  const LedgerIndex index(ledger);
  std::map<OperationId, OperationCheck::Entries> of_operation;
  for (const HistoryEntry& entry : history) of_operation[entry.operation].push_back(&entry);
  for (const HistoryEntry& entry : history) {
    if (entry.mark != HistoryMark::begun) continue;
    OperationCheck(entry, of_operation[entry.operation], index, findings).run(drained);
  }
  check_keys(history, ledger, findings);
  return findings;
}

}  // namespace overdue
