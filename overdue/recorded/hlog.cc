#include "overdue/recorded/hlog.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "overdue/base/quantity.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/hdr_histogram.h"
#include "overdue/recorded/number_text.h"

namespace overdue {
namespace {

constexpr Duration kLongest = std::chrono::hours(24 * 366);
constexpr Duration kYear = std::chrono::hours(24 * 365);
constexpr std::string_view kStartTime = "#[StartTime:";
constexpr std::string_view kBaseTime = "#[BaseTime:";

std::string_view take_field(std::string_view& rest) {
  const std::size_t comma = rest.find(',');
  const std::string_view field = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  return field;
}

// "#[StartTime: 1438867590.285 (seconds since epoch), ..."
std::optional<Duration> time_behind(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  return duration_text(line.substr(0, line.find_first_of(" ]")), TimeUnit::seconds);
}

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with("\"StartTimestamp\"");
}

template <typename Each>
std::uint64_t for_each_line(std::string_view lines, const Each& each) {
  std::uint64_t number = 0;
  for (; !lines.empty(); ++number) {
    const std::size_t newline = lines.find('\n');
    std::string_view line = lines.substr(0, newline);
    lines.remove_prefix(newline == std::string_view::npos ? lines.size() : newline + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    each(line, number);
  }
  return number;
}

// The clock of the log: what the lines' times are counted from. Runs from line to line.
class BaseClock {
 public:
  void see_comment(std::string_view line) {
    if (const auto start = time_behind(line, kStartTime); start && *start >= Duration(0)) {
      start_ = start;
      base_.reset();
    }
    if (const auto base = time_behind(line, kBaseTime)) base_ = base;
  }
  // Nothing where the log does not say when it began.
  std::optional<WallTime> wall_time(Duration written) {
    if (!base_) base_ = base_for(written);
    if (!base_) return std::nullopt;
    const Duration base = *base_;
    std::int64_t sum = 0;
    if (__builtin_add_overflow(base.count(), written.count(), &sum) || sum < 0) return std::nullopt;
    // Beyond 2199 it is no time of day.
    if (Duration(sum) > 230 * kYear) return std::nullopt;
    return WallTime(Duration(sum));
  }

 private:
  // Without a base time, times that lie more than a year before the start are counted from it; others are the
  // time of day themselves.
  std::optional<Duration> base_for(Duration written) const {
    if (start_) return written < *start_ - kYear ? *start_ : Duration(0);
    return written > 20 * kYear ? std::optional(Duration(0)) : std::nullopt;
  }

  std::optional<Duration> start_;
  std::optional<Duration> base_;
};

// Why the values are read in a unit.
enum class UnitBasis {
  told,    // By --unit.
  voted,   // By the intervals at the head of the file.
  assumed  // Those have no counts: nanoseconds, unless an interval says otherwise.
};

class HlogReader final : public ChunkReader {
 public:
  HlogReader(Duration unit, UnitBasis basis, std::optional<std::string> only_tag)
      : unit_(unit), basis_(basis), only_tag_(std::move(only_tag)) {}

  bool chunks_are_independent() const override { return false; }

  std::uint64_t read(std::string_view lines, RowSink& sink) const override {
    return for_each_line(lines, [&](std::string_view line, std::uint64_t number) {
      if (line.empty()) return;
      if (is_comment(line)) return clock_.see_comment(line);
      const auto interval = split_hlog_line(line);
      if (!interval) return sink.set_aside_for("not an interval", number, line);
      if (only_tag_ && interval->tag != *only_tag_) {
        ++sink.filtered;
        return;
      }
      const auto counts = decode_hdr_histogram(interval->histogram);
      if (!counts) return sink.set_aside(counts.error(), number);
      add(*interval, *counts, number, sink);
    });
  }

 private:
  void add(const HlogInterval& interval, const HdrCounts& counts, std::uint64_t number, RowSink& sink) const {
    if (counts.buckets.empty()) return;
    const std::int64_t longest = kLongest / unit_;
    const HdrCounts::Bucket& last = counts.buckets.back();
    if (last.high > longest) return sink.set_aside("impossible value", number);
    if (basis_ != UnitBasis::told) check_unit(interval, last, number, sink);
    const Duration limit = unit_ * std::min(counts.highest_trackable, longest);
    sink.records_up_to(limit);
    if (counts.at_its_limit()) {
      sink.note(
          fmt::format("values were recorded at or near the histogram's limit of {}: longer ones may be "
                      "missing. --sent says "
                      "how many calls there were",
                      format_duration(limit)));
    }
    const auto at = clock_.wall_time(interval.start);
    for (const HdrCounts::Bucket& bucket : counts.buckets) {
      sink.add_counts(Ending::replied, unit_ * bucket.high, bucket.count, at);
    }
  }

  // The head's intervals have voted; those behind it may say otherwise.
  void check_unit(const HlogInterval& interval, const HdrCounts::Bucket& last, std::uint64_t number,
                  RowSink& sink) const {
    if (interval.max <= 0 && basis_ == UnitBasis::voted) return;
    const HlogUnits units = hlog_units(last.low, last.high, interval.max);
    for (std::size_t i = 0; i < kHlogUnits.size(); ++i) {
      if (units.fits[i] && length_of(kHlogUnits[i]) == unit_) return;
    }
    if (basis_ == UnitBasis::voted && !units.any()) {
      return sink.note("an Interval_Max does not agree with the histogram beside it, which was read");
    }
    sink.doubt_unit(fmt::format("an Interval_Max of {} beside recorded values of up to {} does not say that "
                                "those are counted in {}; --unit settles it",
                                interval.max, last.high, format_duration(unit_)),
                    number);
  }

  Duration unit_;
  UnitBasis basis_;
  std::optional<std::string> only_tag_;
  mutable BaseClock clock_;  // One thread reads the file from its start, see chunks_are_independent().
};

// What an interval with counts says of the unit, and where it stands.
struct Vote {
  std::uint64_t line = 0;  // 1-based.
  double max = 0;
  std::int64_t greatest = 0;
};
std::string in_words(const Vote& vote) {
  return fmt::format("line {} has an Interval_Max of {} beside recorded values of up to {}", vote.line,
                     vote.max, vote.greatest);
}

struct Seen {
  std::uint64_t intervals = 0;
  std::vector<std::string> tags;
  bool has_start = false;
  std::array<bool, 3> possible = {true, true, true};  // What all that say something agree in.
  std::uint64_t fitting = 0;
  std::uint64_t unfit = 0;
  std::optional<Vote> first_fitting, first_unfit, first_silent, first_against;

  void take(const Vote& vote, const HdrCounts::Bucket& last) {
    // A maximum of 0 beside counts was not written, or was written in whole seconds: it says nothing.
    if (vote.max <= 0) {
      if (!first_silent) first_silent = vote;
      return;
    }
    const HlogUnits units = hlog_units(last.low, last.high, vote.max);
    if (!units.any()) {
      ++unfit;
      if (!first_unfit) first_unfit = vote;
      return;
    }
    ++fitting;
    if (!first_fitting) first_fitting = vote;
    for (std::size_t i = 0; i < possible.size(); ++i) possible[i] = possible[i] && units.fits[i];
    if (std::ranges::count(possible, true) == 0 && !first_against) first_against = vote;
  }
};

Seen look_into(std::string_view head, const std::optional<std::string>& only_tag) {
  Seen seen;
  BaseClock clock;
  for_each_line(head, [&](std::string_view line, std::uint64_t number) {
    if (is_comment(line)) return clock.see_comment(line);
    const auto interval = split_hlog_line(line);
    if (!interval) return;
    ++seen.intervals;
    seen.has_start = seen.has_start || clock.wall_time(interval->start).has_value();
    if (seen.tags.size() < 20 &&
        std::find(seen.tags.begin(), seen.tags.end(), interval->tag) == seen.tags.end()) {
      seen.tags.emplace_back(interval->tag);
    }
    if (only_tag && interval->tag != *only_tag) return;
    const auto counts = decode_hdr_histogram(interval->histogram);
    if (!counts || counts->buckets.empty()) return;
    const HdrCounts::Bucket& last = counts->buckets.back();
    seen.take({.line = number + 1, .max = interval->max, .greatest = last.high}, last);
  });
  return seen;
}

Result<void> check_hlog_options(const ReadOptions& options) {
  if (!options.group_by.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--by {}: a histogram log has no fields of single calls; --where tag=A reads one tag",
                    options.group_by));
  }
  for (const auto& [name, value] : options.where) {
    if ((name != "tag" && name != "Tag") || value != options.where.front().second) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format(
              "--where {}={}: a histogram log has one field, tag, and one value of it can be asked for", name,
              value));
    }
  }
  return {};
}

