#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "overdue/base/quantity.h"
#include "overdue/report/simulation_report.h"

namespace overdue {
namespace {

using Json = nlohmann::ordered_json;

Json milliseconds(const std::optional<Duration>& value) {
  return value ? Json(to_milliseconds(*value)) : Json(nullptr);
}

Json seconds(const std::optional<Duration>& value) {
  return value ? Json(to_milliseconds(*value) / 1e3) : Json(nullptr);
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json calls_json(const CallCounts& calls) {
  return {{"total", calls.total},       {"answered", calls.answered}, {"rejected", calls.rejected},
          {"not_sent", calls.not_sent}, {"unknown", calls.unknown},   {"open", calls.open}};
}

Json ledger_json(const LedgerCounts& ledger) {
  const double per_intent =
      ledger.intents == 0 ? 0 : static_cast<double>(ledger.executions) / static_cast<double>(ledger.intents);
  return {{"intents", ledger.intents},
          {"applied_once", ledger.applied_once},
          {"duplicates", ledger.duplicates},
          {"lost", ledger.lost},
          {"timed_out_applied", ledger.timed_out_applied},
          {"timed_out_not_applied", ledger.timed_out_not_applied},
          {"failed_applied", ledger.failed_applied},
          {"executions", ledger.executions},
          {"executions_per_intent", per_intent}};
}

Json writes_json(const std::optional<WriteCounts>& writes) {
  if (!writes) return nullptr;
  Json proofs;
  for (std::size_t proof = 1; proof < kProofNames.size(); ++proof)
    proofs[kProofNames[proof]] = writes->by_proof[proof];
  return {{"intents", writes->intents},
          {"applied", writes->applied},
          {"not_applied", writes->not_applied},
          {"ordered_again", writes->ordered_again},
          {"unknown_at_deadline", writes->unknown_at_deadline},
          {"resolved_later", writes->resolved_later},
          {"needs_person", writes->needs_person},
          {"open", writes->open},
          {"by_proof", proofs}};
}

Json checker_json(const std::optional<WriteCounts>& writes, const CheckCounts& checker) {
  if (!writes) return nullptr;
  using enum FindingKind;
  Json found;
  for (const FindingKind kind : {duplicate, loss, guess, reversal, unresolved, unfaithful_reply, leaked_key,
                                 changed_request, unpersisted})
    found[kCheckNames[static_cast<std::size_t>(kind)]] = checker.of(kind);
  found["first"] = checker.first;
  return found;
}

Json latency_json(const std::vector<LatencyQuantile>& latency) {
  Json list = Json::array();
  for (const LatencyQuantile& one : latency) {
    list.push_back({{"q", one.quantile.value()},
                    {"ms", milliseconds(one.all_calls)},
                    {"answered_ms", milliseconds(one.answered)}});
  }
  return list;
}

Json clients_json(const RunResult& run) {
  Json list = Json::array();
  for (const ClientResult& client : run.clients) {
    list.push_back({{"name", client.name},
                    {"calls", calls_json(client.calls)},
                    {"ledger", ledger_json(client.ledger)},
                    {"writes", writes_json(client.writes)},
                    {"checker", checker_json(client.writes, client.checker)},
                    {"latency_mean_ms", milliseconds(client.latency_mean)},
                    {"latency", latency_json(client.latency)}});
  }
  return list;
}

Json links_json(const RunResult& run) {
  Json list = Json::array();
  for (const LinkResult& link : run.links) {
    Json endings;
    for (std::size_t ending = 0; ending < kEndingCount; ++ending)
      endings[kEndingNames[ending]] = link.endings[ending];
    list.push_back({{"name", link.name},
                    {"calls", link.calls},
                    {"answered", link.answered},
                    {"attempts", link.attempts},
                    {"retries", link.retries},
                    {"retries_denied", link.retries_denied},
                    {"endings", endings},
                    {"open", link.open},
                    {"questions", link.questions},
                    {"taken_over", link.taken_over},
                    {"ordered_again", link.ordered_again},
                    {"false_timeouts", link.false_timeouts},
                    {"connect_failures", link.connect_failures},
                    {"connect_failure_median_ms", milliseconds(link.connect_failure_median)},
                    {"pool_wait_mean_ms", milliseconds(link.pool_wait_mean)}});
  }
  return list;
}

Json services_json(const RunResult& run) {
  Json list = Json::array();
  for (const ServiceResult& service : run.services) {
    list.push_back({{"name", service.name},
                    {"arrivals", service.arrivals},
                    {"started", service.started},
                    {"executions", service.executions},
                    {"executions_per_intent", service.executions_per_intent},
                    {"refused_full", service.refused_full},
                    {"refused_expired", service.refused_expired},
                    {"refused_late", service.refused_late},
                    {"stopped", service.stopped},
                    {"failed", service.failed},
                    {"stored_replies", service.stored_replies},
                    {"utilisation", or_null(service.utilisation)},
                    {"wasted_work", service.wasted_work},
                    {"wait_probability", service.wait_probability},
                    {"wait_mean_ms", milliseconds(service.wait_mean)},
                    {"wait_p99_ms", milliseconds(service.wait_p99)},
                    {"response_mean_ms", milliseconds(service.response_mean)},
                    {"queue_max", service.queue_max}});
  }
  return list;
}

Json replicas_json(const RunResult& run) {
  Json list = Json::array();
  for (const ReplicaResult& replica : run.replicas) {
    list.push_back({{"name", replica_name(run, replica)},
                    {"probe_ok", or_null(replica.probe_ok)},
                    {"probe_pass_rate", or_null(replica.probe_pass_rate)},
                    {"median_ms", milliseconds(replica.median)},
                    {"timeout_rate", or_null(replica.timeout_rate)},
                    {"traffic_share", replica.traffic_share},
                    {"attempts", replica.attempts},
                    {"rejected", replica.rejected},
                    {"utilisation", or_null(replica.utilisation)},
                    {"queue_max", replica.queue_max},
                    {"ejected_at_s", seconds(replica.ejected_at)}});
  }
  return list;
}

Json timeline_json(const RunResult& run) {
  Json list = Json::array();
  for (const TimelineRow& row : run.timeline) {
    list.push_back({{"s", row.second},
                    {"offered", row.offered},
                    {"goodput", row.goodput},
                    {"rejected", row.rejected},
                    {"unknown", row.unknown},
                    {"attempts", row.attempts},
                    {"timeouts", row.timeouts},
                    {"retries", row.retries},
                    {"executions", row.executions},
                    {"queue", row.queue}});
  }
  return list;
}

std::string as_text(const Json& root) {
  // Names come from a file and are bytes; what is not UTF-8 in them is shown as the replacement character.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string replica_name(const RunResult& run, const ReplicaResult& replica) {
  return run.services.size() > 1 ? fmt::format("{}.{}", replica.service, replica.name) : replica.name;
}

std::string simulation_json(const SimulationReport& report) {
  const RunResult& run = report.run;
  Json expectations = Json::array();
  for (const ExpectationResult& one : report.expectations)
    expectations.push_back(
        {{"text", one.text}, {"held", one.held}, {"value", or_null(one.value)}, {"why", one.why}});
  return as_text({{"schema", "overdue.simulation/1"},
                  {"scenario", run.scenario},
                  {"seed", run.seed},
                  {"hash", fmt::format("{:016x}", run.hash)},
                  {"events", run.events},
                  {"ended_at_s", seconds(run.ended_at)},
                  {"interrupted", run.interrupted},
                  {"calls", calls_json(run.calls)},
                  {"ledger", ledger_json(run.ledger)},
                  {"writes", writes_json(run.writes)},
                  {"checker", checker_json(run.writes, run.checker)},
                  {"load",
                   {{"offered_per_s", run.offered_per_second},
                    {"attempts_per_call", run.attempts_per_call},
                    {"goodput", run.goodput},
                    {"wasted_work", run.wasted_work}}},
                  {"latency_mean_ms", milliseconds(run.latency_mean)},
                  {"latency", latency_json(run.latency)},
                  {"clients", clients_json(run)},
                  {"links", links_json(run)},
                  {"services", services_json(run)},
                  {"replicas", replicas_json(run)},
                  {"faults_end_s", seconds(run.faults_end)},
                  {"timeline_row_s", run.timeline_row_seconds},
                  {"timeline", timeline_json(run)},
                  {"expectations", expectations}});
}

std::string simulations_json(const std::vector<SeedsReport>& reports, bool interrupted) {
  Json runs = Json::array();
  for (const SeedsReport& report : reports) {
    Json expectations = Json::array();
    for (const SeedsReport::Row& row : report.expectations) {
      expectations.push_back({{"text", row.text},
                              {"held", row.held},
                              {"low", or_null(row.low)},
                              {"median", or_null(row.median)},
                              {"high", or_null(row.high)}});
    }
    Json one = {{"scenario", report.scenario},
                {"seeds", report.runs},
                {"seed_first", report.seed_first},
                {"seed_last", report.seed_last},
                {"held", report.held},
                {"wilson", {report.wilson_low, report.wilson_high}},
                {"failed", report.runs - report.held},
                {"failed_seeds", report.failed_seeds},
                {"reproduce", report.reproduce.empty() ? Json(nullptr) : Json(report.reproduce)},
                {"expectations", expectations},
                {"writes", writes_json(report.writes)},
                {"checker", checker_json(report.writes, report.checker)}};
    runs.push_back(std::move(one));
  }
  const SeedsReport sum = sum_of(reports);
  return as_text({{"schema", "overdue.simulations/1"},
                  {"interrupted", interrupted},
                  {"seeds", sum.runs},
                  {"held", sum.held},
                  {"writes", writes_json(sum.writes)},
                  {"checker", checker_json(sum.writes, sum.checker)},
                  {"runs", runs}});
}

}  // namespace overdue
