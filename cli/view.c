// SPDX-License-Identifier: Apache-2.0
// tribo view: the page, served to the browser of this machine.
//
// The page is one file. When there is something to show, a line in its head says where to ask: view.json
// names the scene or replay and the meshes it wants, and each has a path of its own on the server.
#include "tribo/tools/array.h"
#include "tribo/tools/file.h"
#include "tribo/tools/json_write.h"
#include "cli/args.h"
#include "cli/beside.h"
#include "cli/interrupt.h"
#include "cli/named.h"
#include "cli/serve.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PAGE = 1 << 28, MOST_SCENE = 1 << 30, MOST_MESHES = 1000 };
static const char usage[] = "usage: tribo view [SCENE|REPLAY|PROBLEM] [options]";
static const char mark[] = "<meta name=\"tribo-view\" content=\"view.json\"/>\n";

typedef struct {
  const char* page; // of --page, or null
  const char* file; // what to show, or null
  int port;
} ViewArgs;

typedef struct {
  tbArena arena; // of all strings below
  tbArray items; // ServeItem
  tbArray names; // const char*: files that the scene names, as it names them
  tbOut page, about;
} View;

// The page.

static bool find_page(char path[PATH_MAX])
{
  static const char* const places[] = {"../viewer/dist/index.html", "../share/tribo/index.html",
                                       "index.html"};
  return find_beside(places, sizeof places / sizeof *places, path);
}

static tbStatus read_page(tbContext* ctx, const ViewArgs* a, View* view)
{
  char path[PATH_MAX], *bytes;
  size_t length;
  if (!a->page && !find_page(path))
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "the page is not built; `make page` builds it, or --page FILE names it");
  const char* page = a->page ? a->page : path;
  TB_TRY(check_readable(ctx, page));
  TB_TRY(tb_read_file(ctx, page, MOST_PAGE, &bytes, &length));
  const char* head = strstr(bytes, "</head>");
  size_t before = head && a->file ? (size_t)(head - bytes) : 0;
  tb_out_bytes(&view->page, bytes, before);
  if (before) tb_out_text(&view->page, mark);
  tb_out_bytes(&view->page, bytes + before, length - before);
  tb_free(ctx, bytes);
  if (a->file && !before) return tb_fail(ctx, TB_ERROR_INPUT, "%s: is no page of Tribo's", page);
  return tb_out_finish(&view->page);
}

// What to show.

static const char* keep(View* view, const char* folder, size_t folder_length, const char* name)
{
  size_t length = strlen(name);
  char* copy = TB_TAKE(&view->arena, char, folder_length + length + 1);
  if (!copy) return NULL;
  memcpy(copy, folder, folder_length);
  memcpy(copy + folder_length, name, length);
  return copy;
}

// Meshes are strings under "file", or under "mesh" where that is all there is to say.
static tbStatus find_meshes(tbContext* ctx, const tbJson* node, View* view)
{
  bool names = node->type == TB_JSON_STRING && node->key &&
               (strcmp(node->key->text, "file") == 0 || strcmp(node->key->text, "mesh") == 0);
  if (names) {
    const char** known = view->names.data;
    for (size_t i = 0; i < view->names.count; i++)
      if (strcmp(known[i], node->string) == 0) return TB_OK;
    if (view->names.count >= MOST_MESHES) return tb_json_fail(ctx, node, "more than %d meshes", MOST_MESHES);
    const char* name = keep(view, "", 0, node->string);
    return name ? tb_array_push(ctx, &view->names, &name, 1) : TB_ERROR_MEMORY;
  }
  if (node->type == TB_JSON_ARRAY || node->type == TB_JSON_OBJECT)
    for (uint32_t i = 0; i < node->count; i++) TB_TRY(find_meshes(ctx, &node->items[i], view));
  return TB_OK;
}

static tbStatus check_scene(tbContext* ctx, const char* path)
{
  tbScene scene;
  TB_TRY(load_scene(ctx, path, &scene));
  tb_scene_free(ctx, &scene);
  return TB_OK;
}

static tbStatus check_problem(tbContext* ctx, const char* path)
{
  tbProblem* problem;
  double* guess;
  TB_TRY(load_problem(ctx, path, &problem, &guess));
  tb_guess_free(ctx, guess);
  tb_problem_free(problem);
  return TB_OK;
}

static tbStatus check_replay(tbContext* ctx, const char* path)
{
  tbReplay* replay;
  TB_TRY(tb_replay_open(ctx, path, &replay));
  tb_replay_close(ctx, replay);
  return TB_OK;
}

// What is wrong with a file is said here already, before a browser is there.
static tbStatus examine(tbContext* ctx, const char* path, View* view)
{
  TB_TRY(check_scene_input(ctx, path));
  if (is_replay(path)) return check_replay(ctx, path);
  const tbJson* root;
  TB_TRY(tb_json_read_file(ctx, &view->arena, path, MOST_SCENE, &root));
  if (tb_json_find(root, "tribo_problem")) return check_problem(ctx, path);
  TB_TRY(check_scene(ctx, path));
  return find_meshes(ctx, root, view);
}

// The list of what is served.

static tbStatus add(tbContext* ctx, View* view, ServeItem item)
{
  return item.path && (item.file || item.bytes) ? tb_array_push(ctx, &view->items, &item, 1)
                                                : TB_ERROR_MEMORY;
}

