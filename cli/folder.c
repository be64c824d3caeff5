// SPDX-License-Identifier: Apache-2.0
#include "cli/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tbStatus fail_folder(tbContext* ctx, const char* path, int error)
{
  return tb_fail(ctx, TB_ERROR_IO, "cannot write into the folder %s: %s", path, strerror(error));
}

// Makes the folder named by the first `length` bytes of the path, unless something is there already.
static int make_part(Folder* folder, size_t length)
{
  char rest = folder->path[length];
  folder->path[length] = 0;
  int error = mkdir(folder->path, 0777) == 0 ? 0 : errno;
  folder->path[length] = rest;
  if (!error && !folder->made) folder->made = length;
  return error == EEXIST ? 0 : error;
}

tbStatus folder_make(tbContext* ctx, const char* path, Folder* out)
{
  *out = (Folder){0};
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (length == 0) return fail_folder(ctx, "\"\"", ENOENT);
  if (length >= sizeof out->path) return fail_folder(ctx, path, ENAMETOOLONG);
  memcpy(out->path, path, length);

  int error = 0;
  for (size_t i = 1; i <= length && !error; i++)
    if (i == length || out->path[i] == '/') error = make_part(out, i);
  struct stat info;
  if (!error && stat(out->path, &info) != 0) error = errno;
  if (!error && !S_ISDIR(info.st_mode)) error = ENOTDIR;
  if (!error && access(out->path, W_OK | X_OK) != 0) error = errno;
  if (!error) return TB_OK;
  folder_unmake(out);
  return fail_folder(ctx, out->path, error);
}

void folder_unmake(const Folder* folder)
{
  if (!folder->made) return;
  char part[PATH_MAX];
  strcpy(part, folder->path);
  for (size_t length = strlen(part); length >= folder->made; length--)
    if (!part[length] || part[length] == '/') {
      part[length] = 0;
      rmdir(part);
    }
}

static tbStatus write_all(tbContext* ctx, tbFile* file, const tbOut* text)
{
  tbOut out = tb_out_sink(ctx, tb_file_sink(file), file->path);
  tb_out_bytes(&out, text->bytes, text->length);
  tbStatus status = tb_out_finish(&out);
  tb_out_free(&out);
  return status;
}

tbStatus folder_save(tbContext* ctx, const Folder* folder, FolderFile* files, int count)
{
  tbFile* file = TB_NEW(ctx, tbFile, (size_t)count);
  tbStatus status = file ? TB_OK : TB_ERROR_MEMORY;
  int begun = 0;
  while (status == TB_OK && begun < count) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder->path, files[begun].name);
    if (length >= (int)sizeof path) status = fail_folder(ctx, folder->path, ENAMETOOLONG);
    else status = tb_out_finish(&files[begun].text);
    if (status == TB_OK) status = tb_file_begin(ctx, path, &file[begun]);
    if (status != TB_OK) break;
    status = write_all(ctx, &file[begun], &files[begun].text);
    begun++;
  }
  for (int i = 0; i < begun; i++) status = tb_file_end(ctx, &file[i], status);
  tb_free(ctx, file);
  return status;
}
