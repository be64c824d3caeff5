// SPDX-License-Identifier: Apache-2.0
// tribo list: what there is, straight from the tables.
#include "tribo/tools/json.h"
#include "tribo/gallery.h"
#include "cli/args.h"
#include "cli/out.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Which laws a method solves by another's equations: there the two agree because they are one.
static void print_borrowed(const tbSolver* s)
{
  if (!s->borrows_from) return;
  printf("%-14s by the equations of %s:", "", s->borrows_from);
  for (int l = 0; l < TB_LAW_COUNT; l++)
    if (tb_solver_borrows(s, (tbLaw)l, TB_MODEL_CONE)) printf(" %s", tb_law_name((tbLaw)l));
  printf(" ellipses and polygons without width\n");
}

static void list_solvers(void)
{
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    printf("%-14s %s\n%-14s models:", s->name, s->summary, "");
    for (int m = 0; m < TB_MODEL_COUNT; m++)
      if (s->models & 1u << m) printf(" %s", tb_model_name((tbModel)m));
    printf("   (%s)\n", s->reference);
    print_borrowed(s);
  }
}

static void list_schemes(void)
{
  for (int i = 0; i < tb_scheme_count(); i++) {
    const tbScheme* s = tb_scheme_at(i);
    printf("%-14s %s\n%-14s (%s)\n", s->name, s->summary, "", s->reference);
  }
}

static void print_range(const tbOption* o)
{
  if (isfinite(o->low) && isfinite(o->high)) printf("%g … %g", o->low, o->high);
  else printf("%s %g", o->above ? ">" : "≥", o->low);
}

// Options by key: default, range or names, unit, meaning.
static void list_options(void)
{
  tbStepOptions defaults = tb_default_step_options();
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    printf("%-32s ", o.key);
    if (o.chosen) printf("chosen");
    else if (o.choice) printf("%s", tb_option_get_name(&defaults, &o));
    else if (o.type == TB_OPTION_BOOL)
      printf("%s", tb_option_get_number(&defaults, &o) != 0 ? "true" : "false");
    else printf("%g", tb_option_get_number(&defaults, &o));
    printf("   (");
    if (o.type == TB_OPTION_NAME) printf("a name");
    else if (o.type == TB_OPTION_BOOL) printf("true, false");
    else if (!o.choice) print_range(&o);
    for (int k = 0; o.type == TB_OPTION_CHOICE && o.choice(k); k++)
      printf("%s%s", k ? ", " : "", o.choice(k));
    printf("%s%s)\n%32s %s\n", o.unit ? " " : "", o.unit ? o.unit : "", "", o.text);
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

// Every solver against every law and every scheme; the page shows the same.

static const char* law_mark(unsigned models)
{
  return models & 1u << TB_MODEL_CONE ? "●" : models ? "○" : "·";
}

static const char* fit_mark(tbFit fit)
{
  if (!fit.modelled && !fit.refused) return "●";
  return fit.exact ? "◐" : fit.modelled ? "○" : "·";
}

// Under the middle of its column; *gap: spaces since the last one.
static void print_mark(const char* mark, const char* column, int* gap)
{
  int width = (int)strlen(column), left = (width - 1) / 2;
  printf("%*s%s", *gap + left, "", mark);
  *gap = width - left + 1;
}

static void list_matrix(void)
{
  printf("%-14s", "laws");
  for (int l = 0; l < TB_LAW_COUNT; l++) printf("  %s", tb_law_name((tbLaw)l));
  for (int i = 0; i < tb_solver_count(); i++) {
    int gap = 2;
    printf("\n%-14s", tb_solver_at(i)->name);
    for (int l = 0; l < TB_LAW_COUNT; l++)
      print_mark(law_mark(tb_solver_models(tb_solver_at(i), (tbLaw)l)), tb_law_name((tbLaw)l), &gap);
  }
  printf("\n\n● as it stands   ○ under another model of friction (`tribo list solvers`)   · not\n\n%-14s",
         "schemes");
  for (int k = 0; k < tb_scheme_count(); k++) printf("  %s", tb_scheme_at(k)->name);
  printf("  works on");
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    int gap = 2;
    printf("\n%-14s", s->name);
    for (int k = 0; k < tb_scheme_count(); k++)
      print_mark(fit_mark(tb_scheme_fit(tb_scheme_at(k), s)), tb_scheme_at(k)->name, &gap);
    printf(s->metric ? "%*sA and J" : "%*sW, %s%s", gap, "", tb_form_name(s->needs),
           s->form ? " or products" : "");
    if (s->max_rows) printf(", at most %d rows", s->max_rows);
  }
  static const char* const moved[] = {"rigid", "rigid and deformable", "rigid and reduced",
                                      "rigid, deformable and reduced"};
  printf("\n\n● whatever a scene brings up   ◐ some of it, or under another model of friction\n");
  for (int k = 0; k < tb_scheme_count(); k++) {
    const tbScheme* s = tb_scheme_at(k);
    printf("%-14s %s bodies; the solver sees", s->name,
           moved[(s->moves & TB_MOVES_NODES ? 1 : 0) + (s->moves & TB_MOVES_MODES ? 2 : 0)]);
    for (int l = 0; l < TB_LAW_COUNT; l++)
      if (s->laws & 1u << l) printf(" %s", tb_law_name((tbLaw)l));
    unsigned more = s->impact_laws & ~s->laws;
    if (more) printf("; of impacts also");
    for (int l = 0; l < TB_LAW_COUNT; l++)
      if (more & 1u << l) printf(" %s", tb_law_name((tbLaw)l));
    printf("\n");
  }
}