static tbStatus add_meshes(tbContext* ctx, const char* scene, View* view, tbJsonWriter* w)
{
  static const char type[] = "application/octet-stream";
  const char* slash = strrchr(scene, '/');
  size_t folder = slash ? (size_t)(slash - scene) + 1 : 0;
  const char** name = view->names.data;
  for (size_t i = 0; i < view->names.count; i++) {
    char path[32];
    snprintf(path, sizeof path, "/file/%zu", i);
    tb_put_object(w, NULL);
    tb_put_string(w, "name", name[i]);
    tb_put_string(w, "url", path + 1);
    tb_put_end(w);
    TB_TRY(add(ctx, view,
               (ServeItem){.path = keep(view, "", 0, path),
                           .type = type,
                           .file = keep(view, scene, name[i][0] == '/' ? 0 : folder, name[i])}));
  }
  return TB_OK;
}

static tbStatus add_file(tbContext* ctx, const char* file, View* view)
{
  const char* slash = strrchr(file, '/');
  tbJsonWriter w = tb_json_writer(&view->about, 0);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "name", slash ? slash + 1 : file);
  tb_put_string(&w, "url", "open");
  tb_put_array(&w, "files");
  TB_TRY(add_meshes(ctx, file, view, &w));
  tb_put_end(&w);
  tb_put_end(&w);
  TB_TRY(tb_json_writer_finish(&w));
  TB_TRY(add(ctx, view, (ServeItem){.path = "/open", .type = "application/octet-stream", .file = file}));
  return add(ctx, view,
             (ServeItem){.path = "/view.json",
                         .type = "application/json",
                         .bytes = view->about.bytes,
                         .length = view->about.length});
}

static tbStatus prepare(tbContext* ctx, const ViewArgs* a, View* view)
{
  static const char type[] = "text/html; charset=utf-8";
  if (a->file) TB_TRY(examine(ctx, a->file, view));
  TB_TRY(read_page(ctx, a, view));
  for (int i = 0; i < 2; i++)
    TB_TRY(add(ctx, view,
               (ServeItem){.path = i ? "/index.html" : "/",
                           .type = type,
                           .bytes = view->page.bytes,
                           .length = view->page.length}));
  return a->file ? add_file(ctx, a->file, view) : TB_OK;
}

static tbStatus serve(tbContext* ctx, const ViewArgs* a, const View* view)
{
  int port = a->port, listener;
  TB_TRY(serve_listen(ctx, &port, &listener));
  printf("http://127.0.0.1:%d/\n", port);
  fflush(stdout);
  if (isatty(STDOUT_FILENO)) fprintf(stderr, "Open it in a browser; Ctrl-C ends it.\n");
  return serve_run(ctx, listener, port, view->items.data, (int)view->items.count);
}

static int run_view(const ViewArgs* a)
{
  tbContext ctx = tb_default_context();
  View view = {.items = TB_ARRAY(ServeItem),
               .names = TB_ARRAY(const char*),
               .page = tb_out_memory(&ctx),
               .about = tb_out_memory(&ctx)};
  tb_arena_init(&view.arena, &ctx);
  interrupt_watch();
  ViewArgs shown = *a;
  NamedScene named = {0};
  tbStatus status = TB_OK;
  if (a->file && is_named_scene(a->file)) {
    status = named_scene_write(&ctx, a->file, &named);
    shown.file = named.path;
  }
  if (status == TB_OK) status = prepare(&ctx, &shown, &view);
  if (status == TB_OK) status = serve(&ctx, &shown, &view);
  named_scene_remove(&named);
  tb_out_free(&view.about);
  tb_out_free(&view.page);
  tb_array_free(&ctx, &view.names);
  tb_array_free(&ctx, &view.items);
  tb_arena_free(&view.arena);
  return status == TB_OK ? EXIT_DONE : fail_with(&ctx);
}

static void print_help(const Arg* args)
{
  printf(
      "%s\n\n"
      "Serves the page to browsers on this machine only, and prints its address. A scene is simulated live,\n"
      "a replay (`tribo run SCENE --trajectory FILE`) is played, a contact problem is loaded for a race of\n"
      "solvers; without an argument the page shows the gallery. Files are read again whenever the page is\n"
      "loaded. Ctrl-C ends the server.\n\n",
      usage);
  args_help(args);
  printf("\n  tribo view arch\n"
         "  tribo run cards --trajectory cards.trp && tribo view cards.trp\n");
}

int command_view(int argc, char** argv)
{
  ViewArgs a = {0};
  bool help = false;
  const Arg args[] = {
      {"--port", ARG_INT, &a.port, "N", "listen on this port (default: one that is free)"},
      {"--page", ARG_TEXT, &a.page, "FILE", "the page itself (default: what `make page` left)"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("view", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count > 1) {
    fprintf(stderr, "%s; `tribo view --help` says more\n", usage);
    return EXIT_USAGE;
  }
  if (a.port < 0 || a.port > 65535) {
    fprintf(stderr, "tribo view: --port takes 0 to 65535, not %d\n", a.port);
    return EXIT_USAGE;
  }
  a.file = count ? argv[0] : NULL;
  return run_view(&a);
}
