#include "base/file.h"
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(distances_count_edits_and_swaps)
{
  static const struct {
    const char *a, *b;
    int distance;
  } cases[] = {{"", "", 0},      {"", "abc", 3},     {"abc", "abc", 0},          {"abc", "acb", 1},
               {"abc", "ab", 1}, {"abc", "xabc", 1}, {"frction", "friction", 1}, {"kitten", "sitting", 3},
               {"ca", "abc", 3}, {"teh", "the", 1},  {"abcdef", "badcfe", 3},    {"mass", "name", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int there = tb_name_distance(cases[i].a, cases[i].b), back = tb_name_distance(cases[i].b, cases[i].a);
    if (there != cases[i].distance || back != there)
      test_failed(__FILE__, __LINE__, "%s %s: %d, %d", cases[i].a, cases[i].b, there, back);
  }
  char name[80];
  memset(name, 'x', 79);
  name[79] = 0;
  CHECK(tb_name_distance(name, name) > 64);
}

static const char* nearest(const char* wanted)
{
  static const char* const names[] = {"mass", "dt", "friction", "restitution", "position", "velocity"};
  tbNearest near = tb_nearest(wanted);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) tb_nearest_offer(&near, names[i]);
  return near.name ? near.name : "";
}

TEST(nearest_names_are_near)
{
  CHECK(strcmp(nearest("frction"), "friction") == 0);
  CHECK(strcmp(nearest("mas"), "mass") == 0);
  CHECK(strcmp(nearest("td"), "dt") == 0);
  CHECK(strcmp(nearest("postion"), "position") == 0);
  CHECK(strcmp(nearest("Velocity"), "velocity") == 0);
  CHECK(strcmp(nearest("colour"), "") == 0);
  CHECK(strcmp(nearest("x"), "") == 0);
  CHECK(strcmp(nearest(""), "") == 0);
}

TEST(out_gathers_pieces_of_any_size)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  CHECK_OK(&ctx, tb_out_finish(&out));
  for (int i = 0; i < 1000; i++) {
    tb_out_int(&out, -i);
    tb_out_text(&out, ",");
    tb_out_double(&out, 0.5);
    tb_out_bytes(&out, "\n", 1);
  }
  CHECK_OK(&ctx, tb_out_finish(&out));
  CHECK(strncmp(out.bytes, "0,0.5\n-1,0.5\n", 13) == 0 && out.length == strlen(out.bytes));
  CHECK(strcmp(out.bytes + out.length - 9, "-999,0.5\n") == 0);
  tb_out_free(&out);
}

TEST(lists_of_names_end_in_an_ellipsis_when_full)
{
  char list[16] = "";
  tb_list_append(list, sizeof list, "one");
  tb_list_append(list, sizeof list, "two");
  CHECK(strcmp(list, "one, two") == 0);
  tb_list_append(list, sizeof list, "three");
  tb_list_append(list, sizeof list, "x");
  CHECK(strcmp(list, "one, two, …") == 0);
}

// A folder of its own for each test.
typedef struct Folder {
  char path[64], file[96];
} Folder;

static Folder make_folder(void)
{
  Folder f = {.path = "/tmp/tribo-test-XXXXXX"};
  if (!mkdtemp(f.path)) test_failed(__FILE__, __LINE__, "no temporary folder");
  snprintf(f.file, sizeof f.file, "%s/file.json", f.path);
  return f;
}

static int count_files(const Folder* f)
{
  int count = 0;
  DIR* listing = opendir(f->path);
  if (!listing) return -1;
  for (const struct dirent* e; (e = readdir(listing));) count += e->d_name[0] != '.';
  closedir(listing);
  return count;
}

static void remove_folder(const Folder* f)
{
  unlink(f->file);
  if (rmdir(f->path) != 0) test_failed(__FILE__, __LINE__, "%s is not empty", f->path);
}

static bool holds(const char* path, const char* expected)
{
  tbContext ctx = tb_default_context();
  char* bytes = NULL;
  size_t length = 0;
  if (tb_read_file(&ctx, path, 1 << 20, &bytes, &length) != TB_OK) return false;
  bool same = length == strlen(expected) && strcmp(bytes, expected) == 0;
  tb_free(&ctx, bytes);
  return same;
}

TEST(reading_says_what_is_wrong_with_a_file)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  char *bytes = NULL, expected[200];
  size_t length;
  CHECK(tb_read_file(&ctx, f.file, 100, &bytes, &length) == TB_ERROR_IO);
  snprintf(expected, sizeof expected, "cannot read %s: No such file or directory", f.file);
  CHECK(strcmp(ctx.error.message, expected) == 0);
  CHECK(tb_read_file(&ctx, f.path, 100, &bytes, &length) == TB_ERROR_IO);
  CHECK(strstr(ctx.error.message, "Is a directory"));
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "0123456789", 10));
  CHECK(tb_read_file(&ctx, f.file, 9, &bytes, &length) == TB_ERROR_INPUT);
  snprintf(expected, sizeof expected, "%s: larger than the limit of 9 bytes", f.file);
  CHECK(strcmp(ctx.error.message, expected) == 0 && bytes == NULL);
  CHECK_OK(&ctx, tb_read_file(&ctx, f.file, 10, &bytes, &length));
  CHECK(length == 10 && strcmp(bytes, "0123456789") == 0);
  tb_free(&ctx, bytes);
  CHECK(tb_read_file(&ctx, "/dev/zero", 100000, &bytes, &length) == TB_ERROR_INPUT);
  CHECK_OK(&ctx, tb_read_file(&ctx, "/dev/null", 100, &bytes, &length));
  CHECK(length == 0 && bytes[0] == 0);
  tb_free(&ctx, bytes);
  CHECK_OK(&ctx, tb_read_file(&ctx, "/proc/self/status", SIZE_MAX, &bytes, &length)); // has no size
  CHECK(length > 100);
  tb_free(&ctx, bytes);
  remove_folder(&f);
}