// The scene's file, and the name it gives itself; nothing for files that are not scenes.
static void list_scene(tbContext* ctx, const char* path)
{
  const tbJson *root = NULL, *name;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  if (tb_json_read_file(ctx, &arena, path, (size_t)1 << 28, &root) == TB_OK && tb_json_find(root, "tribo")) {
    tbOut out = out_standard(ctx);
    name = tb_json_find(root, "name");
    out_format(&out, "%-34s ", path);
    if (name && name->type == TB_JSON_STRING) out_terminal(&out, name->string);
    tb_out_text(&out, "\n");
    tb_out_finish(&out);
    tb_out_free(&out);
  }
  tb_arena_free(&arena);
}

// Scene files that are not of the gallery under their name.
static int is_another(const struct dirent* entry)
{
  char name[256];
  size_t length = strlen(entry->d_name);
  if (length <= 5 || strcmp(entry->d_name + length - 5, ".json") != 0) return 0;
  snprintf(name, sizeof name, "%.*s", (int)length - 5, entry->d_name);
  return !tb_gallery_find(name);
}

// The gallery, whose names stand for scene files everywhere; and other files of ./scenes.
static void list_scenes(void)
{
  char path[300];
  struct dirent** entries = NULL;
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_gallery_count(); i++)
    print_columns(stdout, 20, tb_gallery_at(i)->name, tb_gallery_at(i)->summary);
  int count = scandir("scenes", &entries, is_another, alphasort);
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "scenes/%s", entries[i]->d_name);
    list_scene(&ctx, path);
    free(entries[i]);
  }
  free(entries);
}

int command_list(int argc, char** argv)
{
  static const struct {
    const char *name, *summary;
    void (*print)(void);
  } lists[] = {{"scenes", "the gallery: a name stands for a scene file everywhere", list_scenes},
               {"schemes", "time stepping (`tribo run --scheme`)", list_schemes},
               {"solvers", "methods for contacts (`--solver`), and where they come from", list_solvers},
               {"laws", "laws of contact problems", list_laws},
               {"matrix", "which solver solves which law, and what each scheme asks for", list_matrix},
               {"models", "friction models of `--model`", list_models},
               {"orders", "orders of sweeps (`--order`)", list_orders},
               {"structures", "what `tribo generate` makes", list_structures},
               {"options", "every option of `--set`: default, range, unit", list_options},
               {"friction", "the course's table of friction models, measured", list_friction}};
  static const char usage[] =
      "usage: tribo list scenes|schemes|solvers|laws|matrix|models|orders|structures|options|friction\n";
  if (argc == 1 && strcmp(argv[0], "--help") == 0) {
    printf("%s\n", usage);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
      print_columns(stdout, 14, lists[i].name, lists[i].summary);
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
