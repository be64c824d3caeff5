// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
  CHECK_OK(&ctx, tb_read_file(&ctx, "/proc/self/status", SIZE_MAX, &bytes, &length)); // has no size
  CHECK(length > 100);
  tb_free(&ctx, bytes);
  remove_folder(&f);
}

// None of these ends, or begins, by itself: each must be refused at once.
TEST(pipes_devices_and_sockets_are_refused_without_waiting)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  char *bytes = NULL, link[128];
  size_t length = 0;
  REQUIRE(mkfifo(f.file, 0600) == 0);
  snprintf(link, sizeof link, "%s/link", f.path);
  REQUIRE(symlink("/dev/zero", link) == 0);
  const struct {
    const char *path, *kind;
  } cases[] = {{f.file, "a pipe"}, {"/dev/zero", "a device"}, {"/dev/null", "a device"}, {link, "a device"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK(tb_read_file(&ctx, cases[i].path, 1 << 20, &bytes, &length) == TB_ERROR_INPUT);
    CHECK(strstr(ctx.error.message, cases[i].path) && strstr(ctx.error.message, cases[i].kind));
    CHECK(tb_read_input(&ctx, cases[i].path, 1 << 20, &bytes, &length) == TB_ERROR_INPUT);
  }
  int feed = open(f.file, O_RDWR | O_NONBLOCK); // with something in it, too
  CHECK(feed >= 0 && write(feed, "{}", 2) == 2);
  CHECK(tb_read_file(&ctx, f.file, 1 << 20, &bytes, &length) == TB_ERROR_INPUT && bytes == NULL);
  close(feed);
  unlink(link);
  remove_folder(&f);
}

static bool asked_the_third_time(void* user) { return ++*(int*)user == 3; }

// A pipe that nothing reads is waited for until the context's interrupt says otherwise; one that is read is
// written in full, however slow the reader.
TEST(a_pipe_to_write_is_waited_for_and_given_up_when_asked)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  tbFile file;
  int asked = 0;
  REQUIRE(mkfifo(f.file, 0600) == 0);
  ctx.interrupt = (tbInterrupt){asked_the_third_time, &asked};
  CHECK(tb_file_begin(&ctx, f.file, &file) == TB_ERROR_CANCELLED && asked == 3);
  struct stat info;
  CHECK(stat(f.file, &info) == 0 && S_ISFIFO(info.st_mode));

  int reader = open(f.file, O_RDONLY | O_NONBLOCK);
  CHECK_OK(&ctx, tb_file_begin(&ctx, f.file, &file));
  CHECK((fcntl(file.descriptor, F_GETFL) & O_NONBLOCK) == 0);
  CHECK(tb_file_sink(&file).write(&file, "ab", 2) == 0);
  CHECK_OK(&ctx, tb_file_commit(&ctx, &file));
  char bytes[4];
  CHECK(read(reader, bytes, 4) == 2 && memcmp(bytes, "ab", 2) == 0);
  close(reader);
  remove_folder(&f);
}

// Reading the file first would take more memory than the allocator gives.
TEST(sizes_are_looked_at_before_reading)
{
  Folder f = make_folder();
  tbFailingAllocator none = {.countdown = 0, .for_good = true};
  tbContext ctx = test_failing_context(&none);
  char* bytes = NULL;
  size_t length;
  int sparse = open(f.file, O_WRONLY | O_CREAT, 0600);
  REQUIRE(sparse >= 0 && ftruncate(sparse, (off_t)20 << 30) == 0);
  close(sparse);
  CHECK(tb_read_file(&ctx, f.file, (size_t)1 << 30, &bytes, &length) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "larger than the limit of 1073741824 bytes") && none.total == 0);
  remove_folder(&f);
}

TEST(the_start_of_a_file_comes_with_its_size)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  char start[8] = "";
  size_t read;
  uint64_t size;
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "0123456789", 10));
  CHECK_OK(&ctx, tb_read_start(&ctx, f.file, start, 4, &read, &size));
  CHECK(read == 4 && size == 10 && memcmp(start, "0123\0", 5) == 0);
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "01", 2));
  CHECK_OK(&ctx, tb_read_start(&ctx, f.file, start, 4, &read, &size));
  CHECK(read == 2 && size == 2);
  CHECK(tb_read_start(&ctx, f.path, start, 4, &read, &size) == TB_ERROR_IO);
  remove_folder(&f);
}

