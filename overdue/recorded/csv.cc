// Lines of CSV to rows. What decides the speed: separators are found 64 bytes at a time into a list of
// places, so that a field is two loads; numbers are read eight digits at a time; nothing is allocated for a
// line.
#include "overdue/recorded/csv.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "overdue/recorded/fast_digits.h"
#include "overdue/recorded/name_cache.h"
#include "overdue/recorded/route_text.h"
#include "overdue/recorded/separators.h"

namespace overdue {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{16} << 10;

std::string_view without_newline(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

void CsvFields::split(std::string_view line, char delimiter) {
  texts.clear();
  unquoted_.clear();
  quote_left_open = false;
  std::vector<std::pair<std::size_t, std::size_t>> moved;  // Field and its string: those may still move.
  for (std::size_t at = 0;;) {
    if (at < line.size() && line[at] == '"') {
      std::string text;
      bool closed = false;
      for (++at; at < line.size(); ++at) {
        if (line[at] != '"') {
          text += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          text += line[at++];
        } else {
          closed = true;
          ++at;
          break;
        }
      }
      if (!closed) quote_left_open = true;
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      text.append(line.substr(at, end - at));  // What stands behind the quote is kept as it is.
      moved.emplace_back(texts.size(), unquoted_.size());
      unquoted_.push_back(std::move(text));
      texts.emplace_back();
      at = end;
    } else {
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      texts.push_back(line.substr(at, end - at));
      at = end;
    }
    if (at >= line.size()) break;
    ++at;
  }
  for (const auto& [field, string] : moved) texts[field] = unquoted_[string];
}

struct CsvReader::Pass {
  explicit Pass(RowSink& to) : sink(to) {}
  RowSink& sink;
  std::uint64_t line = 0;  // Of the chunk, 0-based: the one being read.
  TimeText times;
  NameCache backends;
  NameCache methods_and_groups;
  RouteText routes;
  CsvFields fields;
  std::array<std::uint32_t, kBlockBytes + 8> places;
};

CsvReader::CsvReader(CsvShape shape, RowRules rules, FieldPicks picks)
    : shape_(std::move(shape)),
      rules_(std::move(rules)),
      picks_(std::move(picks)),
      field_count_(static_cast<std::uint32_t>(shape_.names.size())) {
  if (const auto& start = shape_.plan.of(Role::start)) start_unit_ = start->unit;
  connect_unit_ = rules_.unit();
  if (const auto& connect = shape_.plan.of(Role::connect); connect && connect->unit)
    connect_unit_ = *connect->unit;
}

std::uint64_t CsvReader::read(std::string_view lines, RowSink& sink) const {
  auto pass = std::make_unique<Pass>(sink);
  while (!lines.empty()) {
    std::string_view block = lines.substr(0, kBlockBytes);
    if (block.size() < lines.size()) {
      const std::size_t newline = block.rfind('\n');
      // A line longer than a block, which the slow way reads.
      block = lines.substr(0, newline == std::string_view::npos ? lines.find('\n') : newline + 1);
    }
    if (block.size() > kBlockBytes || !block.ends_with('\n')) {
      const std::size_t newline = lines.find('\n');
      block = lines.substr(0, newline == std::string_view::npos ? lines.size() : newline + 1);
      read_slowly(without_newline(block), *pass);
      ++pass->line;
    } else {
      read_block(block, *pass);
    }
    lines.remove_prefix(block.size());
  }
  return pass->line;
}

// Requires: `block` ends in a newline and is no longer than kBlockBytes.
void CsvReader::read_block(std::string_view block, Pass& pass) const {
  const char* const text = block.data();
  const std::uint32_t* place = pass.places.data();
  const std::uint32_t* const places_end =
      place + find_separators(text, block.size(), shape_.delimiter, pass.places.data());
  const std::uint32_t fields = field_count_;
  const char delimiter = shape_.delimiter;
  std::uint32_t begin = 0;
  while (place != places_end) {
    bool plain = places_end - place >= static_cast<std::ptrdiff_t>(fields) && text[place[fields - 1]] == '\n';
    for (std::uint32_t field = 0; plain && field + 1 < fields; ++field)
      plain = text[place[field]] == delimiter;
    if (plain) [[likely]] {
      const std::uint32_t newline = place[fields - 1];
      const std::uint32_t last_end = newline > begin && text[newline - 1] == '\r' ? newline - 1 : newline;
      const auto text_of = [&](std::uint32_t field) {
        const std::uint32_t from = field == 0 ? begin : place[field - 1] + 1;
        const std::uint32_t to = field + 1 == fields ? last_end : place[field];
        return std::string_view(text + from, to - from);
      };
      // With one field a blank line is plain too, and with any number a header in the middle.
      if (fields == 1 && last_end == begin) [[unlikely]] {
        read_slowly({}, pass);
      } else {
        take_row<true>(text_of, pass);
      }
      place += fields;
      begin = newline + 1;
    } else {
      while (text[*place] != '\n') ++place;
      read_slowly(without_newline(block.substr(begin, *place - begin)), pass);
      begin = *place + 1;
      ++place;
    }
    ++pass.line;
  }
}

void CsvReader::read_slowly(std::string_view line, Pass& pass) const {
  if (line.empty() || line.front() == '#') return;  // Blank lines and comments are no rows.
  pass.fields.split(line, shape_.delimiter);
  std::vector<std::string_view>& texts = pass.fields.texts;
  if (pass.fields.quote_left_open) return pass.sink.set_aside("quote not closed on its line", pass.line);
  // One delimiter more at the end is a habit of some writers.
  while (texts.size() > field_count_ && texts.back().empty()) texts.pop_back();
  if (texts.size() == 1 && texts[0].empty() && field_count_ > 1) return;
  if (texts.size() < field_count_) return pass.sink.set_aside("fewer fields than the header", pass.line);
  if (texts.size() > field_count_) return pass.sink.set_aside("more fields than the header", pass.line);
  take_row<false>([&](std::uint32_t field) { return texts[field]; }, pass);
}

// The ordinary ending and time, or false: then judge() decides.
template <bool Padded, typename TextOf>
bool CsvReader::take_plain(const TextOf& text_of, Attempt& row) const {
  const auto power = static_cast<unsigned>(rules_.unit());
  if (rules_.status_is_plain()) {
    const std::string_view status = text_of(shape_.plan.of(Role::status)->index);
    if (status.size() != 3) return false;
    const unsigned hundreds = static_cast<unsigned char>(status[0]) - unsigned{'0'};
    const unsigned tens = static_cast<unsigned char>(status[1]) - unsigned{'0'};
    const unsigned ones = static_cast<unsigned char>(status[2]) - unsigned{'0'};
    if (hundreds - 1 > 4 || tens > 9 || ones > 9) return false;
    row.ending = rules_.statuses().ending_of(static_cast<int>(hundreds * 100 + tens * 10 + ones));
  } else if (!rules_.only_latency()) {
    return false;
  }
  const std::string_view text = text_of(shape_.plan.of(Role::latency)->index);
  std::uint64_t value = 0;
  unsigned fraction = 0;
  if (Padded && short_decimal(text.data(), text.size(), value, fraction) && fraction <= power) {
    row.elapsed = Duration(static_cast<std::int64_t>(value) * kPowersOfTen[power - fraction]);
  } else {
    const auto elapsed = decimal_scaled(text, power);
    if (!elapsed) return false;
    row.elapsed = Duration(*elapsed);
  }
  return row.elapsed.count() > 0;
}

template <bool Padded>
bool CsvReader::read_start(std::string_view text, Attempt& row, Pass& pass) const {
  std::uint64_t value = 0;
  if (Padded && whole_number(text.data(), text.size(), value)) {
    const unsigned power = start_unit_         ? static_cast<unsigned>(*start_unit_)
                           : text.size() < 9   ? 99
                           : text.size() <= 11 ? 9
                           : text.size() <= 14 ? 6
                                               : 3;
    std::int64_t ns = 0;
    if (power > 9 || __builtin_mul_overflow(value, kPowersOfTen[power], &ns)) return false;
    row.start = WallTime(Duration(ns));
    return true;
  }
  if (start_unit_) {
    if (const auto since = duration_text(text, *start_unit_); since && since->count() >= 0) {
      row.start = WallTime(*since);
      return true;
    }
  }
  const auto at = pass.times.parse(trimmed(text));
  if (at) row.start = *at;
  return at.has_value();
}

template <bool Padded, typename TextOf>
void CsvReader::take_row(const TextOf& text_of, Pass& pass) const {
  RowSink& sink = pass.sink;
  Attempt row;
  row.begins_call = true;
  if (!take_plain<Padded>(text_of, row)) [[unlikely]] {
    // A header once more: files were joined.
    if (text_of(shape_.plan.of(Role::latency)->index) == shape_.names[shape_.plan.of(Role::latency)->index])
      return;
    RowTexts texts;
    for (std::size_t role = 0; role < kRoleCount; ++role) {
      if (const auto& field = shape_.plan.fields[role]) texts[role] = trimmed(text_of(field->index));
    }
    if (picks_.wheres().empty() || picks_.keeps(text_of)) {
      const std::string_view reason = rules_.judge(texts, row, sink);
      if (!reason.empty()) return sink.set_aside(reason, pass.line);
    }
  }
  if (!picks_.wheres().empty() && !picks_.keeps(text_of)) {
    ++sink.filtered;
    return;
  }
  if (const auto& start = shape_.plan.of(Role::start)) {
    row.has_start = read_start<Padded>(text_of(start->index), row, pass);
    if (!row.has_start) [[unlikely]]
      sink.note("some start times could not be read: those rows have none");
  }
  if (const auto& connect = shape_.plan.of(Role::connect)) {
    const auto took = duration_with_unit(trimmed(text_of(connect->index)), connect_unit_);
    if (took && took->count() > 0) {
      row.connect = *took;
      row.has_connect = true;
    }
  }
  if (const auto& backend = shape_.plan.of(Role::backend)) {
    const std::string_view name = text_of(backend->index);
    row.backend = pass.backends.id_of(name, [&] { return sink.names.backends.id_of(name); });
  }
  if (const auto& route = shape_.plan.of(Role::route)) {
    const std::string_view name = text_of(route->index);
    row.route = sink.names.routes.id_of(
        name.starts_with('/') || name.starts_with("http") ? pass.routes.of(name) : name);
  }
  if (picks_.by()) {
    row.group =
        *picks_.by() == (shape_.plan.of(Role::route) ? shape_.plan.of(Role::route)->index : field_count_)
            ? sink.names.groups.id_of(sink.names.routes.name_of(row.route))
            : picks_.group_of(sink.names, text_of);
  }
  sink.append() = row;
}

}  // namespace overdue