// Every interval with counts votes. Without one there is nothing to tell yet, and the reader looks on.
Result<Duration> unit_of(const Seen& seen, const std::string& path, const ReadOptions& options) {
  if (options.unit) return *options.unit;
  const auto unclear = [&](std::string_view why, const std::string& lines) {
    return fail(ErrorCode::unsupported,
                fmt::format("unit_unclear: {}: {}: {}; say what the values are counted in, as --unit us",
                            path, why, lines));
  };
  if (seen.first_against) {
    return unclear("the maxima, read as milliseconds, do not agree on the values' unit",
                   in_words(*seen.first_fitting) + ", and " + in_words(*seen.first_against));
  }
  if (seen.unfit > seen.fitting) {
    return unclear("the maxima, read as milliseconds, fit no unit of the values",
                   in_words(*seen.first_unfit));
  }
  if (seen.fitting == 0) {
    if (!seen.first_silent) return Duration(1);
    return unclear("no interval's maximum says what the values are counted in", in_words(*seen.first_silent));
  }
  if (std::ranges::count(seen.possible, true) > 1) {
    return unclear("the maxima, read as milliseconds, fit more than one unit of the values",
                   in_words(*seen.first_fitting));
  }
  return length_of(
      kHlogUnits[static_cast<std::size_t>(std::ranges::find(seen.possible, true) - seen.possible.begin())]);
}

}  // namespace

