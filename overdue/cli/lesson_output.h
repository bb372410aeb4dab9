#pragma once

#include <string>

#include "overdue/simulated/lesson.h"

namespace overdue {

// The lesson's figures as people read them, line for line as the lesson's own program prints them; after
// that, where the deep check was asked for, its table.
std::string lesson_text(const LessonFigures& figures);

// The same as one JSON document, schema "overdue.lesson/1" (docs/lesson-command.md), ending in a newline.
std::string lesson_json(const LessonFigures& figures, const LessonOptions& options, bool fast);

}  // namespace overdue
