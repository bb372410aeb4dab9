// [fault.NAME] tables. Faults of replicas, of links, and of a moment: a client's crash or takeover and a
// store's failover happen at once and last no time.
#include <fmt/format.h>

#include <algorithm>

#include "overdue/simulated/scenario_read.h"

namespace overdue {
namespace {

constexpr double kFactorMax = 1e6;

bool is_of_a_link(FaultKind kind) { return kind == FaultKind::partition || kind == FaultKind::loss; }

bool is_of_a_client(FaultKind kind) { return kind == FaultKind::client_crash || kind == FaultKind::takeover; }

void check_network_fault(TableReader& reader, const Fault& fault) {
  reader.require("link", "link = \"NAME\", the dependency whose messages are meant");
  if (fault.kind == FaultKind::loss) reader.require("probability", "probability = \"50%\"");
  for (const std::string_view key : {"service", "replica", "client", "factor", "crash_point"}) {
    if (reader.has(key))
      reader.fault(key, "does not go with what = \"partition\" or \"loss\", which are of a link");
  }
}

void check_replica_fault(TableReader& reader, const Fault& fault) {
  reader.require("service", "service = \"NAME\"");
  for (const std::string_view key : {"link", "way"}) {
    if (reader.has(key)) reader.fault(key, "goes with what = \"partition\" or \"loss\" alone");
  }
  if (reader.has("client")) reader.fault("client", "goes with what = \"client_crash\" or \"takeover\" alone");
  if (fault.kind == FaultKind::slow) reader.require("factor", "factor = 5");
  if (reader.has("factor") && fault.kind != FaultKind::slow && fault.kind != FaultKind::half_broken)
    reader.fault("factor", "goes with what = \"slow\" or \"half_broken\"");
  if (fault.crash_point) {
    reader.require("probability", "probability = \"1%\", of each request");
    reader.require("restart_after", "restart_after = \"2s\"");
  }
  for (const std::string_view key : {"crash_point", "restart_after"}) {
    if (reader.has(key) && (fault.kind != FaultKind::crash || !fault.crash_point))
      reader.fault(key, "goes with what = \"crash\" and a crash_point");
  }
  if (reader.has("probability") && !fault.crash_point)
    reader.fault("probability",
                 "goes with what = \"loss\" or a crash_point; for a fault that is there in some runs "
                 "write drawn = \"50%\"");
}

// What it strikes must have what the fault is about: a client its journal, a service its store.
void check_struck(TableReader& reader, std::string_view key, const std::string& name, std::string_view what,
                  const std::vector<std::string>& known, const std::vector<std::string>& with) {
  reader.require(key, fmt::format("{} = \"NAME\", one with a {}", key, what));
  const bool there = std::ranges::find(known, name) != known.end();
  if (there && std::ranges::find(with, name) == with.end())
    reader.fault(key, fmt::format("= \"{0}\" has no {1}: write a table [{2}.{0}.{1}]", name, what, key));
}

void check_moment_fault(TableReader& reader, const Fault& fault, std::string_view what,
                        const ScenarioNames& names) {
  const bool of_client = is_of_a_client(fault.kind);
  if (of_client)
    check_struck(reader, "client", fault.client, "journal", names.clients, names.with_journal);
  else
    check_struck(reader, "service", fault.service, "store", names.services, names.with_store);
  reader.require("at", "at = \"10s\"");
  if (fault.kind == FaultKind::client_crash) reader.require("restart_after", "restart_after = \"2s\"");
  if (reader.has("for"))
    reader.fault("for", fmt::format("does not go with what = \"{}\", which happens at once", what));
  for (const std::string_view key :
       {of_client ? "service" : "client", "replica", "link", "way", "factor", "probability", "crash_point"}) {
    if (reader.has(key))
      reader.fault(key, fmt::format("does not go with what = \"{}\", which is of a {}", what,
                                    of_client ? "client" : "service's store"));
  }
  if (reader.has("restart_after") && fault.kind != FaultKind::client_crash)
    reader.fault("restart_after", "goes with what = \"client_crash\", or \"crash\" and a crash_point");
}

void read_struck(TableReader& reader, Fault& fault, const ScenarioNames& names) {
  if (auto service = reader.text("service")) {
    check_name(reader, "service", *service, names.services, "service");
    fault.service = *std::move(service);
  }
  fault.replica = reader.text("replica");
  if (auto link = reader.text("link")) {
    check_name(reader, "link", *link, names.dependencies, "dependency");
    fault.link = *std::move(link);
  }
  if (auto client = reader.text("client")) {
    check_name(reader, "client", *client, names.clients, "client");
    fault.client = *std::move(client);
  }
}

}  // namespace

Fault read_fault(const std::string& name, TableReader& reader, const ScenarioNames& names) {
  Fault fault{.name = name, .line = reader.line()};
  const std::vector<std::string> kinds = {"slow",      "pause", "crash",        "dead",     "half_broken",
                                          "partition", "loss",  "client_crash", "takeover", "failover"};
  reader.require("what", fmt::format("what = \"...\", one of {}", fmt::join(kinds, ", ")));
  const auto kind = reader.word("what", kinds);
  if (kind) fault.kind = static_cast<FaultKind>(*kind);
  read_struck(reader, fault, names);
  if (const auto way = reader.word("way", {"request", "reply"})) fault.way = static_cast<Way>(*way);
  fault.at = reader.duration_or_zero("at").value_or(Duration{});
  fault.lasts = reader.duration("for");
  fault.factor = reader.number("factor", 1e-6, kFactorMax).value_or(1);
  fault.probability = reader.rate("probability").value_or(Probability{});
  if (const auto point = reader.word("crash_point", {"before_effect", "after_effect", "after_reply"}))
    fault.crash_point = static_cast<CrashPoint>(*point);
  fault.restart_after = reader.duration("restart_after").value_or(Duration{});
  fault.drawn = reader.rate("drawn");
  fault.at_latest = reader.duration_or_zero("at_latest").value_or(fault.at);
  if (fault.at_latest < fault.at) reader.fault("at_latest", "must not be before at");
  if (reader.has("at_latest") && !fault.drawn) fault.drawn = Probability{1.0};
  if (kind) {
    if (is_of_a_link(fault.kind))
      check_network_fault(reader, fault);
    else if (is_of_a_client(fault.kind) || fault.kind == FaultKind::failover)
      check_moment_fault(reader, fault, kinds[*kind], names);
    else
      check_replica_fault(reader, fault);
  }
  reader.done();
  return fault;
}

}  // namespace overdue
