#include "overdue/timeout/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "overdue/base/quantity.h"
#include "overdue/latency/later_than.h"
#include "overdue/latency/would_reply.h"

namespace overdue {
namespace {

bool is_left_out(const std::vector<bool>& leave_out, std::uint32_t backend) {
  return backend < leave_out.size() && leave_out[backend];
}

// How long nobody called, of a log that takes so long: stretches of a tenth of it and more in which twenty
// calls would have been due. Between the files of two days nothing was measured, and a call that began an
// hour before all others is no hour of traffic.
Duration silence_of(const Measurement& measurement, Duration whole) {
  constexpr int kShare = 10;
  constexpr double kDueMin = 20;
  const TimeGrid& grid = measurement.seconds();
  const double calls = static_cast<double>(measurement.with_start());
  Duration silence{};
  std::int64_t empty = 0;
  for (std::uint32_t block = 0; block < grid.block_count(); ++block) {
    if (grid.at(0, block).empty()) {
      ++empty;
      continue;
    }
    const Duration stretch = std::exchange(empty, 0) * grid.block_length();
    const double due = calls * static_cast<double>(stretch.count()) / static_cast<double>(whole.count());
    if (stretch >= whole / kShare && due >= kDueMin) silence += stretch;
  }
  return silence;
}

// While there were calls.
std::optional<double> rate_of(const Measurement& measurement) {
  const auto first = measurement.first_start();
  const auto last = measurement.last_start();
  if (!first || !last || *last <= *first || measurement.with_start() < 2) return std::nullopt;
  // n starts span n - 1 gaps.
  const Duration whole = *last - *first;
  const double seconds = static_cast<double>((whole - silence_of(measurement, whole)).count()) / 1e9;
  return static_cast<double>(measurement.with_start() - 1) / seconds;
}

class Candidates {
 public:
  Candidates(const SurvivalCurve& curve, const TimeoutAdvice& advice, std::optional<double> rate)
      : curve_(curve), advice_(advice), rate_(rate) {}

  void add(std::string label, std::optional<Duration> timeout) {
    if (!timeout || timeout->count() <= 0) return;
    Candidate candidate{
        .label = std::move(label), .timeout = *timeout, .rates = rates_at(curve_, advice_, *timeout)};
    if (rate_ && candidate.rates.known) {
      candidate.held_calls =
          *rate_ * candidate.rates.never_answered * static_cast<double>(timeout->count()) / 1e9;
      candidate.extra_attempts_per_s = *rate_ * candidate.rates.visible_timeout_rate;
    }
    list_.push_back(std::move(candidate));
  }

  std::vector<Candidate> sorted() {
    std::ranges::stable_sort(list_, {}, &Candidate::timeout);
    return std::move(list_);
  }

