#include "overdue/cli/log_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <thread>

#include "overdue/base/margin.h"
#include "overdue/base/quantity.h"
#include "overdue/cli/memory.h"
#include "overdue/cli/watch.h"
#include "overdue/recorded/time_text.h"

namespace overdue {
namespace {

template <typename Enum, std::size_t count>
Result<std::optional<Enum>> word_of(const std::string& text, const std::string_view (&names)[count],
                                    std::string_view flag) {
  if (text.empty()) return std::nullopt;
  std::string known;
  for (std::size_t index = 0; index < count; ++index) {
    if (text == names[index]) return static_cast<Enum>(index);
    known += (index == 0 ? "" : ", ") + std::string(names[index]);
  }
  return fail(ErrorCode::invalid_argument, fmt::format("{} {}: there are {}", flag, text, known));
}

Result<std::optional<Duration>> positive_duration(const std::string& text, std::string_view flag) {
  if (text.empty()) return std::nullopt;
  const auto value = parse_duration(text);
  if (!value) return fail(ErrorCode::invalid_argument, fmt::format("{}: {}", flag, value.error().message));
  if (value->count() <= 0) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} {}: must be more than 0", flag, text));
  }
  return *value;
}

Result<std::optional<WallTime>> wall_time(const std::string& text, std::string_view flag) {
  if (text.empty()) return std::nullopt;
  TimeText reader;
  if (const auto time = reader.parse(text)) return *time;
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} {}: is no time; write 2026-11-29T09:00:00Z or seconds since 1970", flag, text));
}

Result<std::optional<Duration>> unit_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const auto& [name, unit] :
       {std::pair("s", Duration(1'000'000'000)), std::pair("ms", Duration(1'000'000)),
        std::pair("us", Duration(1'000)), std::pair("ns", Duration(1))}) {
    if (text == name) return unit;
  }
  return fail(ErrorCode::invalid_argument, fmt::format("--unit {}: there are s, ms, us, ns", text));
}

Result<std::pair<std::string, std::string>> pair_of(const std::string& text, std::string_view flag,
                                                    std::string_view example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} {}: write it as in {}", flag, text, example));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<void> read_columns(const LogFlags& flags, ReadOptions& options) {
  static constexpr std::string_view kFields[] = {"latency", "status",  "ending", "ok",    "backend",
                                                 "start",   "connect", "route",  "method"};
  for (const std::string& entry : flags.columns) {
    auto pair = pair_of(entry, "--map", "--map latency=latency_ms,status=code");
    if (!pair) return std::unexpected(pair.error());
    if (std::ranges::find(kFields, pair->first) == std::end(kFields)) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format(
              "--map {}: there are latency, status, ending, ok, backend, start, connect, route, method",
              entry));
    }
    const auto [known, added] = options.columns.insert(*pair);
    if (!added) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--map {}: {} is said twice, the first time as {}={}", entry, pair->first,
                              known->first, known->second));
    }
  }
  return {};
}

// Sets options from what was parsed, until the first fault.
class Settings {
 public:
  template <typename Value>
  void set(Value& target, Result<Value> value) {
    if (fault_) return;
    if (value)
      target = *std::move(value);
    else
      fault_ = std::move(value).error();
  }
  const std::optional<Error>& fault() const { return fault_; }

 private:
  std::optional<Error> fault_;
};

bool is_given_before(const std::string& path, const std::vector<SourceSummary>& before) {
  return std::ranges::any_of(before, [&](const SourceSummary& source) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, source.path, ignored);
  });
}

// A client that meant to call a hundred times as often as it did is none that waited for answers: a mistyped
// unit.
Result<void> check_expected_interval(Duration interval, const Measurement& measurement) {
  constexpr double kTimesMax = 100;
  double added = 0;
  for (const EndingRow& row : measurement.table()) {
    const double steps = static_cast<double>(row.mid.count()) / static_cast<double>(interval.count()) - 1;
    if (steps <= 0) continue;
    added += steps * static_cast<double>(row.replied + row.rejected + row.reset + row.gave_up());
  }
  const auto attempts = static_cast<double>(measurement.attempts());
  if (added <= kTimesMax * attempts) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("--expected-interval {}: would add some {:.0f} calls for each of the log's {}: it is the "
                  "time between two calls that the client meant to send, as 100ms",
                  format_duration_exact(interval), added / attempts, format_count(measurement.attempts())));
}

