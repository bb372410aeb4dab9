// Tables of a scenario, one function a kind: clients, links, networks, services.
#include "overdue/simulated/scenario_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

constexpr std::uint64_t kUsersMax = 1'000'000;
constexpr std::uint64_t kInstancesMax = 10'000;
constexpr std::uint64_t kReplicasMax = 1'000;
constexpr std::uint64_t kConnectionsMax = 1'000'000;
constexpr Duration kEveryMin = std::chrono::microseconds(1);  // Of what comes again and again.
constexpr double kTimesMax = 1e6;

// Of what begins at an offset and lasts so long; both may be as long as a duration can be.
Duration end_of(Duration at, Duration lasts) { return saturating_add(Instant{} + at, lasts) - Instant{}; }

void read_changes(TableReader& reader, OpenArrivals& open) {
  const TomlValue* list = reader.array("changes");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string path = fmt::format("{}.{}", reader.path_of("changes"), i + 1);
    const TomlValue& item = list->items[i];
    if (item.kind != TomlValue::Kind::table) {
      reader.faults().add(item.line, path,
                          "is a table: write { at = \"5s\", rate = \"900/s\", over = \"2s\" }");
      continue;
    }
    TableReader inner(item, path, reader.faults());
    inner.require("at", "at = \"5s\"");
    inner.require("rate", "rate = \"900/s\"");
    const auto at = inner.duration_or_zero("at");
    const auto over = inner.duration_or_zero("over");
    const auto rate = inner.per_second("rate");
    inner.done();
    if (at && rate) open.changes.push_back({*at, over.value_or(Duration{}), *rate});
  }
}

// A spike is two changes: up at once, and back.
void read_spike(TableReader& reader, OpenArrivals& open) {
  const TomlValue* table = reader.table("spike");
  if (table == nullptr) return;
  TableReader inner(*table, reader.path_of("spike"), reader.faults());
  inner.require("at", "at = \"5s\"");
  inner.require("for", "for = \"2s\"");
  inner.require("times", "times = 3");
  const auto at = inner.duration_or_zero("at");
  const auto lasts = inner.duration("for");
  const auto times = inner.number("times", 0.001, kTimesMax);
  inner.done();
  if (reader.has("changes"))
    reader.fault("spike", "and changes do not go together: write the spike as two changes");
  if (!at || !lasts || !times) return;
  open.changes.push_back({*at, Duration{}, open.per_second * *times});
  open.changes.push_back({end_of(*at, *lasts), Duration{}, open.per_second});
}

void read_arrivals(TableReader& reader, Client& client) {
  const bool open = reader.has("rate");
  const bool closed = reader.has("users");
  if (open || closed) client.line = reader.any(open ? "rate" : "users")->line;
  const bool recorded = reader.has("recorded");
  if (open + closed + recorded != 1) {
    reader.fault(
        open ? "rate" : "users",
        "exactly one of these says when calls arrive: rate = \"450/s\" (whatever happens), users = 20 with "
        "think = \"1s\" (each waits for the answer), recorded = \"FILE\"");
  }
  if (open) {
    OpenArrivals arrivals;
    arrivals.per_second = reader.per_second("rate").value_or(1);
    read_changes(reader, arrivals);
    read_spike(reader, arrivals);
    for (std::size_t i = 1; i < arrivals.changes.size(); ++i) {
      const RateChange& before = arrivals.changes[i - 1];
      if (arrivals.changes[i].at < end_of(before.at, before.over)) {
        reader.fault("changes", "must follow one another: each begins when the one before it is through");
        break;
      }
    }
    client.arrivals = std::move(arrivals);
  } else if (closed) {
    ClosedArrivals arrivals;
    arrivals.users = static_cast<std::uint32_t>(reader.whole("users", 1, kUsersMax).value_or(1));
    reader.require("think", "think = \"1s\", or { exponential = \"1s\" }");
    if (auto think = reader.time("think")) arrivals.think = *std::move(think);
    client.arrivals = std::move(arrivals);
  } else if (recorded) {
    client.arrivals = RecordedArrivals{
        .path = reader.text("recorded").value_or(""), .at = {}, .line = reader.any("recorded")->line};
  }
  for (const std::string_view key : {"changes", "spike"}) {
    if (!open && reader.has(key)) reader.fault(key, "goes with rate = \"450/s\"");
  }
  if (!closed && reader.has("think")) reader.fault("think", "goes with users = 20");
}

void read_direction(TableReader& reader, Direction& direction) {
  if (auto delay = reader.time("delay")) direction.delay = *std::move(delay);
  if (const auto loss = reader.rate("loss")) direction.loss = *loss;
  if (const auto duplication = reader.rate("duplication")) {
    direction.duplication = *duplication;
    direction.duplication_line = reader.any("duplication")->line;
  }
  if (const TomlValue* table = reader.table("burst")) {
    TableReader burst(*table, reader.path_of("burst"), reader.faults());
    burst.require("every", "every = \"10s\"");
    burst.require("lasts", "lasts = \"200ms\"");
    direction.burst_every = burst.duration_from("every", kEveryMin);
    direction.burst_lasts = burst.duration_from("lasts", kEveryMin);
    direction.burst_loss = burst.rate("loss").value_or(Probability{1.0});
    burst.done();
  }
}

