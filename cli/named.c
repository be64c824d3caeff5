// SPDX-License-Identifier: Apache-2.0
#include "cli/named.h"
#include "tribo/gallery.h"
#include "tribo/tools/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_there(const char* path)
{
  struct stat info;
  return stat(path, &info) == 0;
}

static bool is_folder(const char* path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// A folder of that name, as `--out arch` leaves, is no scene: "arch/" says that it is meant.
bool is_named_scene(const char* word)
{
  return tb_gallery_find(word) && (!is_there(word) || is_folder(word));
}

const char* near_named_scene(const char* word)
{
  if (is_there(word) || strpbrk(word, "/.")) return NULL;
  tbNearest near = tb_nearest(word);
  for (int i = 0; i < tb_gallery_count(); i++) tb_nearest_offer(&near, tb_gallery_at(i)->name);
  return near.name;
}

static tbStatus make_folder(tbContext* ctx, char folder[PATH_MAX])
{
  const char* temporary = getenv("TMPDIR");
  snprintf(folder, PATH_MAX, "%s/tribo-scene-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  if (mkdtemp(folder)) return TB_OK;
  tbStatus status = tb_fail(ctx, TB_ERROR_IO, "%s: cannot be made: %s", folder, strerror(errno));
  folder[0] = 0;
  return status;
}

// What a scene of the gallery writes: files, and a folder of meshes.
static void remove_folder(const char* folder, int depth)
{
  DIR* directory = opendir(folder);
  if (!directory) return;
  for (struct dirent* e; (e = readdir(directory));) {
    char path[PATH_MAX + 300];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
    if (unlink(path) != 0 && depth > 0) remove_folder(path, depth - 1);
  }
  closedir(directory);
  rmdir(folder);
}

static tbStatus load_from(tbContext* ctx, const tbGalleryScene* scene, const Texts* settings,
                          const char* folder, tbScene* out)
{
  tbOut text = tb_out_memory(ctx);
  tbStatus status = tb_gallery_print(ctx, scene, NULL, folder, &text);
  if (status == TB_OK)
    status = tb_scene_parse_with(ctx, scene->name, text.bytes, text.length, folder, settings->at,
                                 settings->count, out);
  tb_out_free(&text);
  return status;
}

tbStatus load_named_scene(tbContext* ctx, const char* name, const Texts* settings, tbScene* out)
{
  const tbGalleryScene* scene = tb_gallery_find(name);
  char folder[PATH_MAX];
  if (!scene->files) return load_from(ctx, scene, settings, NULL, out);
  TB_TRY(make_folder(ctx, folder)); // meshes are read from it, and then not needed any more
  tbStatus status = load_from(ctx, scene, settings, folder, out);
  remove_folder(folder, 1);
  return status;
}

tbStatus named_scene_write(tbContext* ctx, const char* name, NamedScene* out)
{
  TB_TRY(make_folder(ctx, out->folder));
  snprintf(out->path, sizeof out->path, "%s/%.60s.json", out->folder, name);
  tbStatus status = tb_gallery_save(ctx, tb_gallery_find(name), NULL, out->path);
  if (status != TB_OK) named_scene_remove(out);
  return status;
}

void named_scene_remove(NamedScene* scene)
{
  if (scene->folder[0]) remove_folder(scene->folder, 1);
  *scene = (NamedScene){0};
}
