#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "overdue/write/write_terms.h"

namespace overdue::explored {

// The wrong clients, journals, networks and servers of LIFECYCLE's list, numbered as there.
enum class Mutant : std::uint8_t {
  none,
  fresh_key,
  not_found_final,
  not_found_new_operation,
  retention_short,
  message_outlives_retention,
  fence_after_retention,
  effect_then_key,
  key_then_effect,
  fence_reads_replica,
  limit_reads_replica,
  stored_5xx,
  takeover_unfenced,
  in_flight_is_failure,
  in_flight_did_nothing,
  late_failure_ends,
  journal_after_send,
  new_bytes,
  new_bytes_and_422_is_failure,
  replay_before_durable,
  tombstone_after_answer,
  fence_ignores_worker,
  tombstone_dropped,
  reset_is_nothing,
  recovered_as_unsent,
  recovered_ends_on_rejection,
  journal_unconditional,
  journal_without_epoch,
  told_before_persisted,
  unreachable_is_absent,
  limit_by_client_clock,
  limit_at_claim,
  rejection_behind_proxy,
  person_looks,
  stale_listing,
  absent_from_list_final,
  not_executed_after_commit,
  retry_without_key,
  pending_is_not_sent,
  pending_write_ignored,
};
inline constexpr std::size_t kMutantCount = 40;

struct Settings {
  std::string name;
  bool proxy = true;  // The network, as it is; the client believes WriteTerms and `believes_direct`.
  bool believes_direct = false;
  bool keyed = true;           // The server, as it is.
  bool definite = false;       // Requests may be refused or turned away with 429.
  bool records_no = true;      // 402.
  bool noise = true;           // Answers that prove nothing come at all; else only the clock does.
  std::uint32_t attempts = 1;  // Before the deadline.
  bool limit = false;
  bool retention = false;  // It ends, some time.
  bool horizon = false;    // The last send passes, some time.
  bool new_operation = true;
  bool take_over = true;  // R may come while P lives; else only after a crash.
  bool crash = true;
  bool restarts = false;       // P comes back beside R; only where its next life sends and asks nothing.
  bool person = false;         // A person decides.
  bool unproven = false;       // Also without a seal.
  bool other_payload = false;  // The server may say 422, for no reason.
  WriteTerms terms;
  Mutant mutant = Mutant::none;
};

}  // namespace overdue::explored
