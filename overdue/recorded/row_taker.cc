#include "overdue/recorded/row_taker.h"

namespace overdue {

RowTaker::RowTaker(FieldPlan plan, RowRules rules, FieldPicks picks)
    : plan_(std::move(plan)), rules_(std::move(rules)), picks_(std::move(picks)) {
  if (const auto& start = plan_.of(Role::start)) start_unit_ = start->unit;
  if (start_unit_) start_power_ = static_cast<unsigned>(*start_unit_);
  connect_unit_ = rules_.unit();
  if (const auto& connect = plan_.of(Role::connect); connect && connect->unit) connect_unit_ = *connect->unit;
  latency_ = index_of(Role::latency);
  status_ = index_of(Role::status);
  start_ = index_of(Role::start);
  connect_ = index_of(Role::connect);
  backend_ = index_of(Role::backend);
  route_ = index_of(Role::route);
  power_ = static_cast<unsigned>(rules_.unit());
  plain_status_ = rules_.has_unit() && rules_.status_is_plain();
  only_latency_ = rules_.has_unit() && rules_.only_latency();
  filters_ = !picks_.wheres().empty();
  groups_ = picks_.by().has_value();
  by_route_ = groups_ && *picks_.by() == route_;
  start_is_end_ = plan_.start_is_end;
  columns_ = (plain_status_ || only_latency_) && !start_is_end_ && !filters_ && !groups_ &&
             connect_ == kNone && route_ == kNone;
  more_ = connect_ != kNone || route_ != kNone || groups_ || start_is_end_;
}

bool RowTaker::read_other_start(std::string_view text, WallTime& start, RowPass& pass) const {
  text = trimmed(text);
  if (start_unit_) {
    if (const auto since = duration_text(text, *start_unit_); since && since->count() >= 0) {
      start = WallTime(*since);
      return true;
    }
  }
  const auto at = pass.times.parse(text);
  if (at) start = *at;
  return at.has_value();
}

std::uint16_t RowTaker::route_id(std::string_view name, RowPass& pass) const {
  return pass.long_routes.id_of(name, [&] { return pass.sink.names.routes.id_of(route_name(name, pass)); });
}

std::string_view RowTaker::route_name(std::string_view text, RowPass& pass) {
  const bool is_path = text.starts_with('/') || text.starts_with("http");
  return is_path ? pass.routes.of(text) : text;
}

// 0 is a connection used again, and what is negative or no number says nothing.
void RowTaker::read_connect(std::string_view text, Attempt& row) const {
  const auto took = duration_with_unit(trimmed(text), connect_unit_);
  if (!took || took->count() <= 0) return;
  row.connect = *took;
  row.has_connect = true;
}

}  // namespace overdue