std::vector<std::string> read_replicas(TableReader& reader) {
  const TomlValue* value = reader.any("replicas");
  if (value == nullptr) return {"a"};
  std::vector<std::string> names;
  if (value->kind == TomlValue::Kind::array) {
    names = reader.texts("replicas").value_or(std::vector<std::string>{"a"});
    std::vector<std::string> sorted = names;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) reader.fault("replicas", "has one name twice");
    return names;
  }
  const std::uint64_t count = reader.whole("replicas", 1, kReplicasMax).value_or(1);
  for (std::uint64_t i = 0; i < count; ++i)
    names.push_back(count <= 26 ? std::string(1, static_cast<char>('a' + i)) : fmt::format("r{}", i + 1));
  return names;
}

void read_queue(TableReader& reader, Service& service) {
  const TomlValue* table = reader.table("queue");
  if (table == nullptr) return;
  TableReader queue(*table, reader.path_of("queue"), reader.faults());
  if (const auto order = queue.word("order", {"fifo", "lifo"}))
    service.queue_order = static_cast<QueueOrder>(*order);
  queue.whole_or_none("max", service.queue_max);
  if (const auto full = queue.word("when_full", {"reject", "drop"}))
    service.when_full = static_cast<WhenFull>(*full);
  queue.done();
}

void read_calls(TableReader& reader, Service& service, const ScenarioNames& names) {
  const TomlValue* list = reader.array("calls");
  if (list == nullptr) return;
  const auto add = [&](const TomlValue& item, std::vector<std::string>& group) {
    if (item.kind == TomlValue::Kind::text) {
      check_name(reader, "calls", item.text, names.dependencies, "dependency");
      group.push_back(item.text);
    } else {
      reader.fault("calls",
                   "lists dependencies in a row, and in a list of their own those called together: "
                   "[\"a\", [\"b\", \"c\"]]");
    }
  };
  for (const TomlValue& item : list->items) {
    std::vector<std::string> group;
    if (item.kind == TomlValue::Kind::array) {
      for (const TomlValue& one : item.items) add(one, group);
    } else {
      add(item, group);
    }
    if (!group.empty()) service.calls.push_back(std::move(group));
  }
}

void read_pauses(TableReader& reader, Service& service) {
  const TomlValue* table = reader.table("pauses");
  if (table == nullptr) return;
  TableReader inner(*table, reader.path_of("pauses"), reader.faults());
  inner.require("every", "every = \"10s\"");
  inner.require("lasts", "lasts = \"200ms\"");
  Pauses pauses;
  pauses.every = inner.duration_from("every", kEveryMin).value_or(std::chrono::seconds(1));
  if (auto lasts = inner.time("lasts")) pauses.lasts = *std::move(lasts);
  pauses.whole_service = inner.boolean("whole_service").value_or(false);
  pauses.service_time = inner.time("time");
  inner.done();
  service.pauses = std::move(pauses);
}

void read_lock_and_probe(TableReader& reader, Service& service) {
  if (const TomlValue* table = reader.table("lock")) {
    TableReader inner(*table, reader.path_of("lock"), reader.faults());
    inner.require("share", "share = \"5%\"");
    inner.require("hold", "hold = \"2ms\"");
    SharedLock lock;
    lock.share = inner.rate("share").value_or(Probability{});
    if (auto hold = inner.time("hold")) lock.hold = *std::move(hold);
    inner.done();
    service.lock = std::move(lock);
  }
  if (const TomlValue* table = reader.table("probe")) {
    TableReader inner(*table, reader.path_of("probe"), reader.faults());
    ServiceProbe probe;
    probe.kind = static_cast<ProbeKind>(inner.word("kind", {"ping", "deep"}).value_or(0));
    probe.every = inner.duration_from("every", kEveryMin).value_or(std::chrono::seconds(1));
    probe.timeout = inner.duration("timeout").value_or(std::chrono::seconds(1));
    inner.done();
    service.probe = probe;
  }
}

}  // namespace

void check_name(TableReader& reader, std::string_view key, const std::string& name,
                const std::vector<std::string>& names, std::string_view what) {
  if (std::ranges::find(names, name) != names.end()) return;
  const std::string nearest = nearest_name(name, names);
  std::string hint;
  if (!nearest.empty())
    hint = fmt::format("did you mean \"{}\"?", nearest);
  else if (names.empty())
    hint = fmt::format("there is none at all: write a table [{}.{}]", what, name);
  else
    hint = fmt::format("there are: {}", fmt::join(names, ", "));
  reader.fault(key, fmt::format("names \"{}\", which is no {}; {}", name, what, hint));
}