std::optional<HlogInterval> split_hlog_line(std::string_view line) {
  HlogInterval interval;
  if (line.starts_with("Tag=")) {
    line.remove_prefix(4);
    interval.tag = take_field(line);
  }
  const auto start = duration_text(take_field(line), TimeUnit::seconds);
  const auto length = duration_text(take_field(line), TimeUnit::seconds);
  const std::string_view max = take_field(line);
  const auto read = std::from_chars(max.data(), max.data() + max.size(), interval.max);
  if (!start || *start < Duration(0) || !length || read.ec != std::errc{} ||
      read.ptr != max.data() + max.size() || !std::isfinite(interval.max) || line.empty()) {
    return std::nullopt;
  }
  interval.start = *start;
  interval.length = *length;
  while (line.ends_with(' ')) line.remove_suffix(1);
  interval.histogram = line;
  return interval;
}

HlogUnits hlog_units(std::int64_t recorded_low, std::int64_t recorded_high, double max) {
  HlogUnits units;
  if (max <= 0) return units;
  for (std::size_t i = 0; i < kHlogUnits.size(); ++i) {
    const double per_millisecond = 1e6 / static_cast<double>(length_of(kHlogUnits[i]).count());
    // Three decimals are written, and some writers put the value itself where others put its bucket's end.
    const double low = static_cast<double>(recorded_low) / per_millisecond - 0.0011;
    const double high = static_cast<double>(recorded_high + 1) / per_millisecond + 0.0011;
    units.fits[i] = max >= low && max <= high;
  }
  return units;
}

bool looks_like_hlog(std::string_view head) {
  if (head.find("#[Histogram log format version") != std::string_view::npos) return true;
  if (head.find("\"Interval_Compressed_Histogram\"") != std::string_view::npos) return true;
  while (head.starts_with('#')) head = head.substr(std::min(head.find('\n'), head.size() - 1) + 1);
  const auto interval = split_hlog_line(head.substr(0, head.find('\n')));
  return interval && interval->histogram.starts_with("HIST");
}

Result<OpenedFormat> open_hlog(std::string_view head, const std::string& path, const ReadOptions& options) {
  if (auto fits = check_hlog_options(options); !fits) return std::unexpected(fits.error());
  const std::optional<std::string> only_tag =
      options.where.empty() ? std::nullopt : std::optional(options.where.front().second);
  const Seen seen = look_into(head, only_tag);
  if (seen.intervals == 0 && !looks_like_hlog(head)) {
    return fail(
        ErrorCode::unreadable_input,
        fmt::format("{}: not an HdrHistogram interval log: its lines are START,LENGTH,MAX,HISTOGRAM", path));
  }
  auto unit = unit_of(seen, path, options);
  if (!unit) return std::unexpected(unit.error());
  const UnitBasis basis = options.unit       ? UnitBasis::told
                          : seen.fitting > 0 ? UnitBasis::voted
                                             : UnitBasis::assumed;
  OpenedFormat opened;
  SourceSummary& summary = opened.summary;
  summary.path = path;
  summary.format = Format::hlog;
  summary.vantage = options.vantage.value_or(Vantage::caller);
  summary.has_start_times = seen.has_start;
  summary.level_is_fixed = true;
  const std::string_view name = *unit == Duration(1)           ? "ns"
                                : *unit == Duration(1000)      ? "us"
                                : *unit == Duration(1'000'000) ? "ms"
                                                               : "s";
  summary.detail = fmt::format("histograms, counted in {}{}", name, options.unit ? ", as told" : "");
  if (basis == UnitBasis::voted) {
    summary.notes.push_back(fmt::format(
        "values are counted in {}: so they agree with Interval_Max in milliseconds, which is a convention",
        name));
  }
  summary.notes.emplace_back(
      "each value stands for the greatest of its histogram's bucket, each time for its interval's start");
  if (seen.tags.size() > 1 && !only_tag) {
    summary.notes.push_back(
        fmt::format("intervals of {} tags are read together; --where tag=... reads one", seen.tags.size()));
  }
  opened.reader = std::make_unique<HlogReader>(*unit, basis, only_tag);
  return opened;
}

}  // namespace overdue
