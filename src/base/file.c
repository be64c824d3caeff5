// SPDX-License-Identifier: Apache-2.0
// Reading whole files.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tbStatus fail_read(tbContext* ctx, const char* path, int error)
{
  return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: %s", path, strerror(error));
}

static tbStatus fail_size(tbContext* ctx, const char* path, size_t max_bytes)
{
  return tb_fail(ctx, TB_ERROR_INPUT, "%s: larger than the limit of %zu bytes", path, max_bytes);
}

static const char* kind_of(mode_t mode)
{
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
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

// Up to the end of what can be read. `size` is what there seems to be: files in /proc and pipes have no size,
// and a file may grow meanwhile.
static tbStatus read_all(tbContext* ctx, int descriptor, const char* path, size_t size, size_t max_bytes,
                         char** out, size_t* length)
{
  size_t room = size > 0 ? size + 2 : 4096, used = 0;
  char* bytes = NULL;
  for (bool more = true; more; room *= 2) {
    bytes = regrow(ctx, bytes, used, room);
    if (!bytes) return TB_ERROR_MEMORY;
    while (used < room - 1) {
      ssize_t got = read_some(descriptor, bytes + used, room - 1 - used);
      if (got < 0) {
        int error = errno;
        tb_free(ctx, bytes);
        return fail_read(ctx, path, error);
      }
      more = got > 0;
      if (!more) break;
      used += (size_t)got;
    }
    if (used > max_bytes) {
      tb_free(ctx, bytes);
      return fail_size(ctx, path, max_bytes);
    }
  }
  bytes[used] = 0;
  *out = bytes;
  *length = used;
  return TB_OK;
}

tbStatus tb_open_file(tbContext* ctx, const char* path, int* descriptor, uint64_t* size)
{
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return fail_read(ctx, path, errno);
  struct stat info;
  tbStatus status = TB_OK;
  if (fstat(opened, &info) != 0) status = fail_read(ctx, path, errno);
  else if (S_ISDIR(info.st_mode)) status = fail_read(ctx, path, EISDIR);
  else if (!S_ISREG(info.st_mode))
    status = tb_fail(ctx, TB_ERROR_INPUT, "%s: not a file but %s", path, kind_of(info.st_mode));
  if (status != TB_OK) {
    close(opened);
    return status;
  }
  *descriptor = opened;
  *size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
  return TB_OK;
}

tbStatus tb_read_file(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length)
{
  int descriptor = -1;
  uint64_t size = 0;
  TB_TRY(tb_open_file(ctx, path, &descriptor, &size));
  tbStatus status = size > max_bytes || size > SIZE_MAX / 4
                        ? fail_size(ctx, path, max_bytes)
                        : read_all(ctx, descriptor, path, (size_t)size, max_bytes, bytes, length);
  close(descriptor);
  return status;
}

tbStatus tb_read_start(tbContext* ctx, const char* path, char* bytes, size_t count, size_t* read,
                       uint64_t* size)
{
  int descriptor;
  TB_TRY(tb_open_file(ctx, path, &descriptor, size));
  ssize_t got = 1;
  for (*read = 0; *read < count && got > 0; *read += got > 0 ? (size_t)got : 0)
    got = read_some(descriptor, bytes + *read, count - *read);
  tbStatus status = got < 0 ? fail_read(ctx, path, errno) : TB_OK;
  close(descriptor);
  return status;
}

// The number in /dev/fd/N or /proc/self/fd/N, 0 for /dev/stdin, −1 for all other paths.
static int descriptor_named(const char* path)
{
  static const char* const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdin") == 0) return STDIN_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    size_t length = strlen(folders[i]);
    if (strncmp(path, folders[i], length) != 0) continue;
    const char* digits = path + length;
    int number = 0;
    for (; *digits >= '0' && *digits <= '9' && number < INT_MAX / 10 - 1; digits++)
      number = 10 * number + (*digits - '0');
    return *digits || digits == path + length ? -1 : number;
  }
  return -1;
}

bool tb_is_stream(const char* path)
{
  struct stat info;
  int descriptor = descriptor_named(path);
  return descriptor >= 0 && fstat(descriptor, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

tbStatus tb_read_input(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length)
{
  // Read where the caller left off: opening the name again would not take part in the caller's blocking mode.
  if (tb_is_stream(path)) return read_all(ctx, descriptor_named(path), path, 0, max_bytes, bytes, length);
  return tb_read_file(ctx, path, max_bytes, bytes, length);
}
