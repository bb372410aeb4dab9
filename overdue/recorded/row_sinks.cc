#include "overdue/recorded/row_sinks.h"

#include <fmt/format.h>

#include <algorithm>

#include "overdue/base/quantity.h"

namespace overdue {

std::string shown_value(std::string_view value) {
  constexpr std::size_t kCharactersMax = 40;
  std::string text;
  for (const char c : value.substr(0, kCharactersMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  if (value.size() > kCharactersMax) text += "...";
  return text;
}

void ReadAccount::merge(const ReadAccount& other) {
  for (const Aside& theirs : other.asides) {
    const auto ours = std::ranges::find(asides, theirs.reason, &Aside::reason);
    if (ours == asides.end()) {
      asides.push_back(theirs);
      continue;
    }
    ours->count += theirs.count;
    if (std::pair(theirs.first_chunk, theirs.first_line) < std::pair(ours->first_chunk, ours->first_line)) {
      ours->first_chunk = theirs.first_chunk;
      ours->first_line = theirs.first_line;
      ours->first_value = theirs.first_value;
    }
  }
  const auto place = [](const UnitDoubt& doubt) { return std::pair(doubt.chunk, doubt.line); };
  if (other.unit_doubt && (!unit_doubt || place(*other.unit_doubt) < place(*unit_doubt)))
    unit_doubt = other.unit_doubt;
  chunks.insert(chunks.end(), other.chunks.begin(), other.chunks.end());
  notes.insert(other.notes.begin(), other.notes.end());
  calls += other.calls;
  attempts += other.attempts;
  filtered += other.filtered;
  records_up_to = std::max(records_up_to, other.records_up_to);  // Nothing is least.
}

void ReadAccount::finish(std::uint64_t header_lines, SourceSummary& summary) {
  std::ranges::sort(chunks, {}, &ChunkLines::chunk);
  // Lines before each chunk; the numbers of chunks have gaps where reading was stopped.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> before;
  std::uint64_t lines = header_lines;
  for (const ChunkLines& chunk : chunks) {
    before.emplace_back(chunk.chunk, lines);
    lines += chunk.lines;
  }
  const auto line_of = [&](std::uint64_t chunk, std::uint64_t line) {
    return std::ranges::lower_bound(before, chunk, {}, &std::pair<std::uint64_t, std::uint64_t>::first)
               ->second +
           line + 1;
  };
  for (const Aside& aside : asides) {
    summary.set_aside.push_back({std::string(aside.reason), aside.count,
                                 line_of(aside.first_chunk, aside.first_line), aside.first_value});
  }
  summary.records_up_to = records_up_to;
  if (unit_doubt && summary.unit_doubt.empty()) {
    summary.unit_doubt =
        fmt::format("line {}: {}", line_of(unit_doubt->chunk, unit_doubt->line), unit_doubt->why);
  }
  std::ranges::sort(summary.set_aside, {},
                    [](const SetAside& aside) { return std::pair(aside.first_line, aside.reason); });
  summary.lines = lines;
  summary.calls = calls;
  summary.attempts = attempts;
  summary.notes.insert(summary.notes.end(), notes.begin(), notes.end());
  if (filtered > 0) {
    summary.notes.push_back(
        fmt::format("{} rows left out by --where, --since or --until", format_count(filtered)));
  }
}

const ReadAccount& AccountingSink::account() {
  account_.filtered += filtered;
  filtered = 0;
  account_.calls += calls_without_attempts;
  calls_without_attempts = 0;
  return account_;
}

void AccountingSink::set_aside(std::string_view reason, std::uint64_t line) {
  set_aside_for(reason, line, {});
}

void AccountingSink::set_aside_for(std::string_view reason, std::uint64_t line, std::string_view value) {
  for (ReadAccount::Aside& aside : account_.asides) {
    if (aside.reason == reason) {
      ++aside.count;
      return;
    }
  }
  account_.asides.push_back({reason, 1, account_.chunks.back().chunk, line, shown_value(value)});
}

void AccountingSink::doubt_unit(std::string_view why, std::uint64_t line) {
  if (!account_.unit_doubt)
    account_.unit_doubt = {.why = std::string(why), .chunk = account_.chunks.back().chunk, .line = line};
}

void AccountingSink::records_up_to(Duration longest) {
  account_.records_up_to = std::max(account_.records_up_to.value_or(longest), longest);
}

void AccountingSink::note(std::string_view text) {
  if (text == last_note_) return;
  const auto found = account_.notes.find(text);
  // The set's own text, since the reader's may not live on.
  last_note_ = found != account_.notes.end() ? *found : *account_.notes.emplace(text).first;
}

bool AccountingSink::in_range(std::optional<WallTime> at) const {
  if (takes_all()) return true;
  return at && (!since_ || *at >= *since_) && (!until_ || *at < *until_);
}

void AccountingSink::take(std::span<const Attempt> rows) {
  if (!takes_all()) {
    in_range_.clear();
    for (const Attempt& row : rows) {
      if (in_range(row.has_start ? std::optional(row.start) : std::nullopt)) in_range_.push_back(row);
    }
    filtered += rows.size() - in_range_.size();
    rows = in_range_;
  }
  std::uint64_t calls = 0;
  for (const Attempt& row : rows) calls += row.begins_call ? 1 : 0;
  count(calls, rows.size());
  if (!rows.empty()) keep(rows);
}

MeasuringSink::MeasuringSink(const ReadOptions& options, const std::optional<TimeGrid::TimeSpan>& expected)
    : AccountingSink(options), grouped_(!options.group_by.empty()), expected_(expected) {}

Measurement& MeasuringSink::group(std::uint16_t id) {
  if (id >= groups_.size()) groups_.resize(id + std::size_t{1});
  if (!groups_[id]) {
    groups_[id] = std::make_unique<Measurement>();
    if (expected_ && !grouped_) groups_[id]->expect_starts(*expected_);
  }
  return *groups_[id];
}

void MeasuringSink::keep(std::span<const Attempt> rows) {
  if (!grouped_) return group(0).add(rows, names.backends, names.routes);
  // More groups than anyone would read: reading is about to end, and each measurement takes memory.
  if (too_many_groups()) return;
  if (by_group_.size() < names.groups.size()) by_group_.resize(names.groups.size());
  for (const Attempt& row : rows) {
    if (by_group_[row.group].empty()) met_.push_back(row.group);
    by_group_[row.group].push_back(row);
  }
  for (const std::uint16_t id : met_) {
    group(id).add(by_group_[id], names.backends, names.routes);
    by_group_[id].clear();
  }
  met_.clear();
}

void MeasuringSink::take_columns(const AttemptColumns& columns) {
  if (grouped_ || !takes_all()) return RowSink::take_columns(columns);
  count(columns.size, columns.size);
  if (columns.size > 0) group(0).add(columns, names.backends);
}

void MeasuringSink::add_counts(Ending ending, Duration elapsed, std::uint64_t number,
                               std::optional<WallTime> at) {
  if (!in_range(at)) {
    filtered += number;
    return;
  }
  count(number, number);
  group(0).add_counts(ending, elapsed, number, at);
}

void HandingSink::keep(std::span<const Attempt> rows) {
  to_(rows, names.backends, names.routes, names.groups);
}

void HandingSink::add_counts(Ending ending, Duration elapsed, std::uint64_t number,
                             std::optional<WallTime> at) {
  Attempt row;
  row.ending = ending;
  row.elapsed = elapsed;
  row.begins_call = true;
  row.has_start = at.has_value();
  row.start = at.value_or(WallTime{});
  if (number > kRowsOfACountMax) note("counts above 65,536 are handed on as that many rows");
  for (std::uint64_t i = 0; i < std::min(number, kRowsOfACountMax); ++i) append() = row;
}

}  // namespace overdue
