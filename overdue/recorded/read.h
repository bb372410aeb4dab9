#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/name_table.h"
#include "overdue/base/result.h"
#include "overdue/latency/measurement.h"

namespace overdue {

// WORLD 1: bytes of a log in, measured attempts out (DESIGN, rule 4).

enum class Format { csv, ndjson, nginx, envoy, hlog };
inline constexpr std::string_view kFormatNames[] = {"csv", "ndjson", "nginx", "envoy", "hlog"};

// Where the one who wrote the log stood: what lies between it and the caller is not in its times.
enum class Vantage { caller, proxy, server };
inline constexpr std::string_view kVantageNames[] = {"caller", "proxy", "server"};

// Which rows are measured: each try at a backend, or each call as its caller waited for it.
enum class Level { attempts, calls };

// Everything a user may say about a log. Defaults: detect.
struct ReadOptions {
  std::optional<Format> format;
  // --map field=column: our fields are latency, status, ending, backend, start, connect, route, method.
  std::map<std::string, std::string> columns;
  std::optional<std::string>
      log_format;                  // nginx's log_format string, with or without the directive around it.
  std::optional<Duration> unit;    // --unit: one unit of the latency column, where its name does not say.
  std::optional<Vantage> vantage;  // --vantage, where the format's own guess is wrong.
  // --success: statuses that count as replies, as "2xx,404,409"; every other status with an answer is
  // rejected.
  std::optional<std::string> success;
  std::optional<Duration> limit;         // --limit: the limit in force; give-ups without a time ended there.
  std::optional<WallTime> since, until;  // By start: since <= start < until.
  std::vector<std::pair<std::string, std::string>> where;  // --where COLUMN=VALUE, all must hold.
  std::string group_by;  // --by: "", route, method, upstream or a column's name.
  Level level = Level::attempts;
  unsigned threads = 2;
};

// Reasons for rows to be set aside that others ask for.
inline constexpr std::string_view kNoLatency = "no latency value";
inline constexpr std::string_view kNegativeDuration = "negative duration";

// Rows set aside for `reason` were no calls that this log is about: without them nothing is missing.
bool is_no_call(std::string_view reason);

struct SetAside {
  std::string reason;  // A stable word for machines and people: "no latency value", "negative duration", ...
  std::uint64_t count = 0;
  std::uint64_t first_line = 0;  // 1-based.
  std::string first_value = {};  // What was at fault on that line, made printable; empty: not one value.
};

// What one file turned out to be.
struct SourceSummary {
  std::string path;  // "-" for standard input.
  Format format = Format::csv;
  Vantage vantage = Vantage::caller;
  std::string detail;  // For people: "upstream times", "columns latency_ms, status".
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::vector<SetAside> set_aside;
  std::optional<Duration> records_up_to;  // Histogram files: what was longer they have no room for.
  bool has_start_times = false;
  bool has_connect_times = false;
  bool outcome_unknown = false;  // Nothing in it says how a row ended: every one was read as a reply.
  bool level_is_fixed = false;   // The format has whole calls only, or attempts only.
  std::string unit_doubt;  // Why the unit of the latency may not be what its name says; empty: no doubt.
  std::vector<std::string> notes;  // Things a user should know: "status 0 read as lost".
};

// One source read to its end: a measurement for each group (one group, key "", without group_by).
struct LogMeasurement {
  SourceSummary source;
  std::map<std::string, Measurement> groups;
};

// Progress and interruption, shared with the thread that draws and the handler of Ctrl-C.
struct ReadProgress {
  std::atomic<std::uint64_t> bytes_read{0};   // Of the file, compressed as it lies there.
  std::atomic<std::uint64_t> bytes_total{0};  // 0 where not known (standard input).
  std::atomic<bool> stop{false};  // Set it: reading ends at the next chunk, with what was read so far.
};

// Reads one file, plain or gzip, "-" for standard input, on options.threads threads in constant memory.
// Errors: unreadable_input with path, line and value and what would be right; unsupported for a format that
// is understood and has no times (for nginx the message ends with the exact log_format line to add).
Result<LogMeasurement> read_log(const std::string& path, const ReadOptions& options,
                                ReadProgress* progress = nullptr);

// The same bytes to rows without measuring, on one thread: for tests, fuzzing and other measures.
// `take` is called with batches; ids refer to the tables given beside.
using TakeAttempts = std::function<void(std::span<const Attempt>, const NameTable& backends,
                                        const NameTable& routes, const NameTable& groups)>;
Result<SourceSummary> read_attempts(std::string_view bytes, const std::string& path,
                                    const ReadOptions& options, const TakeAttempts& take);

}  // namespace overdue