Client read_client(const std::string& name, TableReader& reader, const ScenarioNames& names) {
  Client client{.name = name};
  reader.require("calls", "calls = \"NAME\", a dependency");
  if (auto calls = reader.text("calls")) {
    check_name(reader, "calls", *calls, names.dependencies, "dependency");
    client.calls = *std::move(calls);
  }
  if (const auto kind = reader.word("kind", {"read", "keyed_write", "unkeyed_write"}))
    client.kind = static_cast<CallKind>(*kind);
  client.instances = static_cast<std::uint32_t>(reader.whole("instances", 1, kInstancesMax).value_or(1));
  read_arrivals(reader, client);
  client.from = reader.duration_or_zero("from").value_or(Duration{});
  client.to = reader.duration("to");
  if (client.to && *client.to <= client.from) reader.fault("to", "must be after from");
  if (auto ledger = reader.text("ledger")) {
    check_name(reader, "ledger", *ledger, names.services, "service");
    client.ledger_at = *std::move(ledger);
  }
  read_journal(reader, client, names);
  reader.done();
  return client;
}

Link read_link(const std::string& name, TableReader& reader, const ScenarioNames& names) {
  Link link{.name = name, .service = name};
  if (auto service = reader.text("service")) link.service = *std::move(service);
  check_name(reader, "service", link.service, names.services, "service");
  if (auto network = reader.text("network")) {
    check_name(reader, "network", *network, names.networks, "network");
    link.network = *std::move(network);
  }
  if (const auto balance = reader.word("balance", {"round_robin", "random", "least_loaded_of_two"}))
    link.balance = static_cast<Balance>(*balance);
  if (const TomlValue* table = reader.table("pool")) {
    TableReader inner(*table, reader.path_of("pool"), reader.faults());
    inner.require("connections", "connections = 10");
    Pool pool{.line = table->line};
    pool.connections_max =
        static_cast<std::uint32_t>(inner.whole("connections", 1, kConnectionsMax).value_or(1));
    // 0 is a limit here, and means that nobody waits.
    if (inner.has("waiting"))
      pool.waiting_max = static_cast<std::uint32_t>(inner.whole("waiting", 0, kConnectionsMax).value_or(0));
    pool.idle_max = inner.duration("idle");
    inner.done();
    link.pool = pool;
  }
  link.cancellation = reader.boolean("cancellation").value_or(false);
  read_repeats(reader, link);
  reader.done();
  return link;
}

Network read_network(const std::string& name, TableReader& reader) {
  Network network{.name = name};
  Direction both;
  read_direction(reader, both);
  network.request = both;
  network.reply = both;
  if (const TomlValue* table = reader.table("request")) {
    TableReader inner(*table, reader.path_of("request"), reader.faults());
    read_direction(inner, network.request);
    inner.done();
  }
  if (const TomlValue* table = reader.table("reply")) {
    TableReader inner(*table, reader.path_of("reply"), reader.faults());
    read_direction(inner, network.reply);
    inner.done();
  }
  if (const TomlValue* table = reader.table("connect")) {
    TableReader inner(*table, reader.path_of("connect"), reader.faults());
    Connect connect;
    connect.refused = inner.rate("refused").value_or(Probability{});
    connect.swallowed = inner.rate("swallowed").value_or(Probability{});
    inner.done();
    if (connect.refused.value() + connect.swallowed.value() > 1)
      inner.fault("swallowed", "and refused together are more than all");
    network.connect = connect;
  }
  reader.done();
  return network;
}

Service read_service(const std::string& name, TableReader& reader, const ScenarioNames& names) {
  Service service{.name = name};
  const std::size_t faults_before = reader.faults().size();
  service.replicas = read_replicas(reader);
  reader.whole_or_none("workers", service.workers);
  read_queue(reader, service);
  reader.require("time", "time = \"10ms\", or a distribution");
  if (auto time = reader.time("time")) service.service_time = *std::move(time);
  read_calls(reader, service, names);
  if (const auto failed = reader.word("when_a_call_fails", {"fail", "ignore"}))
    service.ignores_failed_calls = *failed == 1;
  service.commit_to_reply = reader.time("commit_to_reply");
  service.remembers_keys = reader.boolean("remembers_keys").value_or(false);
  service.refuses_expired = reader.boolean("refuses_expired").value_or(false);
  service.sheds_late = reader.duration("sheds_late");
  service.retry_after = reader.duration("retry_after");
  service.passes_deadline_on = reader.boolean("passes_deadline_on").value_or(false);
  service.cancel_checks = reader.duration("cancel_checks");
  service.keep_alive = reader.duration("keep_alive");
  if (service.keep_alive) service.keep_alive_line = reader.any("keep_alive")->line;
  read_pauses(reader, service);
  read_lock_and_probe(reader, service);
  read_store(reader, service);
  const bool refuses = (service.queue_max && service.when_full == WhenFull::reject) || service.sheds_late ||
                       (service.store && service.store->throttles.parts() > 0);
  if (service.retry_after && !refuses && reader.faults().size() == faults_before)
    reader.fault("retry_after",
                 "is said with a refusal, and there is none: set queue, sheds_late or store.throttles");
  reader.done();
  // Workers that were written wrongly are not unlimited.
  if (!service.workers && reader.has("queue") && !is_none(*reader.any("queue")) &&
      reader.faults().size() == faults_before)
    reader.fault("queue", "is never used with unlimited workers: set workers");
  return service;
}

}  // namespace overdue