 private:
  const SurvivalCurve& curve_;
  const TimeoutAdvice& advice_;
  std::optional<double> rate_;
  std::vector<Candidate> list_;
};

std::vector<Candidate> candidates_of(const SurvivalCurve& curve, const Analysis& analysis,
                                     const AnalysisOptions& options) {
  if (curve.empty()) return {};
  Candidates candidates(curve, analysis.advice, analysis.attempts_per_second);
  for (const auto& [label, quantile] :
       {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p99", 0.99), std::pair("p99.9", 0.999)}) {
    candidates.add(label, reply_quantile(curve, Quantile{quantile}));
  }
  candidates.add("advised", analysis.advice.request_timeout);
  candidates.add("promise", options.promise);
  if (options.limit) {
    candidates.add("today", options.limit);
  } else {
    candidates.add("longest", analysis.advice.open.longest_wait);
  }
  return candidates.sorted();
}

DoubtContext::OpenCalls open_calls_of(const TimeoutAdvice& advice) {
  if (advice.calls == 0) return DoubtContext::OpenCalls::not_judged;
  switch (advice.open.verdict) {
    case WaitVerdict::enough:
      return DoubtContext::OpenCalls::enough;
    case WaitVerdict::lost:
      return DoubtContext::OpenCalls::lost;
    case WaitVerdict::slow:
      return DoubtContext::OpenCalls::slow;
    case WaitVerdict::cannot_tell:
      return DoubtContext::OpenCalls::cannot_tell;
  }
  return DoubtContext::OpenCalls::not_judged;
}

std::vector<Doubt> doubts_of(const Measurement& measurement, const EndingTable& all, const Analysis& analysis,
                             const AnalysisOptions& options, std::vector<Doubt> without_advice) {
  const TimeoutAdvice& advice = analysis.advice;
  DoubtContext context;
  context.accept_false = options.advice.accept_false;
  context.point = advice.point;
  context.recommended = advice.request_timeout;
  if (analysis.pooled) context.pooled = analysis.pooled->request_timeout;
  context.open_calls = open_calls_of(advice);
  context.open_share = advice.open.open_share;
  if (advice.calls > 0) context.longest_wait = advice.open.longest_wait;
  context.vif = advice.vif;
  context.effective_late_calls = advice.effective_late_calls;
  if (advice.abandonment.matters) {
    context.timeout_if_abandoned_lost = advice.abandonment.timeout_if_lost;
    context.timeout_if_abandoned_slow = advice.abandonment.timeout_if_slow;
  }
  context.comparison = &analysis.comparison;
  context.table = &all;
  context.server_side = options.server_side;
  context.filled_in = options.filled_in;
  context.outcome_unknown = options.outcome_unknown;
  context.without_latency = options.without_latency;
  context.set_aside = options.set_aside;
  context.limit = options.limit;
  context.unit_doubt = options.unit_doubt;
  std::vector<Doubt> doubts = find_doubts(measurement, context, std::move(without_advice), options.run_both);
  if (analysis.promise && !analysis.promise->fits) {
    doubts.push_back(
        {"promise_missed",
         advice.request_timeout
             ? fmt::format("the advised {} does not fit the promise of {}: cutting at the promise gives up "
                           "{} of the calls that would have replied",
                           format_duration(*advice.request_timeout), format_duration(*options.promise),
                           format_rate(analysis.promise->check.rates.false_timeout_rate))
             : fmt::format("no timeout can be advised, so nothing says that the promise of {} can be kept",
                           format_duration(*options.promise))});
  }
  return doubts;
}

std::vector<BackendAnalysis> backends_of(const Measurement& measurement, const Analysis& analysis) {
  const std::vector<bool> mask = analysis.comparison.leave_out_mask();
  std::vector<BackendAnalysis> backends;
  for (const ReplicaRow& row : analysis.comparison.rows) {
    BackendAnalysis backend{.row = row, .left_out = is_left_out(mask, row.backend)};
    if (analysis.advice.request_timeout) {
      const EndingTable table = measurement.joined_table_of(row.backend, *analysis.advice.request_timeout);
      const SurvivalCurve curve(table);
      const SurvivalCurve::Point at = curve.at(*analysis.advice.request_timeout);
      if (at.rejected < 1) backend.over_advised = visible_timeout_rate(at);
    }
    backends.push_back(std::move(backend));
  }
  std::ranges::sort(backends, {},
                    [](const BackendAnalysis& backend) { return std::string_view(backend.row.name); });
  return backends;
}

// The advice, and whether the promise fits it.
void advise(const SurvivalCurve& kept, const TailByBlock& tails, const AnalysisOptions& options,
            Analysis& analysis) {
  analysis.advice = advise_timeout(kept, tails, options.advice);
  // All that replied in time did so within what the log's clock calls nothing.
  if (analysis.advice.recommended == Duration(0)) {
    analysis.advice.declined = "below_resolution";
    analysis.advice.request_timeout.reset();
  }
  if (!options.unit_doubt.empty()) {
    analysis.advice.declined = "unit_unclear";
    analysis.advice.request_timeout.reset();
  }
  if (options.promise && !kept.empty()) {
    const std::optional<Duration>& advised = analysis.advice.request_timeout;
    analysis.promise = PromiseAnalysis{
        .promise = *options.promise,
        .fits = advised && *advised <= *options.promise,
        .check = check_timeout(kept, analysis.advice, *options.promise, options.advice.confidence)};
  }
}

// What it would be with the replicas that were left out, and what callers see until they are mended.
void advise_pooled(const SurvivalCurve& all, const TailByBlock& tails, const AnalysisOptions& options,
                   Analysis& analysis) {
  analysis.pooled = advise_timeout(all, tails, options.advice);
  if (analysis.advice.request_timeout)
    analysis.visible_rate_pooled = visible_timeout_rate(all.at(*analysis.advice.request_timeout));
}

// Where so many of the calls kept are needed, so many of the log's: those of other backends, and those that
// were refused and say nothing of latency, come along.
std::uint64_t of_whole_log(std::uint64_t needed, std::uint64_t kept, std::uint64_t all) {
  if (kept == 0) return needed;
  const double scaled = static_cast<double>(needed) * (static_cast<double>(all) / static_cast<double>(kept));
  return scaled < 9e18 ? static_cast<std::uint64_t>(std::ceil(scaled)) : needed;
}

// A table and its curve are 14 MB at 200,000 rows.
constexpr std::size_t kManyRows = 150'000;

}  // namespace

TailByBlock tails_of(const Measurement& measurement, const std::vector<bool>& leave_out,
                     const SurvivalCurve& curve) {
  if (measurement.blocks().empty()) return {};
  const TimeGrid& grid = measurement.blocks();
  std::vector<std::uint32_t> replied_series, given_up_series;
  for (std::uint32_t id = 0; id < measurement.backends().size(); ++id) {
    if (is_left_out(leave_out, id)) continue;
    for (const Ending ending : {Ending::replied, Ending::timed_out, Ending::abandoned}) {
      const std::uint32_t series = Measurement::series_of(static_cast<std::uint16_t>(id), ending);
      if (series >= grid.series_count()) continue;
      (ending == Ending::replied ? replied_series : given_up_series).push_back(series);
    }
  }
  // What replied does not depend on the question, which is asked a dozen times.
  std::vector<BlockTail> replied(grid.block_count());
  for (std::uint32_t block = 0; block < replied.size(); ++block) {
    for (const std::uint32_t one : replied_series)
      replied[block].replied += static_cast<double>(grid.at(one, block).total());
  }
  return [&grid, &curve, would_reply = WouldReply(curve), replied_series = std::move(replied_series),
          given_up_series = std::move(given_up_series), replied = std::move(replied)](Duration late_above) {
    const LaterThan later(late_above, curve.table(), LaterThan::Of::replies);
    const std::vector<WouldReply::Chance> chances = would_reply.chances(late_above);
    std::vector<BlockTail> tails = replied;
    for (std::uint32_t block = 0; block < tails.size(); ++block) {
      for (const std::uint32_t one : replied_series) {
        const LaterThan::Count late = later.in(grid.at(one, block));
        tails[block].late += late.expected;
        tails[block].spread += late.spread;
      }
      if (would_reply.is_none()) continue;
      for (const std::uint32_t one : given_up_series) {
        grid.at(one, block).for_each([&](std::uint32_t bucket, std::uint64_t calls) {
          const std::uint32_t at = bucket - would_reply.first_bucket();
          if (at < chances.size())
            tails[block].add_given_up(static_cast<double>(calls), chances[at].replied, chances[at].late);
        });
      }
    }
    return tails;
  };
}

Analysis analyse(const Measurement& measurement, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.calls = measurement.calls();
  analysis.attempts = measurement.attempts();
  analysis.untimed_give_ups = measurement.untimed_give_ups();
  analysis.negative_elapsed = measurement.negative_elapsed;
  analysis.endings = measurement.endings();
  analysis.resolution = measurement.resolution();
  analysis.first_start = measurement.first_start();
  analysis.last_start = measurement.last_start();
  if (!options.rate_unknown) analysis.attempts_per_second = rate_of(measurement);
  measurement.prepare(options.run_both);
  const auto make_room = [&](std::size_t above) {
    if (options.make_room && measurement.distinct_latencies() > above) options.make_room();
  };
  make_room(kManyRows);
  EndingTable all;
  TailByBlock all_tails;
  std::optional<SurvivalCurve> curve_of_all;
  options.run_both([&] { analysis.comparison = compare_replicas(measurement); },
                   [&] {
                     all = measurement.table();
                     curve_of_all.emplace(all);
                     all_tails = tails_of(measurement, {}, *curve_of_all);
                   });
  const SurvivalCurve& all_curve = *curve_of_all;

  const std::vector<bool> mask = analysis.comparison.leave_out_mask();
  const bool leaves_out = !analysis.comparison.left_out.empty();
  if (leaves_out) make_room(kManyRows / 2);  // They come twice.
  const EndingTable without = leaves_out ? measurement.table(mask) : EndingTable();
  const SurvivalCurve without_curve(without);
  const SurvivalCurve& kept_curve = leaves_out ? without_curve : all_curve;
  const TailByBlock kept_tails = leaves_out ? tails_of(measurement, mask, without_curve) : all_tails;
  std::vector<Doubt> without_advice;
  const DoubtContext of_the_log{.table = &all, .filled_in = options.filled_in, .limit = options.limit};
  options.run_both(
      [&] {
        advise(kept_curve, kept_tails, options, analysis);
        analysis.advice.calls_needed =
            of_whole_log(analysis.advice.calls_needed, kept_curve.calls(), analysis.attempts);
        if (leaves_out) {
          analysis.quantiles_kept =
              quantiles_of_all(kept_curve, kept_tails, reported_quantiles(), options.advice.confidence);
          advise_pooled(all_curve, all_tails, options, analysis);
          analysis.pooled->calls_needed =
              of_whole_log(analysis.pooled->calls_needed, all_curve.calls(), analysis.attempts);
        }
        if (measurement.connect_times().count() > 0) {
          const EndingTable connects = measurement.connect_table();
          analysis.connect = advise_connect_timeout(connects, options.advice);
        }
        analysis.candidates = candidates_of(kept_curve, analysis, options);
        analysis.backends = backends_of(measurement, analysis);
        analysis.quantiles =
            quantiles_of_all(all_curve, all_tails, reported_quantiles(), options.advice.confidence);
      },
      [&] { without_advice = doubts_without_advice(measurement, of_the_log); });
  analysis.doubts = doubts_of(measurement, all, analysis, options, std::move(without_advice));
  return analysis;
}

}  // namespace overdue
