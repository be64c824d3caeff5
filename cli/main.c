// SPDX-License-Identifier: Apache-2.0
// tribo: the command. Each subcommand lives in a file of its own.
#include "tribo/tools/text.h"
#include "cli/args.h"
#include "cli/named.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static const struct {
  const char *name, *usage, *summary;
  int (*run)(int argc, char** argv);
} commands[] = {
    {"run", "run SCENE", "simulate a scene: metrics, CSV, checkpoints", command_run},
    {"resume", "resume CHECKPOINT", "continue an interrupted run from a checkpoint, bit for bit",
     command_resume},
    {"sweep", "sweep SCENE --vary K=V…", "run a scene over a grid of values: one CSV, small multiples",
     command_sweep},
    {"gradient", "gradient SCENE --loss … --wrt …",
     "the gradient of a body's final position with respect to numbers of the scene", command_gradient},
    {"optimize", "optimize SCENE --for … --target …", "search for the numbers that bring a body to a point",
     command_optimize},
    {"render", "render REPLAY|SCENE", "pictures and videos of a run", command_render},
    {"export", "export REPLAY --to KINDS", "a run for other programs: glTF, USD, ParaView, point caches",
     command_export},
    {"solve", "solve PROBLEM", "solve one contact problem, and judge the answer", command_solve},
    {"compare", "compare PROBLEM|SCENE…", "race solvers on problems: table, CSV, report.html",
     command_compare},
    {"generate", "generate KIND -o FILE", "write a structure of boxes as a contact problem",
     command_generate},
    {"scene", "scene NAME -o FILE", "write a scene of the gallery, with parameters of your own",
     command_scene},
    {"import", "import ROBOT -o SCENE", "make a scene of a robot's file, URDF or MJCF", command_import},
    {"view", "view [SCENE|REPLAY]", "the page in a browser: live, replayed, raced", command_view},
    {"paper", "paper course", "reproduce a document's experiments, and check its claims", command_paper},
    {"ccd", "ccd FILE…", "run collision queries with known answers, and count the mistakes", command_ccd},
    {"check", "check SCENE…", "say what is in scenes, or what is wrong with them and where", command_check},
    {"schema", "schema", "the JSON Schema of scene files", command_schema},
    {"list", "list scenes|schemes|solvers|laws|…", "list what is available", command_list},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE* to)
{
  fprintf(to, "Tribo simulates contact and friction. Every method works on the same problem and is judged by "
              "the same\n"
              "residual.\n\nusage: tribo COMMAND …\n\n");
  for (int i = 0; i < COMMANDS; i++) print_columns(to, 34, commands[i].usage, commands[i].summary);
  print_columns(to, 34, "--version", "version, and what this build uses");
  fprintf(to,
          "\nBegin with\n\n"
          "  tribo run arch --out out                      a scene of the gallery (`tribo list scenes`), or "
          "a file\n"
          "  tribo render out/replay.trp --out arch.mp4    what it looks like\n"
          "  tribo compare arch --step 20 --out race       every method on one of its steps, then open "
          "race/report.html\n\n"
          "`tribo COMMAND --help` teaches each command. Exit codes: 0 done, 1 a tolerance was missed (with\n"
          "--strict), 2 bad usage or input, 3 a fault such as a full disk, 130 interrupted.\n");
}

static int run(int argc, char** argv)
{
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char* name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_help(stdout);
    return EXIT_DONE;
  }
  if (strcmp(name, "--version") == 0) return command_version();
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(name, commands[i].name) == 0) return commands[i].run(argc - 2, argv + 2);
    tb_nearest_offer(&near, commands[i].name);
  }
  if (is_named_scene(name) || access(name, R_OK) == 0)
    fprintf(stderr, "tribo: \"%s\" is no command; `tribo run %s` simulates a scene\n", name, name);
  else if (near.name) fprintf(stderr, "tribo: no command \"%s\"; did you mean \"%s\"?\n", name, near.name);
  else fprintf(stderr, "tribo: no command \"%s\"; `tribo --help` lists them\n", name);
  return EXIT_USAGE;
}

// Should the caller have closed one of the three standard streams, a file opened later would take its number
// and be written into.
static void hold_standard_streams(void)
{
  while (true) {
    int number = open("/dev/null", O_RDONLY); // the lowest free one
    if (number < 0 || number > 2) {
      if (number > 2) close(number);
      return;
    }
  }
}

// Every step asks for the same large blocks: kept, they need not be mapped and cleared by the system again.
static void keep_memory(void)
{
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

int main(int argc, char** argv)
{
  hold_standard_streams();
  signal(SIGPIPE, SIG_IGN); // a reader that stops early is told by EPIPE,
  signal(SIGXFSZ, SIG_IGN); // a file beyond the limit of its size by EFBIG
  keep_memory();
  int code = run(argc, argv);
  errno = 0;
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (!lost || errno == EPIPE || code == EXIT_FAULT) return code;
  fprintf(stderr, "tribo: cannot write standard output: %s\n", strerror(errno ? errno : EIO));
  return EXIT_FAULT;
}
