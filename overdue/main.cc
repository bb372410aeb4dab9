#include "overdue/cli/commands.h"

int main(int argc, char** argv) { return overdue::run_command_line(argc, argv); }
