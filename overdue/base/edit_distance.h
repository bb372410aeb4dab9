#pragma once

#include <cstddef>
#include <string_view>

namespace overdue {

// How many letters must be put in, left out, replaced or changed with their neighbour to make one text of the
// other: how far a slip of the pen is from what was meant. Bytes, case and all.
//
// Algorithm: optimal string alignment (Damerau 1964, in its restricted form). Time and memory: the product of
// the lengths, so bound what comes from outside. Threads: any.
std::size_t edit_distance(std::string_view left, std::string_view right);

}  // namespace overdue
