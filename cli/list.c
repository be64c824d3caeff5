// tribo list: what there is, straight from the tables.
#include "base/text.h"
#include "cli/args.h"

#include <stdio.h>
#include <string.h>

static void list_solvers(void)
{
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    printf("%-10s %s\n%-10s models:", s->name, s->summary, "");
    for (int m = 0; m < TB_MODEL_COUNT; m++)
      if (s->models & 1u << m) printf(" %s", tb_model_name((tbModel)m));
    printf("   (%s)\n", s->reference);
  }
}

static void list_laws(void)
{
  for (int i = 0; i < TB_LAW_COUNT; i++)
    printf("%-12s %s\n", tb_law_name((tbLaw)i), tb_law_summary((tbLaw)i));
}

static void list_models(void)
{
  static const char* const what[TB_MODEL_COUNT] = {
      "the law as it stands: Coulomb friction with its cone (NCP)",
      "the cone replaced by its bounding box in the given tangents (BLCP)",
      "Coulomb's cone replaced by a pyramid with k directions (LCP)",
      "associated friction, the convex relaxation (CCP)",
      "no friction",
  };
  for (int i = 0; i < TB_MODEL_COUNT; i++) printf("%-14s %s\n", tb_model_name((tbModel)i), what[i]);
}

static void list_orders(void)
{
  for (int i = 0; i < TB_ORDER_COUNT; i++) printf("%s\n", tb_order_name((tbOrder)i));
}

static void list_structures(void)
{
  for (int i = 0; i < TB_GENERATE_COUNT; i++)
    printf("%-10s %s\n", tb_generate_name((tbGenerateKind)i), tb_generate_summary((tbGenerateKind)i));
}

int command_list(int argc, char** argv)
{
  static const struct {
    const char* name;
    void (*print)(void);
  } lists[] = {{"solvers", list_solvers},
               {"laws", list_laws},
               {"models", list_models},
               {"orders", list_orders},
               {"structures", list_structures}};
  static const char usage[] = "usage: tribo list solvers|laws|models|orders|structures\n";
  if (argc == 1 && strcmp(argv[0], "--help") == 0) {
    printf("%s", usage);
    return EXIT_DONE;
  }
  if (argc != 1) {
    fprintf(stderr, "%s", usage);
    return EXIT_USAGE;
  }
  tbNearest near = tb_nearest(argv[0]);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    tb_nearest_offer(&near, lists[i].name);
    if (strcmp(argv[0], lists[i].name) != 0) continue;
    lists[i].print();
    return EXIT_DONE;
  }
  if (near.name) fprintf(stderr, "tribo list: no list \"%s\"; did you mean \"%s\"?\n", argv[0], near.name);
  else fprintf(stderr, "tribo list: no list \"%s\"; %s", argv[0], usage);
  return EXIT_USAGE;
}
