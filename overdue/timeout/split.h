#pragma once

#include <cstdint>

#include "overdue/base/probability.h"

namespace overdue {

// Several calls one after the other, each with a timeout that cuts off some healthy ones: how much of the
// whole is cut off, and how little each call may be for the whole to keep its share (field case C36: 25 calls
// of 1 % each cut off 22.2 % of the operations).
//
// Of independent calls the shares multiply. Where calls are dependent, and those to one dependency in one
// pause are, the union bound holds all the same. An overall deadline is far cheaper than the sum of such
// limits: the p99 of a sum is well below the sum of the p99s.
struct SplitRates {
  Probability independent;
  Probability at_most;  // Of the whole. For a share of each: what is safe however dependent they are.
};

// What is cut off of an operation of `calls` calls when `each` is of every call. Requires: calls >= 1.
SplitRates rate_of_whole(Probability each, std::uint32_t calls);

// What may be cut off of each call so that `whole` is of the operation; at_most is the smaller one.
// Requires: calls >= 1.
SplitRates rate_of_each(Probability whole, std::uint32_t calls);

}  // namespace overdue
