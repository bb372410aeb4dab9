// Each wrong client, journal, network and server that LIFECYCLE's list names, in the smallest world that
// shows it. The checker is handed the history and the ledger, and must object.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "overdue/write/exploration.h"

namespace overdue::explored {
namespace {

struct MutantCase {
  Mutant mutant;
  const char* change;
  Settings settings;
};

Settings direct(Settings settings) {
  settings.proxy = false;
  settings.believes_direct = settings.definite = true;
  return settings;
}
Settings two_attempts_of(Settings settings) {
  settings.attempts = 2;
  return settings;
}
Settings asking(Settings settings) {
  settings.terms.after_deadline = AfterDeadline::settle;
  return settings;
}
Settings noisy(Settings settings) {
  settings.noise = true;
  return settings;
}
Settings owned_twice(Settings settings) {
  settings.take_over = true;
  return settings;
}
Settings fencing() {
  Settings settings = offering("fence", {OnUnknown::fence});
  settings.terms.after_deadline = AfterDeadline::revoke;
  return settings;
}
Settings limited() {
  Settings settings = asking(offering("limit", {OnUnknown::query}));
  settings.limit = true;
  settings.terms.not_found = NotFound::after_limit;
  return settings;
}
Settings forgetting(Settings settings) {
  settings.retention = settings.horizon = true;
  settings.terms.expired = ExpiredKeys::deleted;
  return settings;
}
Settings with_new_operation(Settings settings) {
  settings.new_operation = true;
  return settings;
}

std::vector<MutantCase> mutants() {
  using M = Mutant;
  const Settings retry = offering("retry", {OnUnknown::retry});
  // Where only asking is left, the last send's time is what ends it.
  Settings query = asking(offering("query", {OnUnknown::query})), list = offering("list", {OnUnknown::list});
  query.horizon = list.horizon = true;
  const Settings nothing = offering("nothing", {});
  Settings fencing_query = query, listing = list, sealed = query, person = direct(nothing);
  fencing_query.terms.not_found = NotFound::fenced;
  listing.retention = sealed.retention = true;
  person.person = true;
  Settings unkeyed = direct(retry);
  unkeyed.keyed = false;
  Settings turned_away = retry;
  turned_away.definite = true;
  Settings believes = retry;
  believes.believes_direct = true;
  Settings rejected = turned_away;
  rejected.believes_direct = true;
  return {
      {M::fresh_key, "fresh key on retry", retry},
      {M::not_found_final, "unfenced not-found as final", query},
      {M::not_found_new_operation, "unfenced not-found: sent again as a new operation",
       with_new_operation(query)},
      {M::retention_short, "retention shorter than the last retry", forgetting(retry)},
      {M::message_outlives_retention, "a request outlives retention in the network", forgetting(retry)},
      {M::fence_after_retention, "fence asked after retention", forgetting(fencing())},
      {M::effect_then_key, "effect, then key: two transactions", retry},
      {M::key_then_effect, "key, then effect: two transactions", retry},
      {M::fence_reads_replica, "fence decides on a lagging replica", fencing()},
      {M::limit_reads_replica, "limit passed, absent read on a lagging replica", limited()},
      {M::stored_5xx, "5xx stored as the answer", retry},
      {M::takeover_unfenced, "lease takeover without fencing", retry},
      {M::in_flight_is_failure, "409 in flight read as failure", noisy(two_attempts_of(retry))},
      {M::in_flight_did_nothing, "409 in nothing_happened, behind a proxy", noisy(believes)},
      {M::late_failure_ends, "late failure of A1 ends the call, A2 out", two_attempts_of(direct(retry))},
      {M::journal_after_send, "journal written after send", with_new_operation(retry)},
      {M::new_bytes, "retry regenerates the body", retry},
      {M::new_bytes_and_422_is_failure, "retry regenerates the body, 422 read as failure", noisy(retry)},
      {M::replay_before_durable, "success replayed before it is durable", retry},
      {M::tombstone_after_answer, "tombstone after the answer", fencing()},
      {M::fence_ignores_worker, "fence does not stop a running worker", fencing()},
      {M::tombstone_dropped, "tombstone dropped", fencing()},
      {M::reset_is_nothing, "reset after the first byte read as nothing", direct(nothing)},
      {M::recovered_as_unsent, "recovery believes 'never sent'", owned_twice(retry)},
      {M::recovered_ends_on_rejection, "recovered process ends on one rejection", owned_twice(turned_away)},
      {M::journal_unconditional, "journal write without epoch and state check", owned_twice(sealed)},
      {M::journal_without_epoch, "local proof used without the journal's epoch", owned_twice(direct(retry))},
      {M::told_before_persisted, "local not-applied told before it is persisted", owned_twice(direct(retry))},
      {M::unreachable_is_absent, "status unreachable read as not found", fencing_query},
      {M::limit_by_client_clock, "limit judged by the client's clock", limited()},
      {M::limit_at_claim, "limit checked at claim, not at commit", limited()},
      {M::rejection_behind_proxy, "429 counted as definite behind a proxy", rejected},
      {M::person_looks, "person resolves by looking, no seal", person},
      {M::stale_listing, "listing asked before the seal accepted after it", listing},
      {M::absent_from_list_final, "absent from a listing taken as final", direct(list)},
      {M::not_executed_after_commit, "'not executed' said after commit", direct(nothing)},
      {M::retry_without_key, "retry without key", unkeyed},
      {M::pending_is_not_sent, "deadline while persist pending told as not sent", owned_twice(retry)},
      {M::pending_write_ignored, "restart ignores a pending journal write", with_new_operation(retry)},
  };
}

TEST(Mutants, EachOfThirtyNineIsKilledByHistoryAndLedgerAlone) {
  const std::vector<MutantCase> all = mutants();
  ASSERT_EQ(all.size() + 1, kMutantCount);
  std::size_t killed = 0, number = 0;
  for (const MutantCase& one : all) {
    Settings settings = one.settings;
    settings.mutant = one.mutant;
    const Rules rules(settings);
    const Exploration found = explore(rules, 150'000);
    ++number;
    ASSERT_EQ(static_cast<std::size_t>(one.mutant), number);
    const std::string by =
        found.findings.empty()
            ? "ALIVE"
            : std::string(kFindingKindNames[static_cast<std::size_t>(found.findings.front().kind)]);
    fmt::print("{:>2} {:<52} {:<16} {:>6} states, {:>2} steps: {}\n", number, one.change, by, found.states,
               found.trace.size(), joined(found.trace));
    EXPECT_FALSE(found.findings.empty()) << one.change;
    if (!found.findings.empty()) ++killed;
  }
  fmt::print("killed {} of {}\n", killed, all.size());
}

// The same worlds with nothing wrong in them: what kills a mutant is the mutant. Each is walked for more
// states than any mutant lived, and whole where it is small.
TEST(Mutants, TheirWorldsAreCleanWithoutThem) {
  std::size_t states = 0;
  for (const MutantCase& one : mutants()) {
    // These two are wrong in what the client is told of its world, not in a step.
    if (one.mutant == Mutant::rejection_behind_proxy || one.mutant == Mutant::retry_without_key) continue;
    const Rules rules(one.settings);
    const Exploration found = explore(rules, 4'000);
    EXPECT_TRUE(found.findings.empty())
        << one.change << ": " << found.findings.front().text << ": " << joined(found.trace);
    states += found.states;
  }
  fmt::print("{} states\n", states);
}

}  // namespace
}  // namespace overdue::explored
