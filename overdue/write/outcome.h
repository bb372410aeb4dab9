#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "overdue/call/event.h"

namespace overdue {

// Names one write for as long as its journal entry lives: the id a caller asks by.
enum class OperationId : std::uint64_t {};

// How a write stands in the journal. sent -> (needs_person) -> one of the last four, which nothing changes.
enum class EntryState : std::uint8_t { sent, needs_person, applied, rejected, never, closed };
inline constexpr std::array<std::string_view, 6> kEntryStateNames = {"sent",     "needs_person", "applied",
                                                                     "rejected", "never",        "closed"};

// Applied or not applied, by proof.
constexpr bool is_confirmed(EntryState state) {
  return state == EntryState::applied || state == EntryState::rejected || state == EntryState::never;
}

enum class PersonReason : std::uint8_t { nothing_offered, key_expired, other_payload, last_send_passed };
inline constexpr std::array<std::string_view, 4> kPersonReasonNames = {"nothing_offered", "key_expired",
                                                                       "other_payload", "last_send_passed"};

inline constexpr std::array<std::string_view, 10> kProofNames = {
    "none",   "reply",  "recorded_rejection", "every_attempt_definite", "never_sent", "status_applied",
    "listed", "fenced", "limit_passed",       "sealed_and_not_listed"};

// Whether the proof speaks of the attempts alone. It is fragile: it counts only for the process that made
// them all, while it holds its entry (R2). Every other proof is the server's record of the key: true for
// ever, whoever hears of it and however late (R3).
constexpr bool is_attempt_proof(Proof proof) {
  return proof == Proof::every_attempt_definite || proof == Proof::never_sent;
}

// An end by proof: what the journal is to say, and why.
struct Outcome {
  EntryState state = EntryState::never;  // applied, rejected or never.
  Proof proof = Proof::none;
  bool operator==(const Outcome&) const = default;
};

// How a person closed what no proof could. `sealed`: the key was known to be closed (expired, fenced, limit
// passed), so "not applied" cannot be overtaken; without it the closing is marked unproven.
struct Closing {
  bool applied = false;
  bool sealed = false;
  bool operator==(const Closing&) const = default;
};

}  // namespace overdue
