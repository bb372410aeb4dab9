#include "overdue/recorded/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "overdue/base/quantity.h"
#include "overdue/recorded/chunk_source.h"
#include "overdue/recorded/csv.h"
#include "overdue/recorded/detect.h"
#include "overdue/recorded/expected_span.h"
#include "overdue/recorded/row_rules.h"
#include "overdue/recorded/row_sinks.h"
#include "overdue/recorded/two_threads.h"
#include "overdue/recorded/unit_doubt.h"

namespace overdue {
namespace {

// What the reading threads share.
struct Reading {
  ChunkSource& source;
  const ChunkReader& reader;
  ReadProgress* progress;
  std::atomic<bool> stop{false};
};

// One thread's part.
template <typename Sink>
struct Worker {
  template <typename... Args>
  explicit Worker(const Args&... args) : sink(args...) {}

  // Takes the next chunk: false at the end and after an error.
  bool take(Reading& reading) {
    auto more = reading.source.next(chunk);
    if (more) return *more;
    error = std::move(more.error());
    reading.stop = true;
    return false;
  }
  void read_taken(Reading& reading) {
    sink.begin_chunk(chunk.number);
    if (chunk.too_long) {
      sink.set_aside(kLineTooLong, 0);
      sink.end_chunk(1);
    } else {
      sink.end_chunk(reading.reader.read(chunk.text, sink));
    }
    if (too_many_groups()) reading.stop = true;
  }
  void run(Reading& reading) {
    while (!reading.stop.load(std::memory_order_relaxed) && !is_stopped(reading) && take(reading))
      read_taken(reading);
    sink.flush();
  }
  static bool is_stopped(const Reading& reading) {
    return reading.progress && reading.progress->stop.load(std::memory_order_relaxed);
  }
  bool too_many_groups() const {
    if constexpr (requires { sink.too_many_groups(); }) return sink.too_many_groups();
    return false;
  }

