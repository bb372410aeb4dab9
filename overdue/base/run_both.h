#pragma once

#include <functional>

namespace overdue {

// RunBoth runs two jobs that do not touch what the other changes, and returns when both are done. A pure room
// has no threads; whoever calls it may lend it a second one this way. The result is the same either way.
using RunBoth = std::function<void(const std::function<void()>&, const std::function<void()>&)>;

inline void run_in_turn(const std::function<void()>& first, const std::function<void()>& second) {
  first();
  second();
}

}  // namespace overdue