static void* feed(void* path)
{
  FILE* pipe = fopen(path, "w");
  for (int i = 0; pipe && i < 20000; i++) fputs("0123456789", pipe);
  if (pipe) fclose(pipe);
  return NULL;
}

TEST(pipes_are_read_to_their_end)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  REQUIRE(mkfifo(f.file, 0600) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, feed, f.file) == 0);
  char* bytes = NULL;
  size_t length = 0;
  CHECK_OK(&ctx, tb_read_file(&ctx, f.file, 1 << 20, &bytes, &length));
  CHECK(length == 200000 && bytes && bytes[199999] == '9' && bytes[200000] == 0);
  tb_free(&ctx, bytes);
  pthread_join(thread, NULL);
  remove_folder(&f);
}

TEST(files_are_replaced_all_at_once)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "old", 3));
  REQUIRE(chmod(f.file, 0640) == 0);

  tbFile file;
  CHECK_OK(&ctx, tb_file_begin(&ctx, f.file, &file));
  tbOut out = tb_out_sink(&ctx, tb_file_sink(&file), file.path);
  for (int i = 0; i < 100000; i++) tb_out_text(&out, "new ");
  CHECK(holds(f.file, "old") && count_files(&f) == 2 && access(file.temp, R_OK) == 0);
  tbStatus status = tb_out_finish(&out);
  tb_out_free(&out);
  CHECK_OK(&ctx, tb_file_end(&ctx, &file, status));
  struct stat info;
  CHECK(stat(f.file, &info) == 0 && info.st_size == 400000 && (info.st_mode & 0777) == 0640);
  CHECK(count_files(&f) == 1);

  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "old", 3));
  CHECK_OK(&ctx, tb_file_begin(&ctx, f.file, &file));
  tb_file_abort(&ctx, &file);
  tb_file_abort(&ctx, &file);
  CHECK(holds(f.file, "old") && count_files(&f) == 1);
  remove_folder(&f);
}

TEST(a_failed_write_leaves_the_old_file)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "old", 3));
  // A limit on the size of files stands in for a full disk.
  struct rlimit was, small = {100000, 100000};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &was) == 0);
  small.rlim_max = was.rlim_max;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  char* big = calloc(1, 1000000);
  CHECK(tb_write_file(&ctx, f.file, big, 1000000) == TB_ERROR_IO);
  CHECK(strstr(ctx.error.message, "File too large"));
  setrlimit(RLIMIT_FSIZE, &was);
  signal(SIGXFSZ, handler);
  free(big);
  CHECK(holds(f.file, "old") && count_files(&f) == 1);

  char missing[128];
  snprintf(missing, sizeof missing, "%s/no/file", f.path);
  CHECK(tb_write_file(&ctx, missing, "x", 1) == TB_ERROR_IO && strstr(ctx.error.message, "No such file"));
  CHECK(tb_write_file(&ctx, f.path, "x", 1) == TB_ERROR_IO && strstr(ctx.error.message, "Is a directory"));
  remove_folder(&f);
}

TEST(links_and_devices_are_written_through)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  char link[128];
  snprintf(link, sizeof link, "%s/link", f.path);
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "old", 3));
  REQUIRE(symlink("file.json", link) == 0);
  CHECK_OK(&ctx, tb_write_file(&ctx, link, "new", 3));
  struct stat info;
  CHECK(holds(f.file, "new") && lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
  unlink(link);
  remove_folder(&f);

  CHECK_OK(&ctx, tb_write_file(&ctx, "/dev/null", "x", 1));
  CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
  if (access("/dev/full", W_OK) == 0) {
    CHECK(tb_write_file(&ctx, "/dev/full", "x", 1) == TB_ERROR_IO);
    CHECK(strcmp(ctx.error.message, "cannot write /dev/full: No space left on device") == 0);
    CHECK(stat("/dev/full", &info) == 0 && S_ISCHR(info.st_mode));
  }
}

TEST(files_survive_every_failed_allocation)
{
  Folder f = make_folder();
  bool done = false;
  for (int k = 0; !done; k++) {
    REQUIRE(k < 100);
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    char* bytes = NULL;
    size_t length;
    tbStatus status = tb_write_file(&ctx, f.file, "text", 4);
    if (status == TB_OK) status = tb_write_file(&ctx, f.file, "text", 4);
    if (status == TB_OK) status = tb_read_file(&ctx, f.file, 100, &bytes, &length);
    done = status == TB_OK;
    CHECK(done || status == TB_ERROR_MEMORY);
    tb_free(&ctx, bytes);
    CHECK(state.alive == 0 && count_files(&f) <= 1);
  }
  remove_folder(&f);
}