Result<void> apply_whole_log_flags(const LogFlags& flags, const ReadOptions& options, ReadLogs& logs) {
  const auto interval = positive_duration(flags.expected_interval, "--expected-interval");
  if (!interval) return std::unexpected(interval.error());
  if (*interval) {
    for (auto& [key, measurement] : logs.groups) {
      if (const auto fine = check_expected_interval(**interval, measurement); !fine) return fine;
      measurement.fill_in_expected(**interval);
    }
  }
  if (!flags.sent) return {};
  if (logs.groups.size() != 1 || !flags.by.empty() || !flags.where.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--sent counts the calls of the whole log and does not go with --by or --where");
  }
  Measurement& measurement = logs.groups.begin()->second;
  const auto sent = static_cast<std::uint64_t>(*flags.sent);
  if (sent < measurement.calls()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--sent {}: the log holds more, {}; it must be the number of calls "
                            "that were sent in the same time",
                            *flags.sent, measurement.calls()));
  }
  // What was set aside was sent, too; not so where only a part of the time is looked at, and nobody knows
  // when.
  std::uint64_t set_aside = 0;
  for (SourceSummary& source : logs.sources) {
    std::uint64_t of_source = 0;
    if (!options.since && !options.until) {
      for (const SetAside& aside : source.set_aside) of_source += aside.count;
    }
    if (of_source > 0)
      source.notes.push_back("--sent: each line set aside is taken to be a call that was sent");
    set_aside += of_source;
  }
  const std::uint64_t missing = sent - measurement.calls();
  const EndingTable table = measurement.table();
  Duration at = table.empty() ? Duration(0) : table.back().high;
  for (const SourceSummary& source : logs.sources) at = std::max(at, source.records_up_to.value_or(at));
  if (options.limit) at = *options.limit;
  if (missing > set_aside) measurement.add_counts(Ending::timed_out, at, missing - set_aside);
  return {};
}

bool has_times(const SourceSummary& source) { return source.has_start_times; }

void note_sources_without_times(std::vector<SourceSummary>& sources) {
  if (std::ranges::none_of(sources, has_times)) return;
  for (SourceSummary& source : sources) {
    if (has_times(source)) continue;
    source.notes.emplace_back(
        "does not say when calls began, and other sources do: its calls are in no figure of time, and no "
        "rate of calls is given");
  }
}

}  // namespace

void add_log_flags(CLI::App& command, LogFlags& flags) {
  // An empty value is an unset variable of some script, and nobody's wish.
  const CLI::Validator given(
      [](std::string& value) { return value.empty() ? std::string("is empty") : std::string(); }, "",
      "given");
  command.add_option("FILE", flags.paths, "Logs, plain or gzip; - is standard input")->required();
  command.add_option("--format", flags.format, "csv, ndjson, nginx, envoy, hlog (default: by content)")
      ->check(given);
  command.add_option("--map", flags.columns, "Columns, as latency=latency_ms,status=code,backend=host")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--log-format", flags.log_format, "nginx's log_format string, as in nginx.conf")
      ->check(given);
  command
      .add_option("--unit", flags.unit,
                  "Unit of the latency column where its name does not say: s, ms, us, ns")
      ->check(given);
  command.add_option("--vantage", flags.vantage, "Who wrote the log: caller, proxy, server")->check(given);
  command
      .add_option("--success", flags.success,
                  "Statuses that are replies, as 2xx,404 (default: 2xx, 3xx and most 4xx)")
      ->check(given);
  command.add_option("--limit", flags.limit, "The timeout in force when the log was written, as 1s")
      ->check(given);
  command.add_option("--since", flags.since, "Only calls that began at this time or later")->check(given);
  command.add_option("--until", flags.until, "Only calls that began before this time")->check(given);
  command.add_option("--where", flags.where, "Only rows with COLUMN=VALUE; may be repeated")
      ->check(given)
      ->allow_extra_args(false);
  command.add_option("--by", flags.by, "An advice for each route, method, upstream, or value of a column")
      ->check(given);
  command.add_flag("--calls", flags.calls, "Measure whole calls, not their attempts");
  command.add_option("--threads", flags.threads, "Reading threads (default: one a core)")
      ->check(CLI::Range(1, 64));
  command.add_option("--expected-interval", flags.expected_interval,
                     "A closed loop's interval: count the calls it did not send while it waited");
  command.add_option("--sent", flags.sent, "Calls really sent; what the log lacks is counted as given up")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000'000}));
}

void add_choice_flags(CLI::App& command, ChoiceFlags& flags) {
  command.add_option("--accept", flags.accept, "Share of healthy calls you agree to cut off: 0.1% or 0.001")
      ->capture_default_str();
  command.add_option("--confidence", flags.confidence, "Confidence of the intervals and the advice")
      ->capture_default_str();
  command.add_option("--headroom", flags.headroom,
                     "Advise the point plus this share, as 20%, and not its upper end");
  command.add_option("--promise", flags.promise,
                     "What your own callers were promised, as 500ms: does the advice fit?");
}