  Sink sink;
  ChunkSource::Chunk chunk;
  std::optional<Error> error;
};

struct Opened {
  std::unique_ptr<ChunkSource> source;
  OpenedFormat format;
};

Result<Opened> open_log(Result<std::unique_ptr<ChunkSource>> source, const std::string& path,
                        const ReadOptions& options) {
  if (!source) return std::unexpected(source.error());
  if ((*source)->head().empty()) return fail(ErrorCode::unreadable_input, fmt::format("{}: is empty", path));
  auto format = open_format((*source)->head(), path, options);
  if (!format) return std::unexpected(format.error());
  (*source)->skip(format->header_bytes);
  format->summary.path = path;
  return Opened{std::move(*source), std::move(*format)};
}

std::uint64_t negatives(const SourceSummary& summary) {
  const auto found = std::ranges::find(summary.set_aside, kNegativeDuration, &SetAside::reason);
  return found == summary.set_aside.end() ? 0 : found->count;
}

// C26: a few impossible durations are a clock's step; more are something else.
Result<void> check_negatives(const SourceSummary& summary) {
  const std::uint64_t count = negatives(summary);
  if (count == 0 || count * 100 <= count + summary.attempts) return {};
  const auto first = std::ranges::find(summary.set_aside, kNegativeDuration, &SetAside::reason)->first_line;
  if (summary.attempts == 0) {
    return fail(ErrorCode::unreadable_input, fmt::format("{}: all {} durations are negative, from line {} "
                                                         "on: operands swapped? (end minus start is right)",
                                                         summary.path, format_count(count), first));
  }
  return fail(
      ErrorCode::unreadable_input,
      fmt::format(
          "{}: {} of {} durations are negative, from line {} on. A clock step explains a few; above 1 % the "
          "durations cannot be trusted",
          summary.path, format_count(count), format_count(count + summary.attempts), first));
}

// What would be right in place of a value.
std::string right_for(std::string_view reason) {
  if (reason == kNoNumber) return "right are 12.5 and 12.5ms: no commas, units ns, us, ms, s, m or h";
  if (reason == kNoUnit) return "right is a number with ns, us, ms or s behind it";
  if (reason == kUnknownStatus)
    return "right are HTTP statuses, gRPC's codes, and words such as ok and timeout";
  if (reason == kUnknownEnding) return fmt::format("right are {}", fmt::join(kEndingNames, ", "));
  if (reason == kNeitherOk) return "right are true and false, yes and no, 1 and 0";
  return {};
}

std::string in_words(const SetAside& aside) {
  std::string text =
      fmt::format("{}: {} (first on line {}", aside.reason, format_count(aside.count), aside.first_line);
  if (!aside.first_value.empty()) text += fmt::format(": '{}'", aside.first_value);
  if (const std::string right = right_for(aside.reason); !right.empty()) text += "; " + right;
  return text + ")";
}

Result<void> check_any_rows(const SourceSummary& summary, const ReadOptions& options, std::uint64_t filtered,
                            bool stopped) {
  if (summary.attempts > 0 || stopped) return {};
  if (filtered > 0 && !summary.has_start_times && (options.since || options.until)) {
    return fail(
        ErrorCode::unreadable_input,
        fmt::format("{}: nothing is known to say when a call began, so --since and --until leave none "
                    "of its {} rows. In a CSV or NDJSON file --map start=COLUMN names what says it",
                    summary.path, format_count(filtered)));
  }
  if (filtered > 0) {
    return fail(ErrorCode::unreadable_input,
                fmt::format("{}: none of its {} rows is left by --where, --since and --until", summary.path,
                            format_count(filtered)));
  }
  if (summary.set_aside.empty()) {
    return fail(ErrorCode::unreadable_input,
                fmt::format("{}: has {} lines and no calls", summary.path, summary.lines));
  }
  std::vector<std::string> reasons;
  for (const SetAside& aside : summary.set_aside) {
    reasons.push_back(in_words(aside));
  }
  return fail(ErrorCode::unreadable_input,
              fmt::format("{}: no line of it could be used ({} read as {}). {}", summary.path,
                          format_count(summary.lines), kFormatNames[static_cast<std::size_t>(summary.format)],
                          fmt::join(reasons, "; ")));
}

}  // namespace

bool is_no_call(std::string_view reason) {
  static constexpr std::string_view kReasons[] = {"a TCP connection, no call",
                                                  "answered by Envoy itself, no upstream",
                                                  "answered by nginx itself, no upstream",
                                                  "no upstream was contacted",
                                                  "blank line",
                                                  "no latency, status or ending in it"};
  return std::ranges::find(kReasons, reason) != std::end(kReasons);
}

namespace {

// From there on the columns are not those that the first line says.
Result<void> check_one_header(const SourceSummary& summary) {
  const auto found = std::ranges::find(summary.set_aside, kOtherHeader, &SetAside::reason);
  if (found == summary.set_aside.end()) return {};
  return fail(
      ErrorCode::unreadable_input,
      fmt::format("{}: line {}: another header, '{}', and not that of the first line: files with other "
                  "columns were joined. Give the files one by one",
                  summary.path, found->first_line, found->first_value));
}

Result<void> conclude(ReadAccount account, const ReadOptions& options, std::uint64_t header_lines,
                      bool stopped, SourceSummary& summary) {
  account.finish(header_lines, summary);
  if (stopped) summary.notes.push_back("reading was stopped before the end");
  if (auto fine = check_one_header(summary); !fine) return fine;
  if (auto fine = check_negatives(summary); !fine) return fine;
  return check_any_rows(summary, options, account.filtered, stopped);
}

using Workers = std::vector<std::unique_ptr<Worker<MeasuringSink>>>;

// Backends in the order of the file, whichever thread met them.
std::vector<std::string> backends_in_order(const Workers& workers) {
  std::map<std::string, std::pair<std::uint64_t, std::size_t>>
      met;  // Chunk, and place among those of that chunk.
  for (const auto& worker : workers) {
    const std::vector<std::uint64_t>& chunks = worker->sink.backend_chunks();
    for (std::size_t id = 0; id < chunks.size(); ++id) {
      const std::string& name = worker->sink.names.backends.name_of(static_cast<std::uint16_t>(id));
      const auto [found, added] = met.try_emplace(name, chunks[id], id);
      if (!added && chunks[id] < found->second.first) found->second = {chunks[id], id};
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, place] : met) names.push_back(name);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return met.at(name); });
  return names;
}

std::vector<std::string> names_in(const NameTable& table) {
  std::vector<std::string> names;
  for (std::size_t id = 0; id < table.size(); ++id)
    names.push_back(table.name_of(static_cast<std::uint16_t>(id)));
  return names;
}

