#include "cli/args.h"
int command_paper(int argc, char** argv){(void)argc;(void)argv;return 2;}
