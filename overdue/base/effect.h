#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "overdue/base/attempt.h"

namespace overdue {

// What is known of one attempt's effect on the remote side. happened means at least once.
enum class Effect : std::uint8_t { unknown, did_not_happen, happened };
inline constexpr std::array<std::string_view, 3> kEffectNames = {"unknown", "did_not_happen", "happened"};

// What a status means by the dependency's error contract.
enum class StatusMeaning : std::uint8_t {
  success,             // Done, with its answer.
  other_answer,        // An answer that is in no list and no overload: a redirect, a 404. Final for a read.
  nothing_happened,    // This attempt was turned away unexecuted. Believed only of a direct connection.
  recorded_rejection,  // The server's answer is no, stored under the key: final for the operation.
  in_flight,           // At work: another attempt under this key, or this one, accepted and not done (202).
  other_payload,       // The key belongs to another payload: sending again cannot help.
  error,               // An explicit error that is in no list: 408, 425, 429, 5xx. Proves nothing.
};
inline constexpr std::size_t kStatusMeaningCount = 7;
inline constexpr std::array<std::string_view, kStatusMeaningCount> kStatusMeaningNames = {
    "success",       "other_answer", "nothing_happened", "recorded_rejection", "in_flight",
    "other_payload", "error"};

// ErrorContract says what each status of one dependency means. HTTP statuses are 100 to 599, those of gRPC 0
// to 16. Unless a list of the policy file says otherwise, 2xx and gRPC's OK are success (202 too: list it as
// in flight where it means "accepted, not done yet"), 408, 425, 429, 5xx and gRPC's UNAVAILABLE and the like
// are errors, and every other status is an answer like any other.
class ErrorContract {
 public:
  static constexpr std::uint16_t kStatusEnd = 600;

  ErrorContract();

  // A status that is none (600 and above) is an error: nothing is known of it.
  StatusMeaning meaning_of(std::uint16_t status) const {
    return status < kStatusEnd ? meanings_[status] : StatusMeaning::error;
  }
  // Requires: status < kStatusEnd.
  void set(std::uint16_t status, StatusMeaning meaning);

 private:
  std::array<StatusMeaning, kStatusEnd> meanings_;
};

// How far a proof carries.
enum class ProofScope : std::uint8_t {
  nothing,    // No proof.
  attempt,    // Of this attempt only: fragile, all attempts are needed to say something of the operation.
  operation,  // Of the operation: a success, or a rejection recorded under its key. Stays true however late.
};

// What was seen of one attempt at its end.
struct Observation {
  Ending ending = Ending::timed_out;
  StatusMeaning meaning = StatusMeaning::error;  // Where ending is replied or rejected.
  bool nothing_written = false;                  // Not one byte of the request was handed to the network.
  bool via_proxy = false;                        // Something between may answer itself, or repeat a request.
  bool key_sent = false;                         // The request carried its idempotency key.
};

struct Evidence {
  Effect effect = Effect::unknown;
  ProofScope scope = ProofScope::nothing;
  bool operator==(const Evidence&) const = default;
};

// The table of effect.cc spelled out for every observation there is, so that asking it is one load.
constexpr std::size_t evidence_index(const Observation& seen) {
  std::size_t index = static_cast<std::size_t>(seen.ending);
  index = index * kStatusMeaningCount + static_cast<std::size_t>(seen.meaning);
  return index * 8 + (seen.nothing_written ? 4U : 0U) + (seen.via_proxy ? 2U : 0U) +
         (seen.key_sent ? 1U : 0U);
}
extern const std::array<Evidence, kEndingCount * kStatusMeaningCount * 8> kEvidence;

// What the observation proves. The one place where it is decided; its table is in effect.cc, row by row.
// A timeout never proves did_not_happen, nor does a reset after the first byte; behind a proxy no explicit
// error does. Our own refused connect(), or no byte written, does everywhere.
inline Evidence evidence_of(const Observation& seen) { return kEvidence[evidence_index(seen)]; }

}  // namespace overdue
