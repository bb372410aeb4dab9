#pragma once

namespace overdue {

// Takes the program's memory from large pages where the system has them (Linux's transparent huge pages), and
// keeps what is freed for the next who asks. A log's tables are tens of megabytes made once and walked
// through: in pages of 4 KiB entering them costs more than filling them. A second thread has a heap of its
// own, for at one heap two wait for each other. Call it first thing in main(). Where it does not work nothing
// changes but the time.
void use_large_pages();

// Gives back to the system what is free in the heaps, large holes between what is used too. Takes a few
// milliseconds, and as much again where that memory is asked for anew.
void give_back_free_memory();

}  // namespace overdue
