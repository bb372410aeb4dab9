#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/fast_digits.h"
#include "overdue/recorded/field_names.h"
#include "overdue/recorded/field_picks.h"
#include "overdue/recorded/name_cache.h"
#include "overdue/recorded/number_text.h"
#include "overdue/recorded/route_text.h"
#include "overdue/recorded/row_rules.h"
#include "overdue/recorded/time_text.h"

namespace overdue {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// What one pass over a chunk remembers from row to row.
struct RowPass {
  explicit RowPass(RowSink& to) : sink(to) {}
  RowSink& sink;
  std::uint64_t line = 0;  // Of the chunk, 0-based: the one being read.
  TimeText times;
  NameCache backends;
  RouteText routes;
};

// RowTaker makes a row of the texts of a line whose fields are free (CSV, NDJSON) and gives it to the sink,
// or sets the line aside. The ordinary row, of a plain status and a positive number, is done here, in line;
// RowRules judges what is left and decides the same.
//
// `text_of(field)` gives a field's text by the plan's index. Padded: 16 bytes may be read from where each
// begins. Threads: const and shared; a RowPass a thread.
class RowTaker {
 public:
  RowTaker(FieldPlan plan, RowRules rules, FieldPicks picks)
      : plan_(std::move(plan)), rules_(std::move(rules)), picks_(std::move(picks)) {
    if (const auto& start = plan_.of(Role::start)) start_unit_ = start->unit;
    connect_unit_ = rules_.unit();
    if (const auto& connect = plan_.of(Role::connect); connect && connect->unit)
      connect_unit_ = *connect->unit;
    latency_ = plan_.of(Role::latency)->index;
    if (const auto& status = plan_.of(Role::status)) status_ = status->index;
    filters_ = !picks_.wheres().empty();
    const auto& route = plan_.of(Role::route);
    by_route_ = picks_.by() && route && *picks_.by() == route->index;
  }

  const FieldPlan& plan() const { return plan_; }
  const RowRules& rules() const { return rules_; }

  template <bool Padded, typename TextOf>
  void take(const TextOf& text_of, RowPass& pass) const {
    RowSink& sink = pass.sink;
    if (filters_ && !picks_.keeps(text_of)) [[unlikely]] {
      ++sink.filtered;
      return;
    }
    Attempt row;
    row.begins_call = true;
    if (!take_plain<Padded>(text_of, row)) [[unlikely]] {
      const std::string_view reason = judge(text_of, row, sink);
      if (!reason.empty()) return sink.set_aside(reason, pass.line);
    }
    if (const auto& start = plan_.of(Role::start)) {
      row.has_start = read_start<Padded>(text_of(start->index), row, pass);
      if (!row.has_start) [[unlikely]]
        sink.note("some start times could not be read: those rows have none");
    }
    if (const auto& connect = plan_.of(Role::connect)) read_connect(text_of(connect->index), row);
    if (const auto& backend = plan_.of(Role::backend)) {
      const std::string_view name = text_of(backend->index);
      row.backend = pass.backends.id_of(name, [&] { return sink.names.backends.id_of(name); });
    }
    if (const auto& route = plan_.of(Role::route)) {
      const std::string_view name = text_of(route->index);
      const bool is_path = name.starts_with('/') || name.starts_with("http");
      row.route = sink.names.routes.id_of(is_path ? pass.routes.of(name) : name);
    }
    if (picks_.by()) {
      row.group = by_route_ ? sink.names.groups.id_of(sink.names.routes.name_of(row.route))
                            : picks_.group_of(sink.names, text_of);
    }
    sink.append() = row;
  }

 private:
  // The ordinary ending and time, or false: then judge() decides.
  template <bool Padded, typename TextOf>
  bool take_plain(const TextOf& text_of, Attempt& row) const {
    if (rules_.status_is_plain()) {
      const std::string_view status = text_of(status_);
      if (status.size() != 3) return false;
      const unsigned hundreds = static_cast<unsigned char>(status[0]) - unsigned{'0'};
      const unsigned tens = static_cast<unsigned char>(status[1]) - unsigned{'0'};
      const unsigned ones = static_cast<unsigned char>(status[2]) - unsigned{'0'};
      if (hundreds - 1 > 4 || tens > 9 || ones > 9) return false;
      row.ending = rules_.statuses().ending_of(static_cast<int>(hundreds * 100 + tens * 10 + ones));
    } else if (!rules_.only_latency()) {
      return false;
    }
    const auto power = static_cast<unsigned>(rules_.unit());
    const std::string_view text = text_of(latency_);
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

  template <typename TextOf>
  std::string_view judge(const TextOf& text_of, Attempt& row, RowSink& sink) const {
    RowTexts texts;
    for (std::size_t role = 0; role < kRoleCount; ++role) {
      if (const auto& field = plan_.fields[role]) texts[role] = trimmed(text_of(field->index));
    }
    return rules_.judge(texts, row, sink);
  }

  template <bool Padded>
  bool read_start(std::string_view text, Attempt& row, RowPass& pass) const {
    std::uint64_t value = 0;
    if (Padded && whole_number(text.data(), text.size(), value)) {
      const std::size_t size = text.size();
      if (!start_unit_ && size < 9) return false;
      const unsigned power = start_unit_  ? static_cast<unsigned>(*start_unit_)
                             : size <= 11 ? 9
                             : size <= 14 ? 6
                                          : 3;
      std::int64_t ns = 0;
      if (__builtin_mul_overflow(value, kPowersOfTen[power], &ns)) return false;
      row.start = WallTime(Duration(ns));
      return true;
    }
    return read_other_start(text, row, pass);
  }
  bool read_other_start(std::string_view text, Attempt& row, RowPass& pass) const;
  void read_connect(std::string_view text, Attempt& row) const;

  FieldPlan plan_;
  RowRules rules_;
  FieldPicks picks_;
  std::uint32_t latency_ = 0;
  std::uint32_t status_ = 0;
  bool filters_ = false;
  bool by_route_ = false;
  std::optional<TimeUnit> start_unit_;
  TimeUnit connect_unit_ = TimeUnit::milliseconds;
};

}  // namespace overdue
