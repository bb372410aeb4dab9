#include "overdue/cli/commands.h"
#include "overdue/cli/memory.h"

int main(int argc, char** argv) {
  overdue::use_large_pages();
  return overdue::run_command_line(argc, argv);
}
