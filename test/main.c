// SPDX-License-Identifier: Apache-2.0
// Runs the registered tests: all of them, or those whose file or name contains an argument.
//
//   tribo_tests [-x] [-j N] [WORDS…]     -j: N at a time, each in a process of its own, told in the usual
//   order
//                                        -x: stop at the first that fails
//
// A test's seconds are those of the processor, of all its threads: what else runs here does not count.
#include "base/random.h"
#include "test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum { PASSED, FAILED = 10, SKIPPED } Outcome; // exit codes that sanitizers do not use

static struct {
  tbTest* tests;
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
  fflush(stdout); // a crash may follow
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

static bool wanted(const tbTest* test, int count, char** words)
{
  for (int i = 0; i < count; i++)
    if (strstr(test->name, words[i]) || strstr(test->file, words[i])) return true;
  return count == 0;
}

static Outcome run(const tbTest* test)
{
  printf("  %-58s ", test->name);
  fflush(stdout);
  state.failures = 0;
  state.skipped = false;
  clock_t start = clock();
  test->run();
  double elapsed = (double)(clock() - start) / CLOCKS_PER_SEC;
  if (state.failures) printf("\n  %s FAILED (%d)\n", test->name, state.failures);
  else if (state.skipped) printf("\n");
  else if (elapsed > 0.1) printf("ok  %.1f s\n", elapsed);
  else printf("ok\n");
  return state.failures ? FAILED : state.skipped ? SKIPPED : PASSED;
}

// A test in a process of its own, and what that has to say.
typedef struct {
  pid_t process; // 0: has ended
  int status;
  FILE* said;
} Job;

static void start(const tbTest* test, Job* job)
{
  job->said = tmpfile();
  fflush(stdout);
  job->process = job->said ? fork() : -1;
  if (job->process < 0) perror("tribo_tests"), exit(1);
  if (job->process > 0) return;
  dup2(fileno(job->said), STDOUT_FILENO);
  dup2(fileno(job->said), STDERR_FILENO);
  exit((int)run(test));
}

static void wait_for_one(Job* jobs, int count)
{
  int status;
  pid_t ended = wait(&status);
  for (int i = 0; i < count; i++)
    if (jobs[i].process == ended) jobs[i].process = 0, jobs[i].status = status;
}

static Outcome tell(const tbTest* test, Job* job)
{
  char text[4096];
  rewind(job->said);
  for (size_t n; (n = fread(text, 1, sizeof text, job->said)) > 0;) fwrite(text, 1, n, stdout);
  fclose(job->said);
  int code = WIFEXITED(job->status) ? WEXITSTATUS(job->status) : -1;
  if (code == PASSED || code == FAILED || code == SKIPPED) return (Outcome)code;
  if (code < 0) printf("\n  %s FAILED (signal %d)\n", test->name, WTERMSIG(job->status));
  else printf("\n  %s FAILED (exit code %d)\n", test->name, code);
  return FAILED;
}

// Starts tests, as many at a time as may run, until the i-th has ended.
static void run_until(int i, int at_a_time, const tbTest** tests, Job* jobs, int count, int* started,
                      int* running)
{
  while (i == *started || jobs[i].process) {
    for (; *started < count && *running < at_a_time; ++*started, ++*running)
      start(tests[*started], &jobs[*started]);
    if (jobs[i].process) wait_for_one(jobs, *started), --*running;
  }
}

int main(int argc, char** argv)
{
  int at_a_time = 0, count = 0, running = 0, started = 0, tally[SKIPPED + 1] = {0};
  bool stop = argc > 1 && strcmp(argv[1], "-x") == 0;
  if (stop) argc--, argv++;
  if (argc > 2 && strcmp(argv[1], "-j") == 0) at_a_time = atoi(argv[2]), argc -= 2, argv += 2;
  else if (argc > 1 && strncmp(argv[1], "-j", 2) == 0) at_a_time = atoi(argv[1] + 2), argc--, argv++;
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '-')
      return fprintf(stderr, "usage: tribo_tests [-x] [-j N] [WORDS…], not %s\n", argv[i]), 2;
  for (const tbTest* test = state.tests; test; test = test->next) count++;
  const tbTest** tests = calloc((size_t)count, sizeof *tests);
  Job* jobs = calloc((size_t)count, sizeof *jobs);
  count = 0;
  for (const tbTest* test = state.tests; test; test = test->next)
    if (wanted(test, argc - 1, argv + 1)) tests[count++] = test;
  for (int i = 0; i < count && !(stop && tally[FAILED]); i++) {
    if (at_a_time > 0) run_until(i, at_a_time, tests, jobs, count, &started, &running);
    if (i == 0 || strcmp(tests[i - 1]->file, tests[i]->file) != 0) printf("%s\n", tests[i]->file);
    tally[at_a_time > 0 ? tell(tests[i], &jobs[i]) : run(tests[i])]++;
    fflush(stdout);
  }
  for (int i = 0; i < started; i++) // left over after a failure
    if (jobs[i].process) kill(jobs[i].process, SIGKILL);
  printf("%d passed, %d failed, %d skipped\n", tally[PASSED], tally[FAILED], tally[SKIPPED]);
  free(jobs);
  free(tests);
  return tally[FAILED] != 0;
}
