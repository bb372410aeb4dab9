#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/write/history.h"
#include "overdue/write/ledger.h"

namespace overdue {

enum class FindingKind : std::uint8_t {
  duplicate,  // Two effects of one intent.
  loss,       // Said to be applied, and no effect is there.
  guess,      // Said to be not applied, and an effect is there; or a proof that the ledger does not bear out.
  reversal,   // A step out of confirmed.
  unfaithful_reply,  // A reply that the server never gave under this key.
  leaked_key,        // A reply, or an effect, of another caller's key.
  changed_request,   // Two keys, or two payloads, for one operation.
  unpersisted,       // Sent, or told by attempt proof, before it was durable.
  unresolved,  // Neither confirmed nor, for a reason that holds, at a person: after everything has landed.
};
inline constexpr std::size_t kFindingKindCount = 9;
inline constexpr std::array<std::string_view, kFindingKindCount> kFindingKindNames = {
    "duplicate",       "loss",        "guess",     "reversal", "unfaithful_reply", "leaked_key",
    "changed_request", "unpersisted", "unresolved"};

struct Finding {
  FindingKind kind = FindingKind::guess;
  OperationId operation{};
  std::string text;
};

// Holds what clients did and said against what the server did: no duplicate, no loss, no guess, no way out of
// confirmed, replies faithful, keys apart. It is given nothing else, so it judges a simulation and a real
// database alike. A step out of unknown must cite a proof, and the ledger must bear it out:
//
//     reply, status applied, listed   an effect under the key
//     recorded rejection              a rejection recorded under it
//     fenced, limit passed            the mark
//     sealed and not listed           a mark that closes the key
//     every attempt definite          each attempt sent, all by this process and without a crash, did
//     nothing;
//                                     durable before told
//     never sent                      nothing sent; durable before told, where there is an entry
//
// `drained`: every delayed message has landed, and clients had time to go on. Only then is an operation that
// is still open a finding, unless a person was asked for a reason that history and ledger bear out.
std::vector<Finding> check_writes(const History& history, const Ledger& ledger, bool drained);

}  // namespace overdue
