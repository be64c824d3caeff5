// SPDX-License-Identifier: Apache-2.0
// Videos: raw frames through a socket to the ffmpeg command, which writes beside the file's place. A socket
// rather than a pipe, because writing to one whose reader died can be told without a signal.
#include "tribo/render.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

struct tbFilm {
  tbFile file;
  size_t bytes; // of a frame
  int64_t frames;
  int socket;
  pid_t process;
  FILE* complaints; // what ffmpeg says
  tbStatus status;
};

static bool ends_in(const char* path, const char* ending)
{
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

bool tb_film_path(const char* path) { return ends_in(path, ".mp4") || ends_in(path, ".webm"); }

static tbStatus no_ffmpeg(tbContext* ctx)
{
  return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                 "videos need the ffmpeg command, which is not on the PATH (Debian: apt install ffmpeg)");
}

tbStatus tb_film_check(tbContext* ctx)
{
  const char* path = getenv("PATH");
  char name[PATH_MAX];
  while (path && *path) {
    size_t length = strcspn(path, ":");
    int written = snprintf(name, sizeof name, "%.*s/ffmpeg", (int)length, path);
    if (written > 0 && (size_t)written < sizeof name && access(name, X_OK) == 0) return TB_OK;
    path += length + (path[length] == ':');
  }
  return no_ffmpeg(ctx);
}

// ffmpeg reads frames from its standard input.
static int start(tbFilm* f, bool webm, int width, int height, double fps, int input)
{
  char size[32], rate[40];
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(rate, sizeof rate, "%lld/1000", (long long)floor(1000 * fps + 0.5));
  // From sRGB to the colours of television, and told so. -xerror: else a full disk is no reason to fail for
  // it.
#define FROM                                                                                                 \
  "ffmpeg", "-hide_banner", "-loglevel", "error", "-xerror", "-y", "-f", "rawvideo", "-pixel_format",        \
      "rgb24", "-video_size", size, "-framerate", rate, "-i", "pipe:0", "-an", "-map_metadata", "-1", "-vf", \
      "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int", "-pix_fmt", "yuv420p", \
      "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "iec61966-2-1", "-color_range",     \
      "tv", "-fflags", "+bitexact", "-flags:v", "+bitexact"
  const char* mp4[] = {FROM,        "-c:v",       "libx264", "-preset", "veryfast",   "-crf", "17",
                       "-movflags", "+faststart", "-f",      "mp4",     f->file.temp, NULL};
  const char* vp9[] = {FROM, "-c:v",      "libvpx-vp9", "-b:v", "0",    "-crf",       "24", "-row-mt",
                       "1",  "-cpu-used", "3",          "-f",   "webm", f->file.temp, NULL};
#undef FROM
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(f->complaints), 2);
  error = posix_spawnp(&f->process, "ffmpeg", &actions, NULL, (char**)(webm ? vp9 : mp4), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static tbStatus open_film(tbContext* ctx, tbFilm* f, const char* path, int width, int height, double fps)
{
  int pair[2];
  TB_TRY(tb_file_begin(ctx, path, &f->file));
  if (f->file.direct) {
    tb_file_abort(ctx, &f->file);
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: a video needs a file of its own", path);
  }
  f->complaints = tmpfile();
  if (!f->complaints || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    tb_file_abort(ctx, &f->file);
    return tb_fail(ctx, TB_ERROR_IO, "cannot talk to ffmpeg: %s", strerror(errno));
  }
  int error = start(f, ends_in(path, ".webm"), width, height, fps, pair[1]);
  close(pair[1]);
  if (error) {
    close(pair[0]);
    tb_file_abort(ctx, &f->file);
    if (error == ENOENT) return no_ffmpeg(ctx);
    return tb_fail(ctx, TB_ERROR_IO, "cannot start ffmpeg: %s", strerror(error));
  }
  f->socket = pair[0];
  return TB_OK;
}

tbStatus tb_film_begin(tbContext* ctx, const char* path, int width, int height, double fps, tbFilm** out)
{
  if (!tb_film_path(path)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: videos end in .mp4 or .webm", path);
  if (width < 2 || height < 2 || width % 2 || height % 2 || width > TB_RENDER_SIZE || height > TB_RENDER_SIZE)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a video has an even number of pixels in each direction");
  if (!(fps >= 0.1 && fps <= 1000))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a video has 0.1 to 1000 frames per second");
  tbFilm* f = TB_NEW(ctx, tbFilm, 1);
  if (!f) return TB_ERROR_MEMORY;
  f->bytes = 3 * (size_t)width * (size_t)height;
  tbStatus status = open_film(ctx, f, path, width, height, fps);
  if (status == TB_OK) {
    *out = f;
    return TB_OK;
  }
  if (f->complaints) fclose(f->complaints);
  tb_free(ctx, f);
  return status;
}

tbStatus tb_film_frame(tbContext* ctx, tbFilm* f, const unsigned char* rgb)
{
  for (size_t done = 0; done < f->bytes;) {
    ssize_t sent = send(f->socket, rgb + done, f->bytes - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return f->status = tb_fail(ctx, TB_ERROR_IO, "ffmpeg stopped reading: %s", strerror(errno));
    done += (size_t)sent;
  }
  f->frames++;
  return TB_OK;
}

// The first line that ffmpeg wrote, which says more than how it ended.
static tbStatus complain(tbContext* ctx, tbFilm* f, int code)
{
  char line[200] = "";
  rewind(f->complaints);
  if (fgets(line, sizeof line, f->complaints)) line[strcspn(line, "\n")] = 0;
  else if (WIFSIGNALED(code)) snprintf(line, sizeof line, "it was killed (signal %d)", WTERMSIG(code));
  else if (WEXITSTATUS(code)) snprintf(line, sizeof line, "it ended with %d", WEXITSTATUS(code));
  else snprintf(line, sizeof line, "it wrote nothing");
  return tb_fail(ctx, TB_ERROR_IO, "ffmpeg could not make %s: %s", f->file.path, line);
}

tbStatus tb_film_end(tbContext* ctx, tbFilm* f, tbStatus status)
{
  int code = -1;
  close(f->socket);
  while (waitpid(f->process, &code, 0) < 0 && errno == EINTR) continue;
  struct stat info;
  bool done = WIFEXITED(code) && WEXITSTATUS(code) == 0 && stat(f->file.temp, &info) == 0 && info.st_size > 0;
  if (!done && (status == TB_OK || f->status != TB_OK)) status = complain(ctx, f, code);
  else if (status == TB_OK && f->frames == 0)
    status = tb_fail(ctx, TB_ERROR_IO, "%s: a video without pictures", f->file.path);
  else if (status == TB_OK) status = f->status;
  fclose(f->complaints);
  status = tb_file_end(ctx, &f->file, status);
  tb_free(ctx, f);
  return status;
}
