// What a scenario says of writes that end confirmed: a service's store of keys, a client's journal, and what
// repeats requests on their way.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "overdue/base/quantity.h"
#include "overdue/simulated/scenario_read.h"

namespace overdue {
namespace {

constexpr Duration kLongest = std::chrono::hours(24 * 365);  // As the longest run.
constexpr std::uint64_t kOrdersAgainMax = 10;

TimeDistribution one_millisecond() { return {ConstantTime{std::chrono::milliseconds(1)}}; }

// Not above `kLongest`: an instant plus this is an instant.
Duration read_length(TableReader& reader, std::string_view key, Duration otherwise, bool zero = false) {
  const auto read = zero ? reader.duration_or_zero(key) : reader.duration(key);
  if (!read) return otherwise;
  if (*read <= kLongest) return *read;
  reader.fault(
      key, fmt::format("= {}: write {} at most", shown(*reader.any(key)), format_duration_exact(kLongest)));
  return otherwise;
}

bool says_none(TableReader& reader, std::string_view key) {
  const TomlValue* value = reader.any(key);
  return value != nullptr && is_none(*value);
}

std::optional<Duration> read_length_or_none(TableReader& reader, std::string_view key) {
  if (!reader.has(key) || says_none(reader, key)) return std::nullopt;
  return read_length(reader, key, kLongest);
}

std::optional<TimeDistribution> read_time_or_none(TableReader& reader, std::string_view key) {
  return says_none(reader, key) ? std::nullopt : reader.time(key);
}

// The ways in which it is wrong: a list of names, or one name. "none", or an empty list, takes them away.
template <std::size_t Count>
std::bitset<Count> read_wrong(TableReader& reader, const std::array<std::string_view, Count>& names) {
  std::bitset<Count> wrong;
  const TomlValue* value = reader.any("wrong");
  if (value == nullptr || says_none(reader, "wrong")) return wrong;
  std::vector<TomlValue> single = {*value};
  for (const TomlValue& item : value->kind == TomlValue::Kind::array ? value->items : single) {
    const auto found = item.kind == TomlValue::Kind::text ? std::ranges::find(names, item.text) : names.end();
    if (found != names.end()) {
      wrong.set(static_cast<std::size_t>(found - names.begin()));
      continue;
    }
    const std::string nearest =
        item.kind == TomlValue::Kind::text
            ? nearest_name(item.text, std::vector<std::string>(names.begin(), names.end()))
            : "";
    reader.fault("wrong",
                 fmt::format("has {}: {}", shown(item),
                             nearest.empty() ? fmt::format("write names of these: {}", fmt::join(names, ", "))
                                             : fmt::format("did you mean \"{}\"?", nearest)));
  }
  return wrong;
}

void check_wrong_store(TableReader& reader, const Store& store) {
  const auto needs = [&](StoreWrong wrong, std::string_view key, std::string_view example) {
    if (!store.is(wrong) || (reader.has(key) && !says_none(reader, key))) return;
    reader.fault("wrong", fmt::format("has \"{}\", which is nothing without {}: write {} = \"{}\" too",
                                      kStoreWrongNames[static_cast<std::size_t>(wrong)], key, key, example));
  };
  needs(StoreWrong::fence_at_replica, "replica_lag", "50ms");
  needs(StoreWrong::replica_says_primary, "replica_lag", "50ms");
  needs(StoreWrong::answers_before_durable, "durable_after", "20ms");
  needs(StoreWrong::large_reply_unrecorded, "large_replies", "1%");
}

// The journal's tables against the policy of what the client calls.
void check_journal(TableReader& client, TableReader& journal, const Client& caller,
                   const ScenarioNames& names) {
  if (caller.kind == CallKind::read) {
    client.fault(client.has("kind") ? "kind" : "journal",
                 "is of a read, and a journal is for writes: write kind = \"keyed_write\"");
  }
  const DependencyPolicy* policy = names.policy == nullptr ? nullptr : names.policy->find(caller.calls);
  if (policy == nullptr) return;
  if (policy->write.line == 0) {
    journal.fault("", fmt::format("needs a table [dependency.{}.write], which says what becomes of a write "
                                  "that stays unknown",
                                  caller.calls));
    return;
  }
  if (!policy->write.last_send)
    journal.fault("", fmt::format("needs a last_send in [dependency.{}.write]: write last_send = \"1h\"",
                                  caller.calls));
  const bool keyed = policy->write.key_header.has_value();
  if (keyed && caller.kind == CallKind::unkeyed_write)
    client.fault("kind", fmt::format("= \"unkeyed_write\", and [dependency.{}.write] has a key_header: write "
                                     "\"keyed_write\"",
                                     caller.calls));
  if (!keyed && caller.kind == CallKind::keyed_write)
    client.fault("kind", fmt::format("= \"keyed_write\", and [dependency.{}.write] has no key_header: write "
                                     "key_header = \"Idempotency-Key\" there, or \"unkeyed_write\" here",
                                     caller.calls));
}

}  // namespace

void read_store(TableReader& reader, Service& service) {
  const TomlValue* table = reader.table("store");
  if (table == nullptr) return;
  if (service.remembers_keys)
    reader.fault("remembers_keys", "and a store do not go together: a store remembers keys, and more");
  TableReader inner(*table, reader.path_of("store"), reader.faults());
  Store store;
  store.lease = read_length(inner, "lease", store.lease);
  store.retention = read_length_or_none(inner, "retention");
  if (const auto expired = inner.word("expired", {"remembered", "deleted"}))
    store.expired = static_cast<ExpiredKeys>(*expired);
  store.clock_ahead = read_length(inner, "clock_ahead", store.clock_ahead, true);
  store.answers = inner.time("answers").value_or(one_millisecond());
  store.status = inner.boolean("status").value_or(store.status);
  store.status_fences = inner.boolean("status_fences").value_or(store.status_fences);
  store.fence = inner.boolean("fence").value_or(store.fence);
  store.listing = inner.boolean("listing").value_or(store.listing);
  store.unavailable = inner.rate("unavailable").value_or(store.unavailable);
  store.replica_lag = read_time_or_none(inner, "replica_lag");
  store.durable_after = read_time_or_none(inner, "durable_after");
  store.rejects = inner.rate("rejects").value_or(store.rejects);
  store.throttles = inner.rate("throttles").value_or(store.throttles);
  store.large_replies = inner.rate("large_replies").value_or(store.large_replies);
  store.wrong = read_wrong(inner, kStoreWrongNames);
  check_wrong_store(inner, store);
  if (store.status_fences && !store.status) inner.fault("status_fences", "goes with status = true");
  inner.done();
  service.store = std::move(store);
}

void read_journal(TableReader& reader, Client& client, const ScenarioNames& names) {
  const TomlValue* table = reader.table("journal");
  if (table == nullptr) return;
  TableReader inner(*table, reader.path_of("journal"), reader.faults());
  ClientJournal journal;
  journal.persist = inner.time("persist").value_or(one_millisecond());
  journal.rolled_back = inner.rate("rolled_back").value_or(journal.rolled_back);
  journal.unknown = inner.rate("unknown").value_or(journal.unknown);
  if (journal.rolled_back.value() + journal.unknown.value() > 1)
    inner.fault("unknown", "and rolled_back together are more than all");
  journal.unknown_for = read_length(inner, "unknown_for", journal.unknown_for);
  journal.valid_for = read_length_or_none(inner, "valid_for");
  journal.orders_again = static_cast<std::uint32_t>(
      inner.whole("orders_again", 0, kOrdersAgainMax).value_or(journal.orders_again));
  journal.wrong = read_wrong(inner, kClientWrongNames);
  check_journal(reader, inner, client, names);
  inner.done();
  client.journal = std::move(journal);
}

void read_repeats(TableReader& reader, Link& link) {
  const TomlValue* table = reader.table("repeats");
  if (table == nullptr) return;
  TableReader inner(*table, reader.path_of("repeats"), reader.faults());
  inner.require("share", "share = \"1%\"");
  inner.require("after", "after = \"50ms\"");
  Repeats repeats;
  repeats.line = table->line;
  repeats.share = inner.rate("share").value_or(repeats.share);
  if (auto after = inner.time("after")) repeats.after = *std::move(after);
  inner.done();
  link.repeats = std::move(repeats);
}

}  // namespace overdue
