#include "overdue/simulated/result_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

class FieldList {
 public:
  explicit FieldList(std::string prefix) : prefix_(std::move(prefix)) {}

  void count(std::string_view name, std::uint64_t value) {
    add(name, FieldUnit::count, static_cast<double>(value));
  }
  void number(std::string_view name, std::optional<double> value) { add(name, FieldUnit::number, value); }
  void share(std::string_view name, std::optional<double> value) { add(name, FieldUnit::share, value); }
  void ratio(std::string_view name, std::uint64_t part, std::uint64_t whole,
             FieldUnit unit = FieldUnit::share) {
    add(name, unit,
        whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole)));
  }
  void time(std::string_view name, const std::optional<Duration>& value, bool missing_is_never = false) {
    add(name, FieldUnit::milliseconds, value ? std::optional(to_milliseconds(*value)) : std::nullopt);
    fields_.back().missing_is_never = missing_is_never;
  }
  void seconds(std::string_view name, std::optional<double> value, bool missing_is_never) {
    add(name, FieldUnit::seconds, value);
    fields_.back().missing_is_never = missing_is_never;
  }
  void recovery(const RunResult& result) {
    seconds("recovery_s", recovery_seconds(result), result.fault_came);
    fields_.back().missing_is_fine = !result.fault_came;
  }
  void flag(std::string_view name, std::optional<bool> value) {
    add(name, FieldUnit::flag, value ? std::optional(*value ? 1.0 : 0.0) : std::nullopt);
  }
  void under(std::string prefix) { prefix_ = std::move(prefix); }
  std::vector<ResultField> take() { return std::move(fields_); }

 private:
  void add(std::string_view name, FieldUnit unit, std::optional<double> value) {
    fields_.push_back({.name = prefix_ + std::string(name), .unit = unit, .value = value});
  }

  std::string prefix_;
  std::vector<ResultField> fields_;
};

// 0.999 is "p999_ms", 0.5 "p50_ms".
std::string quantile_name(Quantile quantile) {
  std::string digits = fmt::format("{}", quantile.parts());
  digits.insert(0, 12 - std::min<std::size_t>(12, digits.size()), '0');
  while (digits.size() > 2 && digits.back() == '0') digits.pop_back();
  return fmt::format("p{}_ms", digits);
}

const std::vector<Quantile>& latency_quantiles() {
  static const std::vector<Quantile> quantiles = {Quantile{0.5}, Quantile{0.9}, Quantile{0.95},
                                                  Quantile{0.99}, Quantile{0.999}};
  return quantiles;
}

void add_calls(FieldList& list, const std::string& prefix, const CallCounts& calls) {
  list.under(prefix + "calls.");
  const std::uint64_t ended = calls.total - calls.open;
  const std::pair<std::string_view, std::uint64_t> counts[] = {{"answered", calls.answered},
                                                               {"rejected", calls.rejected},
                                                               {"not_sent", calls.not_sent},
                                                               {"unknown", calls.unknown}};
  list.count("total", calls.total);
  list.count("open", calls.open);
  for (const auto& [name, value] : counts) {
    list.count(name, value);
    list.ratio(fmt::format("{}_share", name), value, ended);
  }
}

void add_ledger(FieldList& list, const std::string& prefix, const LedgerCounts& ledger) {
  list.under(prefix + "ledger.");
  list.count("intents", ledger.intents);
  list.count("executions", ledger.executions);
  list.ratio("executions_per_intent", ledger.executions, ledger.intents, FieldUnit::number);
  const std::pair<std::string_view, std::uint64_t> counts[] = {
      {"applied_once", ledger.applied_once},
      {"duplicates", ledger.duplicates},
      {"lost", ledger.lost},
      {"timed_out_applied", ledger.timed_out_applied},
      {"timed_out_not_applied", ledger.timed_out_not_applied},
      {"failed_applied", ledger.failed_applied}};
  for (const auto& [name, value] : counts) {
    list.count(name, value);
    list.ratio(fmt::format("{}_share", name), value, ledger.intents);
  }
}

void add_writes(FieldList& list, const std::string& prefix, const WriteCounts& writes) {
  list.under(prefix + "writes.");
  list.count("intents", writes.intents);
  const std::pair<std::string_view, std::uint64_t> counts[] = {{"applied", writes.applied},
                                                               {"not_applied", writes.not_applied},
                                                               {"needs_person", writes.needs_person},
                                                               {"open", writes.open}};
  for (const auto& [name, value] : counts) {
    list.count(name, value);
    list.ratio(fmt::format("{}_share", name), value, writes.intents);
  }
  list.count("ordered_again", writes.ordered_again);
  list.count("unknown_at_deadline", writes.unknown_at_deadline);
  list.count("resolved_later", writes.resolved_later);
  list.ratio("resolved_later_share", writes.resolved_later, writes.unknown_at_deadline);
  list.under(prefix + "writes.by_proof.");
  for (std::size_t proof = 1; proof < kProofNames.size(); ++proof)
    list.count(kProofNames[proof], writes.by_proof[proof]);
}

