// SPDX-License-Identifier: Apache-2.0
// Files that are replaced all at once.
#include "base/file.h"
#include "base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEMP_NAMES = 10000, SWEPT_NAMES = 8, TEMP_SUFFIX = 32 };

static tbStatus fail_path(tbContext* ctx, const char* action, const char* path, int error)
{
  return tb_fail(ctx, TB_ERROR_IO, "cannot %s %s: %s", action, path, strerror(error));
}

static char* copy_text(tbContext* ctx, const char* text)
{
  size_t size = strlen(text) + 1;
  char* copy = tb_alloc(ctx, size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

static bool begins_with(const char* text, const char* start)
{
  return strncmp(text, start, strlen(start)) == 0;
}

// Temporary files are called path.tmp-tribo0, path.tmp-tribo1, … Their writers hold a lock (flock) on them,
// which ends with the process however that ends: one that is not locked was left by a process that was
// killed.
static void name_temp(const tbFile* file, int n, char* name, size_t size)
{
  snprintf(name, size, "%s.tmp-tribo%d", file->path, n);
}

// Whether the descriptor's file still has this name: between two calls, another process may have replaced it.
static bool has_name(int descriptor, const char* name)
{
  struct stat held, named;
  return fstat(descriptor, &held) == 0 && lstat(name, &named) == 0 && S_ISREG(named.st_mode) &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

// Removes a temporary file that is not locked. Only the holder of its lock may remove or rename it, so that
// the name is the same file's from the check to the removal.
static void remove_left_over(const char* name)
{
  int descriptor = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && has_name(descriptor, name)) unlink(name);
  close(descriptor);
}

// Creates and locks the first temporary name that is not in use, with the permissions the umask leaves, after
// removing what killed runs left under the first few.
static tbStatus create_temp(tbContext* ctx, tbFile* file)
{
  size_t size = strlen(file->path) + TEMP_SUFFIX;
  file->temp = tb_alloc(ctx, size, 1);
  if (!file->temp) return TB_ERROR_MEMORY;
  for (int n = 0; n < SWEPT_NAMES; n++) {
    name_temp(file, n, file->temp, size);
    remove_left_over(file->temp);
  }
  for (int n = 0; n < TEMP_NAMES; n++) {
    name_temp(file, n, file->temp, size);
    file->descriptor = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor < 0 && errno != EEXIST) break;
    if (file->descriptor < 0) continue;
    // A run that cleans up may have seen the new file before it was locked. Where files cannot be locked,
    // none is ever cleaned up.
    bool locked = flock(file->descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && has_name(file->descriptor, file->temp)) return TB_OK;
    close(file->descriptor);
    file->descriptor = -1;
    errno = EEXIST;
  }
  int error = errno;
  tb_free(ctx, file->temp); // not ours to remove
  file->temp = NULL;
  return fail_path(ctx, "write", file->path, error);
}

// Whether files in its folder stand for something else, whatever they look like: /dev/stdout may be a regular
// file. /dev/shm is a folder as any other.
static bool is_special(const char* path)
{
  return (begins_with(path, "/dev/") && !begins_with(path, "/dev/shm/")) || begins_with(path, "/proc/");
}

// A pipe is written once there is who reads it. Looks again and again in place of open()'s own wait, which a
// signal that asks to stop does not end.
static tbStatus open_direct(tbContext* ctx, tbFile* file, bool pipe)
{
  static const struct timespec while_none_reads = {0, 5000000};
  int flags = O_WRONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0);
  while ((file->descriptor = open(file->path, flags)) < 0 && pipe && errno == ENXIO) {
    TB_TRY(tb_check_interrupt(ctx));
    nanosleep(&while_none_reads, NULL);
  }
  if (file->descriptor < 0 || (pipe && fcntl(file->descriptor, F_SETFL, O_WRONLY) != 0))
    return fail_path(ctx, "write", file->path, errno);
  file->temp = copy_text(ctx, file->path);
  return file->temp ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus open_for_writing(tbContext* ctx, tbFile* file)
{
  struct stat old;
  bool exists = stat(file->path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return fail_path(ctx, "write", file->path, EISDIR);
  file->direct = (exists && !S_ISREG(old.st_mode)) || is_special(file->path);
  if (file->direct) return open_direct(ctx, file, exists && S_ISFIFO(old.st_mode));
  if (exists) { // the file itself, when the path is a link to it
    char real[PATH_MAX];
    if (!realpath(file->path, real)) return fail_path(ctx, "write", file->path, errno);
    tb_free(ctx, file->path);
    file->path = copy_text(ctx, real);
    if (!file->path) return TB_ERROR_MEMORY;
    if (access(file->path, W_OK) != 0) return fail_path(ctx, "write", file->path, errno);
  }
  TB_TRY(create_temp(ctx, file));
  if (exists && fchmod(file->descriptor, old.st_mode & 07777) != 0)
    return fail_path(ctx, "write", file->path, errno);
  return TB_OK;
}

tbStatus tb_file_begin(tbContext* ctx, const char* path, tbFile* out)
{
  tbFile file = {.descriptor = -1, .path = copy_text(ctx, path)};
  tbStatus status = file.path ? open_for_writing(ctx, &file) : TB_ERROR_MEMORY;
  if (status != TB_OK) tb_file_abort(ctx, &file);
  *out = file;
  return status;
}

static int write_descriptor(void* user, const char* bytes, size_t count)
{
  const tbFile* file = user;
  while (count) {
    ssize_t put = write(file->descriptor, bytes, count < INT_MAX ? count : INT_MAX);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes += put;
    count -= (size_t)put;
  }
  return 0;
}

tbSink tb_file_sink(tbFile* file) { return (tbSink){write_descriptor, file}; }

tbStatus tb_file_commit(tbContext* ctx, tbFile* file)
{
  // The lock goes with the last descriptor, so one is kept until the file has its place.
  int error = 0, lock = -1;
  if (!file->direct && fsync(file->descriptor) != 0) error = errno;
  if (!file->direct && (lock = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0)) < 0 && !error) error = errno;
  if (close(file->descriptor) != 0 && !error && errno != EINTR) error = errno;
  file->descriptor = lock;
  if (!file->direct && !error && rename(file->temp, file->path) != 0) error = errno;
  tbStatus status = error ? fail_path(ctx, "write", file->path, error) : TB_OK;
  if (!error) { // nothing under the temporary name any more
    tb_free(ctx, file->temp);
    file->temp = NULL;
  }
  tb_file_abort(ctx, file);
  return status;
}

void tb_file_abort(tbContext* ctx, tbFile* file)
{
  if (file->temp && !file->direct) unlink(file->temp);
  if (file->descriptor >= 0) close(file->descriptor);
  tb_free(ctx, file->temp);
  tb_free(ctx, file->path);
  *file = (tbFile){.descriptor = -1};
}

tbStatus tb_file_end(tbContext* ctx, tbFile* file, tbStatus status)
{
  if (status == TB_OK) return tb_file_commit(ctx, file);
  tb_file_abort(ctx, file);
  return status;
}

tbStatus tb_write_file(tbContext* ctx, const char* path, const char* bytes, size_t length)
{
  tbFile file;
  TB_TRY(tb_file_begin(ctx, path, &file));
  int error = write_descriptor(&file, bytes, length);
  return tb_file_end(ctx, &file, error ? fail_path(ctx, "write", path, error) : TB_OK);
}