// One measurement of the threads' parts. Ids come out in the order of the file: mostly they do by themselves,
// since the first part began the file; else they are given out anew.
Measurement combined(std::vector<std::unique_ptr<Measurement>>& parts, const std::vector<std::string>& order,
                     const RunBoth& run_both) {
  std::vector<std::string> by_itself;
  for (const auto& part : parts) {
    for (std::string& name : names_in(part->backends())) {
      if (std::ranges::find(by_itself, name) == by_itself.end()) by_itself.push_back(std::move(name));
    }
  }
  std::vector<std::string> wanted = {""};
  for (const std::string& name : order) {
    if (!name.empty() && std::ranges::find(by_itself, name) != by_itself.end()) wanted.push_back(name);
  }
  Measurement whole;
  std::size_t next = 0;
  if (by_itself == wanted) {
    whole = std::move(*parts[0]);
    next = 1;
  } else {
    whole.expect_backends(wanted);
  }
  for (; next < parts.size(); ++next) {
    whole.merge(*parts[next], run_both);
    if (next + 1 < parts.size()) parts[next].reset();
  }
  whole.order_routes_by_name();
  // Each takes a while: a measurement is thousands of pieces.
  run_both([&] { whole.prepare(run_both); }, [&] { parts.clear(); });
  return whole;
}

std::map<std::string, Measurement> merged_groups(Workers& workers) {
  const std::vector<std::string> order = backends_in_order(workers);
  const RunBoth run_both = run_on(static_cast<unsigned>(workers.size()));
  std::map<std::string, std::vector<std::unique_ptr<Measurement>>> parts;
  for (auto& worker : workers) {
    MeasuringSink& sink = worker->sink;
    for (std::size_t id = 0; id < sink.groups().size(); ++id) {
      if (!sink.groups()[id]) continue;
      parts[sink.names.groups.name_of(static_cast<std::uint16_t>(id))].push_back(
          std::move(sink.groups()[id]));
    }
  }
  std::map<std::string, Measurement> groups;
  for (auto& [name, its] : parts) groups.emplace(name, combined(its, order, run_both));
  return groups;
}

}  // namespace

Result<LogMeasurement> read_log(const std::string& path, const ReadOptions& options, ReadProgress* progress) {
  auto opened = open_log(ChunkSource::open(path, progress), path, options);
  if (!opened) return std::unexpected(opened.error());
  const ChunkReader& reader = *opened->format.reader;
  const bool alone = !reader.chunks_are_independent() || opened->source->fits_in_head();
  const unsigned threads = alone ? 1 : std::clamp(options.threads, 1U, 64U);
  Reading reading{*opened->source, reader, progress};
  std::vector<std::unique_ptr<Worker<MeasuringSink>>> workers;
  const auto expected = expected_span(*opened->source, reader, options);
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<Worker<MeasuringSink>>(options, expected));
  // The first chunk is the first part's (see combined()), and taken all the same where reading is stopped: it
  // was read to know the format.
  if (workers[0]->take(reading)) {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back([&reading, &worker = *workers[i]] { worker.run(reading); });
    workers[0]->read_taken(reading);
    workers[0]->run(reading);
  }
  ReadAccount account;
  for (const auto& worker : workers) {
    if (worker->error) return std::unexpected(*worker->error);
    account.merge(worker->sink.account());
    worker->chunk = {};
  }
  LogMeasurement log;
  log.source = std::move(opened->format.summary);
  const bool stopped = progress && progress->stop.load();
  if (auto fine = conclude(std::move(account), options, opened->format.header_lines, stopped, log.source);
      !fine) {
    return std::unexpected(fine.error());
  }
  log.groups = merged_groups(workers);
  const bool too_many =
      log.groups.size() > MeasuringSink::kGroupsMax ||
      std::ranges::any_of(workers, [](const auto& worker) { return worker->too_many_groups(); });
  if (too_many) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format(
            "{}: --by {} makes more than {} groups: choose a coarser field, or look at one value with "
            "--where {}=VALUE",
            path, options.group_by, MeasuringSink::kGroupsMax, options.group_by));
  }
  // The order of the rows does not matter: the whole log is judged, and not what its head made doubtful.
  if (const auto& claim = opened->format.unit_claim)
    log.source.unit_doubt = unit_doubt_of(log.groups, *claim);
  if (options.group_by.empty() && !log.groups.empty())
    log.groups.begin()->second.negative_elapsed = negatives(log.source);
  return log;
}

Result<SourceSummary> read_attempts(std::string_view bytes, const std::string& path,
                                    const ReadOptions& options, const TakeAttempts& take) {
  auto opened = open_log(ChunkSource::from_bytes(bytes, path), path, options);
  if (!opened) return std::unexpected(opened.error());
  Reading reading{*opened->source, *opened->format.reader, nullptr};
  Worker<HandingSink> worker(options, take);
  worker.run(reading);
  if (worker.error) return std::unexpected(*worker.error);
  SourceSummary summary = std::move(opened->format.summary);
  if (auto fine = conclude(worker.sink.account(), options, opened->format.header_lines, false, summary);
      !fine) {
    return std::unexpected(fine.error());
  }
  return summary;
}

}  // namespace overdue