Result<ReadOptions> read_options_of(const LogFlags& flags) {
  ReadOptions options;
  Settings settings;
  settings.set(options.format, word_of<Format>(flags.format, kFormatNames, "--format"));
  settings.set(options.vantage, word_of<Vantage>(flags.vantage, kVantageNames, "--vantage"));
  settings.set(options.unit, unit_of(flags.unit));
  settings.set(options.limit, positive_duration(flags.limit, "--limit"));
  settings.set(options.since, wall_time(flags.since, "--since"));
  settings.set(options.until, wall_time(flags.until, "--until"));
  if (settings.fault()) return std::unexpected(*settings.fault());
  if (options.since && options.until && *options.since >= *options.until) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--since {} is not before --until {}", flags.since, flags.until));
  }
  if (const auto done = read_columns(flags, options); !done) return std::unexpected(done.error());
  for (const std::string& entry : flags.where) {
    auto pair = pair_of(entry, "--where", "--where method=GET");
    if (!pair) return std::unexpected(pair.error());
    options.where.push_back(*std::move(pair));
  }
  if (!flags.log_format.empty()) options.log_format = flags.log_format;
  if (!flags.success.empty()) options.success = flags.success;
  options.group_by = flags.by;
  options.level = flags.calls ? Level::calls : Level::attempts;
  options.threads =
      flags.threads > 0 ? flags.threads : std::clamp(std::thread::hardware_concurrency(), 2U, 16U);
  if (std::ranges::count(flags.paths, "-") > 1) {
    return fail(ErrorCode::invalid_argument, "standard input (-) can be read once only");
  }
  return options;
}

Result<AnalysisOptions> analysis_options_of(const ChoiceFlags& flags) {
  AnalysisOptions options;
  options.make_room = give_back_free_memory;
  const auto accept = parse_rate(flags.accept);
  if (!accept) return fail(ErrorCode::invalid_argument, "--accept: " + accept.error().message);
  if (accept->value() < 1e-9 || accept->value() > 0.5) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--accept {}: must be more than 0 and at most 50%, as in 0.1%", flags.accept));
  }
  options.advice.accept_false = *accept;
  const auto confidence = parse_rate(flags.confidence);
  if (!confidence) return fail(ErrorCode::invalid_argument, "--confidence: " + confidence.error().message);
  if (confidence->value() < 0.5 || confidence->value() > 0.999999) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--confidence {}: must be at least 50% and below 100%, as in 95%", flags.confidence));
  }
  options.advice.confidence = *confidence;
  if (!flags.headroom.empty()) {
    const auto headroom = parse_margin(flags.headroom);
    if (!headroom) return fail(ErrorCode::invalid_argument, "--headroom: " + headroom.error().message);
    options.advice.headroom = *headroom;
  }
  const auto promise = positive_duration(flags.promise, "--promise");
  if (!promise) return std::unexpected(promise.error());
  options.promise = *promise;
  return options;
}

Result<ReadLogs> read_logs(const LogFlags& flags, const ReadOptions& options) {
  ReadLogs logs;
  for (const std::string& path : flags.paths) {
    ReadProgress progress;
    const ReadWatch watch(progress, path == "-" ? "standard input" : path);
    auto read = read_log(path, options, &progress);
    if (!read) return std::unexpected(std::move(read).error());
    if (is_given_before(path, logs.sources)) {
      read->source.notes.push_back("this file was given before: its calls count twice");
    }
    logs.sources.push_back(std::move(read->source));
    for (auto& [key, measurement] : read->groups) {
      const auto [at, added] = logs.groups.try_emplace(key, std::move(measurement));
      if (!added) at->second.merge(measurement);
    }
    logs.interrupted = progress.stop;
    if (logs.interrupted) break;
  }
  if (logs.groups.empty()) logs.groups.try_emplace("");
  if (const auto done = apply_whole_log_flags(flags, options, logs); !done)
    return std::unexpected(done.error());
  note_sources_without_times(logs.sources);
  return logs;
}

namespace {

// Of one source, into those of all. What has a doubt of its own is not among them.
void add_set_aside(const SourceSummary& source, RowsSetAside& all) {
  std::uint64_t most = 0;
  for (const SetAside& aside : source.set_aside) {
    all.all += aside.count;
    const bool is_told =
        aside.reason == kNegativeDuration || (source.outcome_unknown && aside.reason == kNoLatency);
    if (is_told || is_no_call(aside.reason)) continue;
    all.count += aside.count;
    if (aside.count > most) all.reason = aside.reason;
    most = std::max(most, aside.count);
  }
  all.all += source.attempts;
}

}  // namespace

void tell_sources(const ReadLogs& logs, const ReadOptions& read, AnalysisOptions& analysis) {
  analysis.limit = read.limit;
  analysis.rate_unknown =
      std::ranges::any_of(logs.sources, has_times) && !std::ranges::all_of(logs.sources, has_times);
  for (const SourceSummary& source : logs.sources) {
    if (source.vantage == Vantage::server) analysis.server_side = true;
    add_set_aside(source, analysis.set_aside);
    if (source.outcome_unknown) {
      analysis.outcome_unknown = true;
      const auto none = std::ranges::find(source.set_aside, kNoLatency, &SetAside::reason);
      if (none != source.set_aside.end()) analysis.without_latency += none->count;
    }
    if (analysis.unit_doubt.empty()) analysis.unit_doubt = source.unit_doubt;
  }
}

}  // namespace overdue
