// SPDX-License-Identifier: Apache-2.0
#include "cli/problem_files.h"
#include "tribo/tools/sort.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static tbStatus push(tbContext* ctx, ProblemFiles* files, const char* folder, const char* name)
{
  size_t size = (folder ? strlen(folder) + 1 : 0) + strlen(name) + 1;
  char* path = TB_NEW(ctx, char, size);
  if (!path) return TB_ERROR_MEMORY;
  snprintf(path, size, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
  tbStatus status = tb_array_push(ctx, &files->list, &path, 1);
  if (status != TB_OK) tb_free(ctx, path);
  return status;
}

static bool is_problem(const char* name)
{
  static const char* const ends[] = {".json", ".hdf5", ".h5", ".dat"};
  const char* dot = strrchr(name, '.');
  for (int i = 0; dot && dot != name && i < 4; i++)
    if (strcmp(dot, ends[i]) == 0) return true;
  return false;
}

static int compare_paths(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static tbStatus push_folder(tbContext* ctx, ProblemFiles* files, const char* word)
{
  char folder[4096];
  size_t length = strlen(word), first = files->list.count;
  while (length > 1 && word[length - 1] == '/') length--;
  if (length >= sizeof folder) return tb_fail(ctx, TB_ERROR_INPUT, "%.200s…: the path is too long", word);
  snprintf(folder, sizeof folder, "%.*s", (int)length, word);
  DIR* directory = opendir(folder);
  if (!directory) return tb_fail(ctx, TB_ERROR_INPUT, "%s: cannot be read: %s", word, strerror(errno));
  tbStatus status = TB_OK;
  for (struct dirent* e; status == TB_OK && (e = readdir(directory));)
    if (is_problem(e->d_name)) status = push(ctx, files, folder, e->d_name);
  closedir(directory);
  size_t found = files->list.count - first;
  if (status == TB_OK && !found)
    status =
        tb_fail(ctx, TB_ERROR_INPUT, "%s: no problem in this folder: no .json, .hdf5, .h5 or .dat", word);
  if (status == TB_OK) tb_sort((char**)files->list.data + first, found, sizeof(char*), compare_paths);
  return status;
}

tbStatus problem_files(tbContext* ctx, int count, char** words, ProblemFiles* out)
{
  *out = (ProblemFiles){.list = TB_ARRAY(char*)};
  tbStatus status = TB_OK;
  for (int i = 0; i < count && status == TB_OK; i++) {
    struct stat info;
    bool folder = stat(words[i], &info) == 0 && S_ISDIR(info.st_mode);
    status = folder ? push_folder(ctx, out, words[i]) : push(ctx, out, NULL, words[i]);
  }
  out->path = out->list.data;
  out->count = (int)out->list.count;
  if (status != TB_OK) problem_files_free(ctx, out);
  return status;
}

void problem_files_free(tbContext* ctx, ProblemFiles* files)
{
  for (size_t i = 0; i < files->list.count; i++) tb_free(ctx, ((char**)files->list.data)[i]);
  tb_array_free(ctx, &files->list);
  *files = (ProblemFiles){0};
}
