#include "overdue/recorded/row_taker.h"

namespace overdue {

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
  return pass.long_routes.id_of(name, [&] {
    const bool is_path = name.starts_with('/') || name.starts_with("http");
    return pass.sink.names.routes.id_of(is_path ? pass.routes.of(name) : name);
  });
}

// 0 is a connection used again, and what is negative or no number says nothing.
void RowTaker::read_connect(std::string_view text, Attempt& row) const {
  const auto took = duration_with_unit(trimmed(text), connect_unit_);
  if (!took || took->count() <= 0) return;
  row.connect = *took;
  row.has_connect = true;
}

}  // namespace overdue
