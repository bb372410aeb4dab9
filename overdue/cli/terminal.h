#pragma once

#include <string>

namespace overdue {

// Colours where standard output is a terminal, NO_COLOR is not set and TERM is not dumb.
bool colours_wanted();
// Columns of the terminal, or 80.
int terminal_width();

// Writes all of `text` to standard output. False where it cannot be written (a full disk, a closed pipe).
bool print_out(const std::string& text);
// One line on standard error, "overdue: ...".
void print_error(const std::string& message);

}  // namespace overdue
