#pragma once

#include "overdue/base/run_both.h"

namespace overdue {

// One of the two jobs on a thread of its own, where there is more than one to use.
RunBoth run_on(unsigned threads);

}  // namespace overdue
