#pragma once

#include "overdue/base/result.h"
#include "overdue/simulated/lesson.h"

namespace overdue {

// The lesson's model on our own generator, over `threads` threads: the same distributions as run_lesson,
// other draws. Replies are counted in buckets of 1/1024 octave instead of kept, so memory does not grow with
// the calls. A mark is the upper edge of its bucket, at most 0.1 % above the reply that the lesson's rule
// picks, and calls are counted against that edge exactly; medians are the middle of their bucket.
//
// Threads: makes and joins its own. Each block of calls has a stream of its own and counts are integers, so
// equal
//          options give equal figures on any number of threads.
// Fails as run_lesson does.
// Requires: options within their limits, counts in [1, kFastCallsMax], threads >= 1.
Result<LessonFigures> run_lesson_fast(const LessonOptions& options, unsigned threads);

}  // namespace overdue