static void* feed(void* descriptor)
{
  for (int i = 0; i < 20000; i++)
    if (write(*(int*)descriptor, "0123456789", 10) != 10) break;
  close(*(int*)descriptor);
  return NULL;
}

TEST(streams_of_the_process_are_read_to_their_end)
{
  tbContext ctx = tb_default_context();
  int ends[2];
  char path[40], *bytes = NULL;
  size_t length = 0;
  pthread_t thread;
  REQUIRE(pipe(ends) == 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  CHECK(tb_is_stream(path) && !tb_is_stream("/dev/fd/") && !tb_is_stream("/dev/fd/0x"));
  CHECK(!tb_is_stream("/dev/fd/99999999999999999999") && !tb_is_stream("/dev/zero") && !tb_is_stream("."));
  CHECK(tb_read_file(&ctx, path, 1 << 20, &bytes, &length) == TB_ERROR_INPUT); // a file may not name it
  REQUIRE(pthread_create(&thread, NULL, feed, &ends[1]) == 0);
  CHECK_OK(&ctx, tb_read_input(&ctx, path, 1 << 20, &bytes, &length));
  CHECK(length == 200000 && bytes && bytes[199999] == '9' && bytes[200000] == 0);
  tb_free(&ctx, bytes);
  pthread_join(thread, NULL);
  close(ends[0]);
}

// A child that is killed while it writes leaves its temporary file, which holds no lock any more.
TEST(the_next_writer_removes_what_a_killed_one_left)
{
  tbContext ctx = tb_default_context();
  Folder f = make_folder();
  tbFile first, second;
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "old", 3));
  for (int i = 0; i < 2; i++) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      tbFile one, two;
      if (tb_file_begin(&ctx, f.file, &one) == TB_OK && tb_file_begin(&ctx, f.file, &two) == TB_OK)
        raise(SIGKILL);
      _exit(1);
    }
    int code = 0;
    CHECK(waitpid(child, &code, 0) == child && WIFSIGNALED(code));
    CHECK(count_files(&f) == 3 && holds(f.file, "old")); // the second child's in place of the first's
  }
  // What is being written stays, also when the next writer comes: here in the same process.
  CHECK_OK(&ctx, tb_file_begin(&ctx, f.file, &first));
  CHECK(count_files(&f) == 2);
  CHECK_OK(&ctx, tb_file_begin(&ctx, f.file, &second));
  CHECK(count_files(&f) == 3 && strcmp(first.temp, second.temp) != 0);
  CHECK(write(first.descriptor, "first", 5) == 5 && write(second.descriptor, "second", 6) == 6);
  CHECK_OK(&ctx, tb_file_commit(&ctx, &first));
  CHECK(holds(f.file, "first") && count_files(&f) == 2);
  CHECK_OK(&ctx, tb_file_commit(&ctx, &second));
  CHECK(holds(f.file, "second") && count_files(&f) == 1);
  // Names alike that are not temporary files of a writer are left alone.
  char link[128];
  snprintf(link, sizeof link, "%s.tmp-tribo1", f.file);
  REQUIRE(symlink("file.json", link) == 0);
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "new", 3));
  CHECK(holds(f.file, "new") && count_files(&f) == 2);
  unlink(link);
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

TEST(files_in_shared_memory_are_files)
{
  tbContext ctx = tb_default_context();
  Folder f = {.path = "/dev/shm/tribo-test-XXXXXX"};
  if (!mkdtemp(f.path)) SKIP("there is no /dev/shm");
  snprintf(f.file, sizeof f.file, "%s/file.json", f.path);
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "old", 3));
  CHECK_OK(&ctx, tb_write_file(&ctx, f.file, "new", 3));
  CHECK(holds(f.file, "new") && count_files(&f) == 1);
  CHECK(tb_write_file(&ctx, "/dev/no-such-device", "x", 1) == TB_ERROR_IO);
  remove_folder(&f);
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
