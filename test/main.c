// Runs the registered tests: all of them, or those whose file or name contains an argument.
#include "base/clock.h"
#include "base/random.h"
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  tbTest* tests;
  const tbTest* current;
  int failures; // of the current test
  bool skipped;
} state;

void test_register(tbTest* test)
{
  tbTest** at = &state.tests;
  while (*at && (strcmp((*at)->file, test->file) <= 0)) at = &(*at)->next;
  test->next = *at;
  *at = test;
}

void test_failed(const char* file, int line, const char* format, ...)
{
  if (state.failures++ >= 10) return; // enough to see what broke
  printf("\n  %s:%d: ", file, line);
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
}

void test_skip(const char* format, ...)
{
  state.skipped = true;
  printf("skipped: ");
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
}

uint64_t test_bits(tbRandom* r) { return tb_random_bits(&r->state); }
double test_uniform(tbRandom* r, double lo, double hi) { return tb_random_uniform(&r->state, lo, hi); }
int test_below(tbRandom* r, int n) { return tb_random_below(&r->state, n); }

static void* failing_alloc(void* user, size_t size, size_t alignment)
{
  tbFailingAllocator* s = user;
  if (s->countdown == 0) {
    if (!s->for_good) s->countdown = -1;
    return NULL;
  }
  if (s->countdown > 0) s->countdown--;
  void* p = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p) s->alive++, s->total++;
  return p;
}

static void failing_free(void* user, void* pointer)
{
  if (pointer) ((tbFailingAllocator*)user)->alive--;
  free(pointer);
}

tbContext test_failing_context(tbFailingAllocator* s)
{
  tbContext ctx = tb_default_context();
  ctx.allocator = (tbAllocator){failing_alloc, failing_free, s};
  return ctx;
}

bool test_quick(void) { return getenv("TRIBO_QUICK") != NULL; }

const char* test_shared_folder(void)
{
  const char* named = getenv("TRIBO_SHARED");
  if (named) return access(named, R_OK) == 0 ? named : NULL;
  return access(TB_SHARED_FOLDER, R_OK) == 0 ? TB_SHARED_FOLDER : NULL;
}

uint64_t test_hash(const void* bytes, size_t size)
{
  uint64_t hash = 14695981039346656037ull;
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char*)bytes)[i]) * 1099511628211ull;
  return hash;
}

static bool wanted(const tbTest* test, int argc, char** argv)
{
  for (int i = 1; i < argc; i++)
    if (strstr(test->name, argv[i]) || strstr(test->file, argv[i])) return true;
  return argc == 1;
}

int main(int argc, char** argv)
{
  int passed = 0, failed = 0, skipped = 0;
  const char* file = "";
  for (const tbTest* test = state.tests; test; test = test->next) {
    if (!wanted(test, argc, argv)) continue;
    if (strcmp(file, test->file) != 0) printf("%s\n", file = test->file);
    printf("  %-58s ", test->name);
    fflush(stdout);
    state.current = test;
    state.failures = 0;
    state.skipped = false;
    double start = tb_seconds();
    test->run();
    double elapsed = tb_seconds() - start;
    if (state.failures)
      failed++, printf("\n  %s FAILED (%d)\n", test->name, state.failures);
    else if (state.skipped)
      skipped++, printf("\n");
    else if (elapsed > 0.1)
      passed++, printf("ok  %.1f s\n", elapsed);
    else
      passed++, printf("ok\n");
    fflush(stdout);
  }
  printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed != 0;
}