void add_checker(FieldList& list, const std::string& prefix, const CheckCounts& checker) {
  list.under(prefix + "checker.");
  for (std::size_t kind = 0; kind < kFindingKindCount; ++kind)
    list.count(kCheckNames[kind], checker.found[kind]);
  list.count("findings", checker.all());
}

void add_latency(FieldList& list, const std::string& prefix, const std::vector<LatencyQuantile>& latency,
                 const std::optional<Duration>& mean) {
  list.under(prefix + "latency.");
  list.time("mean_ms", mean);
  for (const Quantile quantile : latency_quantiles()) {
    const auto found = std::ranges::find(latency, quantile, &LatencyQuantile::quantile);
    const bool there = found != latency.end();
    list.time(quantile_name(quantile), there ? found->all_calls : std::nullopt, true);
    list.time("answered_" + quantile_name(quantile), there ? found->answered : std::nullopt);
  }
}

void add_link(FieldList& list, const LinkResult& link) {
  list.under(fmt::format("links.{}.", link.name));
  list.count("calls", link.calls);
  list.count("answered", link.answered);
  list.ratio("answered_share", link.answered, link.calls);
  list.count("attempts", link.attempts);
  list.ratio("attempts_per_call", link.attempts, link.calls, FieldUnit::number);
  list.count("retries", link.retries);
  list.count("retries_denied", link.retries_denied);
  for (std::size_t ending = 0; ending < kEndingCount; ++ending)
    list.count(kEndingNames[ending], link.endings[ending]);
  list.count("open", link.open);
  list.count("questions", link.questions);
  list.count("taken_over", link.taken_over);
  list.count("ordered_again", link.ordered_again);
  const std::uint64_t timeouts = link.endings[static_cast<std::size_t>(Ending::timed_out)];
  list.ratio("timeout_rate", timeouts, link.attempts);
  list.count("false_timeouts", link.false_timeouts);
  list.ratio("false_timeout_rate", link.false_timeouts, link.attempts);
  list.count("connect_failures", link.connect_failures);
  list.time("connect_failure_median_ms", link.connect_failure_median);
  list.time("pool_wait_mean_ms", link.pool_wait_mean);
}

void add_service(FieldList& list, const ServiceResult& service, std::uint64_t intents) {
  list.under(fmt::format("services.{}.", service.name));
  const std::pair<std::string_view, std::uint64_t> counts[] = {{"arrivals", service.arrivals},
                                                               {"started", service.started},
                                                               {"executions", service.executions},
                                                               {"refused_full", service.refused_full},
                                                               {"refused_expired", service.refused_expired},
                                                               {"refused_late", service.refused_late},
                                                               {"stopped", service.stopped},
                                                               {"failed", service.failed},
                                                               {"stored_replies", service.stored_replies},
                                                               {"queue_max", service.queue_max}};
  for (const auto& [name, value] : counts) list.count(name, value);
  list.share("utilisation", service.utilisation);
  list.share("wasted_work", service.wasted_work);
  list.ratio("arrivals_per_intent", service.arrivals, intents, FieldUnit::number);
  list.number("executions_per_intent", service.executions_per_intent);
  list.share("wait_probability", service.wait_probability);
  list.time("wait_mean_ms", service.wait_mean);
  list.time("wait_p99_ms", service.wait_p99);
  list.time("response_mean_ms", service.response_mean);
}

void add_replica(FieldList& list, const ReplicaResult& replica, bool several_services) {
  list.under(several_services ? fmt::format("replicas.{}.{}.", replica.service, replica.name)
                              : fmt::format("replicas.{}.", replica.name));
  list.flag("probe_ok", replica.probe_ok);
  list.share("probe_pass_rate", replica.probe_pass_rate);
  list.time("median_ms", replica.median);
  list.share("timeout_rate", replica.timeout_rate);
  list.share("traffic_share", replica.traffic_share);
  list.count("attempts", replica.attempts);
  list.count("rejected", replica.rejected);
  list.share("utilisation", replica.utilisation);
  list.count("queue_max", replica.queue_max);
  list.seconds("ejected_at_s",
               replica.ejected_at ? std::optional(to_milliseconds(*replica.ejected_at) / 1e3) : std::nullopt,
               true);
}

// Of counts a second: their variance over their mean. 1 where events come independently of each other.
std::optional<double> dispersion(const std::vector<std::uint64_t>& counts) {
  if (counts.size() < 2) return std::nullopt;
  double sum = 0;
  for (const std::uint64_t count : counts) sum += static_cast<double>(count);
  const double mean = sum / static_cast<double>(counts.size());
  if (mean == 0) return std::nullopt;
  double squares = 0;
  for (const std::uint64_t count : counts) squares += std::pow(static_cast<double>(count) - mean, 2);
  return squares / static_cast<double>(counts.size() - 1) / mean;
}

}  // namespace

