#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tbStatus fail_path(tbContext* ctx, const char* action, const char* path, int error)
{
  return tb_fail(ctx, TB_ERROR_IO, "cannot %s %s: %s", action, path, strerror(error));
}

static ssize_t read_some(int descriptor, char* to, size_t count)
{
  ssize_t got;
  do got = read(descriptor, to, count < INT_MAX ? count : INT_MAX);
  while (got < 0 && errno == EINTR);
  return got;
}

// A block of the new size with what the old one held, which is freed either way.
static char* regrow(tbContext* ctx, char* old, size_t used, size_t size)
{
  char* bytes = tb_alloc(ctx, size, 1);
  if (bytes && used) memcpy(bytes, old, used);
  tb_free(ctx, old);
  return bytes;
}

static tbStatus read_all(tbContext* ctx, int descriptor, const char* path, size_t max_bytes, char** out,
                         size_t* length)
{
  struct stat info;
  if (fstat(descriptor, &info) != 0) return fail_path(ctx, "read", path, errno);
  if (S_ISDIR(info.st_mode)) return fail_path(ctx, "read", path, EISDIR);

  // The size is only a hint: pipes and /proc have none, and a file may grow meanwhile.
  size_t size = 4096, used = 0;
  if (S_ISREG(info.st_mode) && info.st_size > 0) size = (size_t)info.st_size + 2;
  if (max_bytes < SIZE_MAX - 2 && size > max_bytes + 2) size = max_bytes + 2;
  char* bytes = NULL;
  for (bool more = true; more;) {
    bytes = regrow(ctx, bytes, used, size);
    if (!bytes) return TB_ERROR_MEMORY;
    while (used < size - 1) {
      ssize_t got = read_some(descriptor, bytes + used, size - 1 - used);
      if (got < 0) {
        int error = errno;
        tb_free(ctx, bytes);
        return fail_path(ctx, "read", path, error);
      }
      more = got > 0;
      if (!more) break;
      used += (size_t)got;
    }
    if (used > max_bytes) {
      tb_free(ctx, bytes);
      return tb_fail(ctx, TB_ERROR_INPUT, "%s: larger than the limit of %zu bytes", path, max_bytes);
    }
    size *= 2;
  }
  bytes[used] = 0;
  *out = bytes;
  *length = used;
  return TB_OK;
}

tbStatus tb_read_file(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length)
{
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail_path(ctx, "read", path, errno);
  tbStatus status = read_all(ctx, descriptor, path, max_bytes, bytes, length);
  close(descriptor);
  return status;
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

// Creates path.tmp-PID-N for the first free N, with the permissions the umask leaves.
static tbStatus create_temp(tbContext* ctx, tbFile* file)
{
  size_t size = strlen(file->path) + 48;
  file->temp = tb_alloc(ctx, size, 1);
  if (!file->temp) return TB_ERROR_MEMORY;
  for (int n = 0; n < 10000; n++) {
    snprintf(file->temp, size, "%s.tmp-%ld-%d", file->path, (long)getpid(), n);
    file->descriptor = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor >= 0) return TB_OK;
    if (errno != EEXIST) break;
  }
  int error = errno;
  tb_free(ctx, file->temp); // not ours to remove
  file->temp = NULL;
  return fail_path(ctx, "write", file->path, error);
}

static tbStatus open_for_writing(tbContext* ctx, tbFile* file)
{
  struct stat old;
  bool exists = stat(file->path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return fail_path(ctx, "write", file->path, EISDIR);
  file->direct = (exists && !S_ISREG(old.st_mode)) || begins_with(file->path, "/dev/") ||
                 begins_with(file->path, "/proc/");
  if (file->direct) {
    file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC);
    if (file->descriptor < 0) return fail_path(ctx, "write", file->path, errno);
    file->temp = copy_text(ctx, file->path);
    return file->temp ? TB_OK : TB_ERROR_MEMORY;
  }
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
  int error = 0;
  if (!file->direct && fsync(file->descriptor) != 0) error = errno;
  if (close(file->descriptor) != 0 && !error && errno != EINTR) error = errno;
  file->descriptor = -1;
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
  if (file->descriptor >= 0) close(file->descriptor);
  if (file->temp && !file->direct) unlink(file->temp);
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
