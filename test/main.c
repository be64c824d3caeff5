// SPDX-License-Identifier: Apache-2.0
// Runs the registered tests: all of them, or those whose file or name contains an argument.
//
//   tribo_tests [-x] [-s] [-j N] [WORDS…]     -x: stop at the first that fails
//                                             -s: without the long ones (LONG_TEST)
//                                             -j: N files at a time, each in a process of its own, told
//                                                 in the usual order
//
// A test's seconds are those of the processor, of all its threads: what else runs here does not count.
#include "base/random.h"
#include "test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum { PASSED, FAILED, SKIPPED, RUNNING, WAITING } Outcome;

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

static bool wanted(const tbTest* test, bool is_short, int count, char** words)
{
  if (is_short && test->is_long) return false;
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

// The tests of one file, which share a process, and what that has to say.
typedef struct {
  int first, end;
  pid_t process; // 0: has ended
  FILE* said;
} Job;

// All jobs. Outcomes are in memory that processes share; what is WAITING has not begun.
typedef struct {
  const tbTest** tests;
  unsigned char* outcome;
  Job* jobs;
  int count, started, running, at_a_time;
  bool stop; // at the first that fails
} Jobs;

static void run_in_order(Jobs* all, int first, int end)
{
  for (int i = first; i < end; i++) {
    all->outcome[i] = RUNNING;
    all->outcome[i] = (unsigned char)run(all->tests[i]);
    fflush(stdout);
    if (all->stop && all->outcome[i] == FAILED) return;
  }
}

static void start(Jobs* all, Job* job, int first)
{
  if (!job->said) job->said = tmpfile();
  fflush(stdout);
  job->process = job->said ? fork() : -1;
  if (job->process < 0) perror("tribo_tests"), exit(1);
  if (job->process > 0) return;
  dup2(fileno(job->said), STDOUT_FILENO);
  dup2(fileno(job->said), STDERR_FILENO);
  run_in_order(all, first, job->end);
  exit(0);
}

// A process that died takes the test along in which it did; another one goes on behind it. Where all of them
// had ended it was the end of the process that failed (leaks, say), and the last one is blamed.
static void blame(Jobs* all, Job* job, int status)
{
  int i = job->first;
  while (i + 1 < job->end && all->outcome[i] != RUNNING && all->outcome[i + 1] != WAITING) i++;
  fseek(job->said, 0, SEEK_END);
  fprintf(job->said, "\n  %s FAILED (%s %d%s)\n", all->tests[i]->name,
          WIFEXITED(status) ? "exit code" : "signal",
          WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
          all->outcome[i] == RUNNING ? "" : ", after the last test of its file");
  fflush(job->said);
  all->outcome[i] = FAILED;
  if (i + 1 < job->end && !all->stop) start(all, job, i + 1), all->running++;
}

static void wait_for_one(Jobs* all)
{
  int status;
  pid_t ended = wait(&status);
  for (int i = 0; i < all->started; i++) {
    if (all->jobs[i].process != ended) continue;
    Job* job = &all->jobs[i];
    job->process = 0, all->running--;
    bool is_cut_short = memchr(all->outcome + job->first, RUNNING, (size_t)(job->end - job->first)) != NULL;
    if (status != 0 || is_cut_short) blame(all, job, status);
    return;
  }
}

// Starts jobs, as many at a time as may run, until the k-th has ended; then says what it had to say.
static void finish(Jobs* all, int k)
{
  Job* job = &all->jobs[k];
  while (k >= all->started || job->process) {
    for (; all->started < all->count && all->running < all->at_a_time; all->started++, all->running++)
      start(all, &all->jobs[all->started], all->jobs[all->started].first);
    if (job->process) wait_for_one(all);
  }
  char text[4096];
  rewind(job->said);
  for (size_t n; (n = fread(text, 1, sizeof text, job->said)) > 0;) fwrite(text, 1, n, stdout);
  fclose(job->said);
}

// One job per file of the tests that are wanted.
static int gather(Jobs* all, bool is_short, int count, char** words)
{
  int tests = 0;
  for (const tbTest* test = state.tests; test; test = test->next) tests++;
  all->tests = calloc((size_t)tests + 1, sizeof *all->tests);
  all->jobs = calloc((size_t)tests + 1, sizeof *all->jobs);
  all->outcome = mmap(NULL, (size_t)tests + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!all->tests || !all->jobs || all->outcome == MAP_FAILED) perror("tribo_tests"), exit(1);
  memset(all->outcome, WAITING, (size_t)tests);
  tests = 0;
  for (const tbTest* test = state.tests; test; test = test->next) {
    if (!wanted(test, is_short, count, words)) continue;
    bool other = tests == 0 || strcmp(all->tests[tests - 1]->file, test->file) != 0;
    if (other) all->jobs[all->count++].first = tests;
    all->tests[tests++] = test;
    all->jobs[all->count - 1].end = tests;
  }
  return tests;
}

// The number behind an option of one letter that is next, or -1.
static int next_option(int* argc, char*** argv, const char* option)
{
  if (*argc < 2 || strncmp((*argv)[1], option, 2) != 0) return -1;
  const char* number = (*argv)[1] + 2;
  bool is_apart = *number == 0 && strcmp(option, "-j") == 0 && *argc > 2;
  if (is_apart) number = (*argv)[2];
  *argc -= 1 + is_apart, *argv += 1 + is_apart;
  return atoi(number);
}

int main(int argc, char** argv)
{
  int tally[WAITING + 1] = {0};
  Jobs all = {.stop = next_option(&argc, &argv, "-x") >= 0};
  bool is_short = next_option(&argc, &argv, "-s") >= 0;
  all.at_a_time = next_option(&argc, &argv, "-j");
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '-')
      return fprintf(stderr, "usage: tribo_tests [-x] [-s] [-j N] [WORDS…], not %s\n", argv[i]), 2;
  int count = gather(&all, is_short, argc - 1, argv + 1);
  for (int k = 0, i = 0; k < all.count && !(all.stop && tally[FAILED]); k++) {
    printf("%s\n", all.tests[all.jobs[k].first]->file);
    if (all.at_a_time > 0) finish(&all, k);
    else run_in_order(&all, all.jobs[k].first, all.jobs[k].end);
    for (; i < all.jobs[k].end; i++) tally[all.outcome[i]]++;
    fflush(stdout);
  }
  for (int k = 0; k < all.started; k++) // left over after a failure
    if (all.jobs[k].process) kill(all.jobs[k].process, SIGKILL);
  printf("%d passed, %d failed, %d skipped\n", tally[PASSED], tally[FAILED], tally[SKIPPED]);
  munmap(all.outcome, (size_t)count + 1);
  free(all.jobs);
  free(all.tests);
  return tally[FAILED] != 0;
}
