// SPDX-License-Identifier: Apache-2.0
// Files of a page: a list in memory, in the place of src/base/file.c and file_replace.c. Meshes that scenes
// name are put here by the page or written here by the gallery; nothing else reads or writes files in wasm.
// Folders need not be made.
#include "web.h"

#include "tribo/tools/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct File {
  struct File* next;
  char *path, *bytes; // bytes: terminated
  size_t length;
} File;

static File* files;
static File writing; // what tb_file_begin began; one at a time

// "./meshes/a.obj", "/meshes/a.obj", ".//meshes/a.obj": the same file.
static const char* plain(const char* path)
{
  while (path[0] == '/' || (path[0] == '.' && path[1] == '/')) path++;
  return path;
}

static File* find(const char* path)
{
  for (File* f = files; f; f = f->next)
    if (strcmp(f->path, plain(path)) == 0) return f;
  return NULL;
}

bool web_file_put(const char* path, const char* bytes, size_t length)
{
  File* f = find(path);
  char* copy = malloc(length + 1);
  if (!copy) return false;
  if (length) memcpy(copy, bytes, length);
  copy[length] = 0;
  if (!f) {
    f = calloc(1, sizeof *f);
    char* name = f ? strdup(plain(path)) : NULL;
    if (!name) {
      free(f), free(copy);
      return false;
    }
    f->path = name, f->next = files;
    files = f;
  }
  free(f->bytes);
  f->bytes = copy, f->length = length;
  return true;
}

tbStatus tb_read_file(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length)
{
  const File* f = find(path);
  if (!f) return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: the page has no such file", path);
  if (f->length > max_bytes)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: larger than the limit of %zu bytes", path, max_bytes);
  char* copy = tb_alloc(ctx, f->length + 1, 1);
  if (!copy) return TB_ERROR_MEMORY;
  memcpy(copy, f->bytes, f->length + 1);
  *bytes = copy, *length = f->length;
  return TB_OK;
}

tbStatus tb_read_input(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length)
{
  return tb_read_file(ctx, path, max_bytes, bytes, length);
}

bool tb_is_stream(const char* path) { return (void)path, false; }

tbStatus tb_read_start(tbContext* ctx, const char* path, char* bytes, size_t count, size_t* read,
                       uint64_t* size)
{
  const File* f = find(path);
  if (!f) return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: the page has no such file", path);
  *size = f->length, *read = f->length < count ? f->length : count;
  memcpy(bytes, f->bytes, *read);
  return TB_OK;
}

tbStatus tb_open_file(tbContext* ctx, const char* path, int* descriptor, uint64_t* size)
{
  (void)descriptor, (void)size;
  return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: the files of a page have no descriptors", path);
}

tbStatus tb_file_begin(tbContext* ctx, const char* path, tbFile* out)
{
  *out = (tbFile){.descriptor = -1};
  free(writing.bytes), free(writing.path);
  writing = (File){.path = strdup(path)};
  if (!writing.path) return tb_fail(ctx, TB_ERROR_MEMORY, "out of memory: the name of a file");
  out->path = out->temp = writing.path;
  return TB_OK;
}

static int append(void* user, const char* bytes, size_t count)
{
  (void)user;
  char* grown = realloc(writing.bytes, writing.length + count + 1);
  if (!grown) return -1;
  memcpy(grown + writing.length, bytes, count);
  writing.bytes = grown, writing.length += count;
  return 0;
}

tbSink tb_file_sink(tbFile* file) { return (tbSink){append, file}; }

void tb_file_abort(tbContext* ctx, tbFile* file)
{
  (void)ctx;
  *file = (tbFile){.descriptor = -1};
}

tbStatus tb_file_commit(tbContext* ctx, tbFile* file)
{
  bool kept = web_file_put(file->path, writing.bytes, writing.length);
  tb_file_abort(ctx, file);
  return kept ? TB_OK : tb_fail(ctx, TB_ERROR_MEMORY, "out of memory: a file of %zu bytes", writing.length);
}

tbStatus tb_file_end(tbContext* ctx, tbFile* file, tbStatus status)
{
  if (status == TB_OK) return tb_file_commit(ctx, file);
  tb_file_abort(ctx, file);
  return status;
}

tbStatus tb_write_file(tbContext* ctx, const char* path, const char* bytes, size_t length)
{
  if (web_file_put(path, bytes, length)) return TB_OK;
  return tb_fail(ctx, TB_ERROR_MEMORY, "out of memory: a file of %zu bytes", length);
}

int mkdir(const char* path, mode_t mode) { return (void)path, (void)mode, 0; }
