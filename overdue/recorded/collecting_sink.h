#pragma once

#include <map>
#include <string>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/recorded/chunk_reader.h"

namespace overdue {

// CollectingSink keeps what a reader hands on as lines of text that compare well. For tests of the readers.
class CollectingSink : public RowSink {
 public:
  // One row a line: "replied 20ms 10.0.0.2:80", with what is there of: connect, route, group, start, +call.
  std::string text() {
    flush();
    std::string all;
    for (const std::string& row : rows) all += row + "\n";
    return all;
  }
  // "reason: count, first line"
  std::string set_aside_text() const {
    std::string all;
    for (const auto& [reason, count] : reasons) {
      all += reason + ": " + std::to_string(count) + ", line " + std::to_string(first_lines.at(reason) + 1) +
             "\n";
    }
    return all;
  }

  void add_counts(Ending ending, Duration elapsed, std::uint64_t count, std::optional<WallTime> at) override {
    std::string row(kEndingNames[static_cast<std::size_t>(ending)]);
    row += " " + format_duration_exact(elapsed) + " x" + std::to_string(count);
    if (at) row += " at " + std::to_string(at->time_since_epoch().count());
    rows.push_back(std::move(row));
    counted += count;
  }
  void set_aside(std::string_view reason, std::uint64_t line) override {
    ++reasons[std::string(reason)];
    first_lines.try_emplace(std::string(reason), line);
  }
  void doubt_unit(std::string_view why, std::uint64_t line) override {
    unit_doubts.push_back("line " + std::to_string(line + 1) + ": " + std::string(why));
  }
  void note(std::string_view text) override { ++notes[std::string(text)]; }

  std::vector<std::string> rows;
  std::vector<Attempt> attempts;
  std::map<std::string, std::uint64_t> reasons;
  std::map<std::string, std::uint64_t> first_lines;
  std::map<std::string, std::uint64_t> notes;
  std::vector<std::string> unit_doubts;
  std::uint64_t counted = 0;
  bool with_routes = false;
  bool with_starts = false;

 protected:
  void take(std::span<const Attempt> batch) override {
    for (const Attempt& attempt : batch) {
      attempts.push_back(attempt);
      std::string row(kEndingNames[static_cast<std::size_t>(attempt.ending)]);
      row += attempt.untimed ? " untimed" : " " + format_duration_exact(attempt.elapsed);
      if (attempt.backend != 0) row += " " + names.backends.name_of(attempt.backend);
      if (attempt.has_connect) row += " connect=" + format_duration_exact(attempt.connect);
      if (with_routes && attempt.route != 0) row += " route=" + names.routes.name_of(attempt.route);
      if (attempt.group != 0) row += " group=" + names.groups.name_of(attempt.group);
      if (with_starts && attempt.has_start)
        row += " start=" + std::to_string(attempt.start.time_since_epoch().count());
      if (attempt.begins_call) row += " +call";
      rows.push_back(std::move(row));
    }
  }
};

}  // namespace overdue
