#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace overdue {

// The common ways to write an nginx access log, recognised without being told the log_format: combined or
// common with times behind them (as rt=0.1 or unnamed), ingress-nginx's default, lines of key=value, LTSV.
struct NginxShapes {
  std::vector<std::string> log_formats;  // As compile() takes them, the most frequent first.
  bool labelled = false;                 // LTSV.
  std::size_t lines = 0;                 // Lines looked at, those of an error.log not counted.
  std::size_t recognised = 0;            // Of these, with a shape of an access log, with times or without.
  std::size_t with_times = 0;
};

// Looks at the first lines of `head`. Unnamed numbers are told apart by what they hold over all lines: a
// request time is always a number and never less than the upstream's, which may be "-" or a list.
NginxShapes nginx_shapes_of(std::string_view head);

// "2023/03/08 16:02:40 [error] 31#31: ..."
bool is_nginx_error_line(std::string_view line);

}  // namespace overdue
