#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "overdue/base/quantity.h"
#include "overdue/report/advice_report.h"

namespace overdue {
namespace {

using Json = nlohmann::ordered_json;

Json milliseconds(const std::optional<Duration>& value) {
  return value ? Json(to_milliseconds(*value)) : Json(nullptr);
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// RFC 3339, UTC, to the millisecond.
Json time_text(const std::optional<WallTime>& time) {
  if (!time) return nullptr;
  const std::chrono::sys_time<Duration> at(time->time_since_epoch());
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(at - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Json source_json(const SourceReport& source) {
  Json set_aside = Json::array();
  for (const SourceReport::SetAside& aside : source.set_aside) {
    set_aside.push_back({{"reason", aside.reason}, {"count", aside.count}, {"first_line", aside.first_line}});
  }
  return {{"path", source.path},         {"format", source.format}, {"vantage", source.vantage},
          {"detail", source.detail},     {"lines", source.lines},   {"calls", source.calls},
          {"attempts", source.attempts}, {"set_aside", set_aside},  {"notes", source.notes}};
}

Json endings_json(const Analysis& analysis) {
  Json endings;
  for (std::size_t ending = 0; ending < kEndingCount; ++ending)
    endings[kEndingNames[ending]] = analysis.endings[ending];
  return endings;
}

Json quantiles_json(const std::vector<QuantileOfAll>& quantiles) {
  Json list = Json::array();
  for (const QuantileOfAll& quantile : quantiles) {
    list.push_back({{"q", quantile.quantile.value()},
                    {"replies_only_ms", milliseconds(quantile.replies_only)},
                    {"all_calls_ms", milliseconds(quantile.all_calls)},
                    {"beyond_ms", milliseconds(quantile.beyond)},
                    {"low_ms", milliseconds(quantile.low)},
                    {"low_beyond", quantile.low_beyond},
                    {"high_ms", milliseconds(quantile.high)}});
  }
  return list;
}

Json advice_object(const Analysis& analysis, const AdviceOptions& options) {
  const TimeoutAdvice& advice = analysis.advice;
  Json excluded = Json::array();
  for (const BackendAnalysis& backend : analysis.backends) {
    if (backend.left_out) excluded.push_back(backend.row.name);
  }
  const OpenCalls& open = advice.open;
  const bool any = advice.calls > 0;
  // What is said of a timeout there is none without.
  const auto if_known = [&advice](double rate) {
    return advice.request_timeout || advice.point ? Json(rate) : Json(nullptr);
  };
  return {{"accept_false", options.accept_false.value()},
          {"confidence", options.confidence.value()},
          {"request_timeout_ms", milliseconds(advice.request_timeout)},
          {"point_ms", milliseconds(advice.point)},
          {"low_ms", milliseconds(advice.low)},
          {"high_ms", milliseconds(advice.high)},
          {"recommended_ms", milliseconds(advice.recommended)},
          {"declined", advice.declined},
          {"reason", advice.declined.empty() ? "" : describe_declined(advice, options)},
          {"verdict", any ? Json(std::string(name_of(open.verdict))) : Json(nullptr)},
          {"if_open_lost_ms", milliseconds(advice.if_open_lost)},
          {"if_open_slow_ms", milliseconds(advice.if_open_slow)},
          {"longest_wait_ms", any ? Json(to_milliseconds(open.longest_wait)) : Json(nullptr)},
          {"replied_share", open.replied_share},
          {"open_share", open.open_share},
          {"reset_share", open.reset_share},
          {"rejected_share", open.rejected_share},
          {"tail_point", open.tail_point},
          {"tail_bound", open.tail_bound},
          {"threshold", open.threshold},
          {"vif", advice.vif},
          {"vif_known", advice.vif_known},
          {"effective_late_calls", advice.effective_late_calls},
          {"effective_replies", if_known(advice.effective_replies)},
          {"calls_needed", advice.calls_needed > 0 ? Json(advice.calls_needed) : Json(nullptr)},
          {"false_timeout_rate", if_known(advice.false_timeout_rate)},
          {"lost_rate", if_known(advice.lost_rate)},
          {"reset_rate", if_known(advice.reset_rate)},
          {"visible_timeout_rate", if_known(advice.visible_timeout_rate)},
          {"connect_timeout_ms",
           analysis.connect ? milliseconds(analysis.connect->connect_timeout) : Json(nullptr)},
          {"connect_note", analysis.connect ? analysis.connect->note : ""},
          {"pooled_ms", analysis.pooled ? milliseconds(analysis.pooled->request_timeout) : Json(nullptr)},
          {"pooled_visible_timeout_rate", or_null(analysis.visible_rate_pooled)},
          {"excluded_backends", excluded}};
}

Json where_known(const RatesAt& rates, double rate) { return rates.known ? Json(rate) : Json(nullptr); }

Json candidates_json(const Analysis& analysis) {
  Json list = Json::array();
  for (const Candidate& candidate : analysis.candidates) {
    const RatesAt& rates = candidate.rates;
    list.push_back({{"label", candidate.label},
                    {"timeout_ms", to_milliseconds(candidate.timeout)},
                    {"answered", where_known(rates, rates.answered)},
                    {"cut_off", where_known(rates, rates.cut_off)},
                    {"never_answered", where_known(rates, rates.never_answered)},
                    {"reset", where_known(rates, rates.reset)},
                    {"held_calls", or_null(candidate.held_calls)},
                    {"extra_attempts_per_s", or_null(candidate.extra_attempts_per_s)}});
  }
  return list;
}

Json backends_json(const Analysis& analysis) {
  Json list = Json::array();
  for (const BackendAnalysis& backend : analysis.backends) {
    const ReplicaRow& row = backend.row;
    list.push_back({{"backend", row.name},
                    {"attempts", row.attempts},
                    {"median_ms", milliseconds(row.median)},
                    {"times_fleet_median", or_null(row.times_fleet_median)},
                    {"timeout_rate", row.timeout_rate},
                    {"failure_rate", row.failure_rate},
                    {"over_advised_rate", or_null(backend.over_advised)},
                    {"p", row.test ? Json(row.test->p) : Json(nullptr)},
                    {"judgement", std::string(name_of(row.judgement))}});
  }
  return list;
}

Json promise_json(const Analysis& analysis) {
  if (!analysis.promise) return nullptr;
  const PromiseAnalysis& promise = *analysis.promise;
  const RatesAt& rates = promise.check.rates;
  return {{"promise_ms", to_milliseconds(promise.promise)},
          {"fits", promise.fits},
          {"false_timeout_rate", where_known(rates, rates.false_timeout_rate)},
          {"false_timeout_rate_upper", where_known(rates, promise.check.false_rate_upper)},
          {"visible_timeout_rate", where_known(rates, rates.visible_timeout_rate)}};
}

Json group_json(const GroupReport& group, const AdviceOptions& options) {
  const Analysis& analysis = group.analysis;
  Json doubts = Json::array();
  for (const Doubt& doubt : analysis.doubts) doubts.push_back({{"code", doubt.code}, {"text", doubt.text}});
  return {{"key", group.key},
          {"calls", analysis.calls},
          {"attempts", analysis.attempts},
          {"first_start", time_text(analysis.first_start)},
          {"last_start", time_text(analysis.last_start)},
          {"attempts_per_s", or_null(analysis.attempts_per_second)},
          {"endings", endings_json(analysis)},
          {"untimed_give_ups", analysis.untimed_give_ups},
          {"quantiles", quantiles_json(analysis.quantiles)},
          {"advice", advice_object(analysis, options)},
          {"promise", promise_json(analysis)},
          {"candidates", candidates_json(analysis)},
          {"backends", backends_json(analysis)},
          {"doubts", doubts}};
}

}  // namespace

std::string advice_json(const AdviceReport& report) {
  Json sources = Json::array();
  for (const SourceReport& source : report.sources) sources.push_back(source_json(source));
  Json groups = Json::array();
  bool exact = true;
  for (const GroupReport& group : report.groups) {
    groups.push_back(group_json(group, report.options));
    exact = exact && group.analysis.resolution == Measurement::Resolution::exact;
  }
  const Json root = {{"schema", "overdue.advice/1"},
                     {"sources", sources},
                     {"resolution", exact ? "exact" : "bucket"},
                     {"counted", report.level},
                     {"interrupted", report.interrupted},
                     {"groups", groups}};
  // Paths and names are bytes; what is not UTF-8 in them is shown as the replacement character.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace overdue
