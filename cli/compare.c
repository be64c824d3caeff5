#include "cli/args.h"
int command_compare(int argc, char** argv) { (void)argc; (void)argv; return 0; }