std::optional<double> recovery_seconds(const RunResult& result) {
  if (!result.faults_end) return std::nullopt;
  const double end = to_milliseconds(*result.faults_end) / 1e3;
  const std::vector<TimelineRow>& rows = result.timeline;
  std::size_t begin = 0;
  while (begin < rows.size() && rows[begin].second + 1.0 * result.timeline_row_seconds <= end) ++begin;
  std::size_t stop = rows.size();
  while (stop > begin && rows[stop - 1].offered == 0) --stop;  // Calls no longer begin.
  if (stop == begin) return std::nullopt;
  std::optional<double> recovered;
  const std::size_t width = std::min<std::size_t>(kRecoverySeconds, stop - begin);
  for (std::size_t first = begin; first + width <= stop; ++first) {
    std::uint64_t offered = 0;
    std::uint64_t goodput = 0;
    for (std::size_t i = first; i < first + width; ++i) {
      offered += rows[i].offered;
      goodput += rows[i].goodput;
    }
    if (static_cast<double>(goodput) < kRecoveredShare * static_cast<double>(offered))
      recovered.reset();
    else if (!recovered)
      recovered = std::max(0.0, rows[first].second - end);
  }
  return recovered;
}

std::vector<ResultField> fields_of(const RunResult& result) {
  FieldList list("");
  list.count("events", result.events);
  list.recovery(result);
  add_calls(list, "", result.calls);
  add_ledger(list, "", result.ledger);
  if (result.writes) {
    add_writes(list, "", *result.writes);
    add_checker(list, "", result.checker);
  }
  list.under("load.");
  list.number("offered_per_s", result.offered_per_second);
  list.number("attempts_per_call", result.attempts_per_call);
  list.share("goodput", result.goodput);
  list.share("wasted_work", result.wasted_work);
  add_latency(list, "", result.latency, result.latency_mean);
  for (const ClientResult& client : result.clients) {
    const std::string prefix = fmt::format("clients.{}.", client.name);
    add_calls(list, prefix, client.calls);
    add_ledger(list, prefix, client.ledger);
    if (client.writes) {
      add_writes(list, prefix, *client.writes);
      add_checker(list, prefix, client.checker);
    }
    add_latency(list, prefix, client.latency, client.latency_mean);
  }
  for (const LinkResult& link : result.links) add_link(list, link);
  for (const ServiceResult& service : result.services) add_service(list, service, result.ledger.intents);
  for (const ReplicaResult& replica : result.replicas) add_replica(list, replica, result.services.size() > 1);
  return list.take();
}

std::vector<ResultField> timeline_fields(const RunResult& result, std::optional<std::uint32_t> from_s,
                                         std::optional<std::uint32_t> to_s) {
  TimelineRow sum;
  std::vector<std::uint64_t> timeouts;
  for (const TimelineRow& row : result.timeline) {
    if (row.second < from_s.value_or(0) || row.second >= to_s.value_or(UINT32_MAX)) continue;
    sum.join(row);
    timeouts.push_back(row.timeouts);
  }
  FieldList list("timeline.");
  const std::pair<std::string_view, std::uint64_t> counts[] = {
      {"offered", sum.offered}, {"goodput", sum.goodput},       {"rejected", sum.rejected},
      {"unknown", sum.unknown}, {"attempts", sum.attempts},     {"timeouts", sum.timeouts},
      {"retries", sum.retries}, {"executions", sum.executions}, {"queue", sum.queue}};
  for (const auto& [name, value] : counts) list.count(name, value);
  list.ratio("goodput_share", sum.goodput, sum.offered);
  list.ratio("attempts_per_call", sum.attempts, sum.offered, FieldUnit::number);
  list.ratio("executions_per_call", sum.executions, sum.offered, FieldUnit::number);
  list.ratio("timeout_rate", sum.timeouts, sum.attempts);
  list.number("timeouts_dispersion", dispersion(timeouts));
  return list.take();
}

std::string shown_value(const ResultField& field) {
  if (!field.value)
    return field.missing_is_fine ? "no fault came" : field.missing_is_never ? "never" : "none";
  const double value = *field.value;
  switch (field.unit) {
    case FieldUnit::count:
      return format_count(static_cast<std::uint64_t>(value));
    case FieldUnit::share:
      return format_rate(value);
    case FieldUnit::milliseconds:
      if (value == 0) return "0 ms";
      return format_duration(Duration(static_cast<std::int64_t>(std::llround(value * 1e6))));
    case FieldUnit::seconds:
      if (value == 0) return "0 s";
      return format_duration(Duration(static_cast<std::int64_t>(std::llround(value * 1e9))));
    case FieldUnit::flag:
      return value != 0 ? "yes" : "no";
    case FieldUnit::number:
      break;
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace overdue
