#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/recorded/block_fields.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/fast_digits.h"
#include "overdue/recorded/field_names.h"
#include "overdue/recorded/field_picks.h"
#include "overdue/recorded/number_text.h"
#include "overdue/recorded/row_pass.h"
#include "overdue/recorded/row_rules.h"

namespace overdue {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// RowTaker makes a row of the texts of a line whose fields are free (CSV, NDJSON) and gives it to the sink,
// or sets the line aside. The ordinary row, of a plain status and a positive number, is done here, in line;
// RowRules judges what is left and decides the same.
//
// `text_of(field)` gives a field's text by the plan's index. Padded: 16 bytes may be read from where each
// begins. Threads: const and shared; a RowPass a thread.
class RowTaker {
 public:
  RowTaker(FieldPlan plan, RowRules rules, FieldPicks picks);

  const FieldPlan& plan() const { return plan_; }
  const RowRules& rules() const { return rules_; }

  // Whether rows of this plan may be of the usual kind, which take_columns() knows.
  bool may_take_columns() const { return columns_; }
  // All of these rows, or none of them where one is not of the usual kind or has no time: false. Requires:
  // may_take_columns(), at most AttemptColumns::kRowsMax rows, 16 readable bytes at each field.
  bool take_columns(const BlockFields& block, RowPass& pass) const;

  template <bool Padded, typename TextOf>
  void take(const TextOf& text_of, RowPass& pass) const {
    RowSink& sink = pass.sink;
    if (filters_ && !keeps(text_of, pass)) [[unlikely]] {
      ++sink.filtered;
      return;
    }
    Attempt& row = sink.append();
    row.begins_call = true;
    if (!take_plain<Padded>(text_of, row, pass)) [[unlikely]] {
      const std::string_view reason = judge(text_of, row, sink);
      if (!reason.empty()) {
        sink.take_back();
        pass.was_set_aside = true;
        const auto role = RowRules::role_at_fault(reason);
        const std::string_view value =
            role && plan_.of(*role) ? trimmed(text_of(plan_.of(*role)->index)) : "";
        return sink.set_aside_for(reason, pass.line, value);
      }
    }
    if (start_ != kNone) {
      row.has_start = read_start<Padded>(text_of(start_), row.start, pass);
      if (!row.has_start) [[unlikely]]
        sink.note(kNoStartNote);
    }
    if (backend_ != kNone) {
      const std::string_view name = text_of(backend_);
      const auto make = [&] { return sink.names.backends.id_of(name); };
      row.backend = Padded ? pass.backends.id_of(name, make) : make();
    }
    if (more_) take_more<Padded>(text_of, row, pass);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::string_view kNoStartNote = "some start times could not be read: those rows have none";
  std::uint32_t index_of(Role role) const { return plan_.of(role) ? plan_.of(role)->index : kNone; }

  // A route is asked for as it stands in the row, or by the name that --by gives it.
  template <typename TextOf>
  bool keeps(const TextOf& text_of, RowPass& pass) const {
    for (const FieldPicks::Where& where : picks_.wheres()) {
      const std::string_view text = text_of(where.field);
      if (text == where.value) continue;
      if (where.field != route_ || route_name(text, pass) != where.value) return false;
    }
    return true;
  }

  // What few logs have.
  template <bool Padded, typename TextOf>
  void take_more(const TextOf& text_of, Attempt& row, RowPass& pass) const {
    ReaderNames& names = pass.sink.names;
    if (start_is_end_ && row.has_start && !row.untimed) row.start -= row.elapsed;
    if (connect_ != kNone) read_connect(text_of(connect_), row);
    if (route_ != kNone) {
      const std::string_view name = text_of(route_);
      const auto make = [&] { return route_id(name, pass); };
      row.route = Padded ? pass.short_routes.id_of(name, make) : make();
    }
    if (groups_) {
      row.group =
          by_route_ ? names.groups.id_of(names.routes.name_of(row.route)) : picks_.group_of(names, text_of);
    }
  }

  // The ordinary ending and time, or false: then judge() decides.
  template <bool Padded, typename TextOf>
  bool take_plain(const TextOf& text_of, Attempt& row, RowPass& pass) const {
    if (plain_status_) {
      if (!read_status(text_of(status_), row.ending)) return false;
    } else if (!only_latency_) {
      return false;
    }
    return read_latency<Padded>(text_of(latency_), row.elapsed, pass);
  }

  bool read_status(std::string_view status, Ending& ending) const {
    if (status.size() != 3) return false;
    const unsigned hundreds = static_cast<unsigned char>(status[0]) - unsigned{'0'};
    const unsigned tens = static_cast<unsigned char>(status[1]) - unsigned{'0'};
    const unsigned ones = static_cast<unsigned char>(status[2]) - unsigned{'0'};
    if (hundreds - 1 > 4 || tens > 9 || ones > 9) return false;
    ending = rules_.statuses().ending_of(static_cast<int>(hundreds * 100 + tens * 10 + ones));
    return true;
  }

  // A time above 0.
  template <bool Padded>
  bool read_latency(std::string_view text, Duration& took, RowPass& pass) const {
    std::uint64_t value = 0;
    unsigned& fraction = pass.fraction_digits;
    if (Padded && short_decimal(text.data(), text.size(), value, fraction) && fraction <= power_) {
      took = Duration(static_cast<std::int64_t>(value) * kPowersOfTen[power_ - fraction]);
    } else {
      const auto elapsed = decimal_scaled(text, power_);
      if (!elapsed) return false;
      took = Duration(*elapsed);
    }
    return took.count() > 0;
  }

  template <typename TextOf>
  std::string_view judge(const TextOf& text_of, Attempt& row, RowSink& sink) const {
    RowTexts texts;
    for (std::size_t role = 0; role < kRoleCount; ++role) {
      if (role == static_cast<std::size_t>(Role::method))
        continue;  // Says nothing of the ending, and may not be read.
      if (const auto& field = plan_.fields[role]) texts[role] = trimmed(text_of(field->index));
    }
    return rules_.judge(texts, row, sink);
  }

  template <bool Padded>
  bool read_start(std::string_view text, WallTime& start, RowPass& pass) const {
    const std::size_t size = text.size();
    std::int64_t ns = 0;
    if (Padded && size - 9 <= 7) {
      const unsigned power = start_unit_ ? start_power_ : size <= 11 ? 9 : size <= 14 ? 6 : 3;
      if (pass.epochs.read(text, power, ns)) {
        start = WallTime(Duration(ns));
        return true;
      }
    }
    return read_other_start(text, start, pass);
  }
  bool read_other_start(std::string_view text, WallTime& start, RowPass& pass) const;
  bool read_latencies(const BlockFields& block, RowPass& pass) const;
  bool read_statuses(const BlockFields& block, RowPass& pass) const;
  bool read_starts(const BlockFields& block, RowPass& pass) const;
  void read_backends(const BlockFields& block, RowPass& pass) const;
  std::uint16_t route_id(std::string_view name, RowPass& pass) const;
  static std::string_view route_name(std::string_view text, RowPass& pass);
  void read_connect(std::string_view text, Attempt& row) const;

  FieldPlan plan_;
  RowRules rules_;
  FieldPicks picks_;
  // The plan once more, as the inner loop needs it.
  std::uint32_t latency_, status_, start_, connect_, backend_, route_;
  unsigned power_, start_power_ = 0;
  bool plain_status_, only_latency_, filters_, groups_, by_route_, more_, columns_, start_is_end_;
  std::optional<TimeUnit> start_unit_;
  TimeUnit connect_unit_ = TimeUnit::milliseconds;
};

}  // namespace overdue
