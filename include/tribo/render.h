// SPDX-License-Identifier: Apache-2.0
// Pictures of a replay, without a window, a display or a graphics card.
//
//   tbReplay* replay;
//   tb_replay_open(&ctx, "out/replay.trp", &replay);
//   tbRenderer* renderer;
//   tb_renderer_create(&ctx, replay, tb_default_render_options(), &renderer);
//   tb_renderer_draw(&ctx, renderer, frame, rgb);
//   tb_png_save(&ctx, "frame.png", 1280, 720, rgb);
//   tb_renderer_free(&ctx, renderer);
//
// The same replay and options give the same bytes for any number of threads.
#ifndef TRIBO_RENDER_H
#define TRIBO_RENDER_H

#include "tribo/io.h"

TB_API_BEGIN

enum { TB_RENDER_SIZE = 8192, TB_RENDER_SAMPLES = 4 };

typedef enum tbCameraKind {
  TB_CAMERA_FIT,   // from a little above, so that what moves fills the picture
  TB_CAMERA_ORBIT, // the same, turning slowly about what it looks at
  TB_CAMERA_FIXED, // from `eye`, to `target`
} tbCameraKind;

typedef struct tbRenderOptions {
  int width, height;   // pixels, 16 … TB_RENDER_SIZE
  int samples;         // per pixel and direction, 1 … TB_RENDER_SAMPLES; below 3 light is coarser too
  bool dark;           // the page's colours for the night
  bool contacts;       // discs by state, and arrows: normal forces and friction
  bool overlay;        // scene, time, contacts, iterations, the judge's residual
  int64_t first, last; // frames the camera has to fit; last −1: the last of the replay
  tbCameraKind camera;
  tbVec3 eye, target;
} tbRenderOptions;

tbRenderOptions tb_default_render_options(
    void); // 1280 × 720, 3 × 3 samples, light, contacts and overlay, fit

typedef struct tbRenderer tbRenderer;

// The replay must outlive the renderer, which reads from it.
tbStatus tb_renderer_create(tbContext* ctx, tbReplay* replay, tbRenderOptions options, tbRenderer** out);
void tb_renderer_free(tbContext* ctx, tbRenderer* renderer); // takes null
// rgb: 3 width height bytes, rows from the top. Works on the threads of the context.
tbStatus tb_renderer_draw(tbContext* ctx, tbRenderer* renderer, int64_t frame, unsigned char* rgb);

// What PNG files are compressed with: "zlib 1.2.13", or "tribo" where the build found none.
const char* tb_deflate_name(void);
// An image as PNG, replaced all at once.
tbStatus tb_png_save(tbContext* ctx, const char* path, int width, int height, const unsigned char* rgb);

// Videos, encoded by the ffmpeg command, which is looked for on the PATH: .mp4 (H.264) or .webm (VP9) by the
// path's ending. The file takes its place when the film ends well.
typedef struct tbFilm tbFilm;

bool tb_film_path(const char* path);    // whether it ends in .mp4 or .webm
tbStatus tb_film_check(tbContext* ctx); // TB_ERROR_UNSUPPORTED: no ffmpeg
// Width and height must be even.
tbStatus tb_film_begin(tbContext* ctx, const char* path, int width, int height, double fps, tbFilm** out);
tbStatus tb_film_frame(tbContext* ctx, tbFilm* film, const unsigned char* rgb);
// Frees the film. Keeps the file when `status` is TB_OK and ffmpeg is content, else removes it.
tbStatus tb_film_end(tbContext* ctx, tbFilm* film, tbStatus status);

TB_API_END
#endif
