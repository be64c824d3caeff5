// SPDX-License-Identifier: Apache-2.0
// Light from a sun of some width and a whole sky, as a sum of directions, each with a map of what it sees
// first.
#ifndef TB_RENDER_LIGHT_H
#define TB_RENDER_LIGHT_H

#include "render/subject.h"

#include "base/threads.h"

enum { TB_LIGHT_TILE = 4 }; // shift of texels to tiles

// Outside of it, and above it, there is light.
typedef struct tbLightBounds {
  float left, right, top, bottom; // texels
  float height;
} tbLightBounds;

typedef struct tbLight {
  tbVec3 direction; // unit, towards the light
  tbVec3 u, v;      // axes of its map, in texels per metre
  double weight;    // of a surface that faces it
  bool sun;
  int size;   // of its map: size × size
  float* map; // height along the direction of what is lit first; −∞: nothing                (size²)
  tbLightBounds* bounds; // of what is drawn on it
  float* tile; // the map in squares of 16 × 16 texels: no texel of it, or beside it, is higher   (tiles²)
  int tiles;
} tbLight;

enum { TB_SUNS = 16, TB_SKIES = 32, TB_LIGHTS = TB_SUNS + TB_SKIES }; // at most

typedef struct tbLighting {
  int suns, lights;         // how many of the sun, and in all
  tbLight light[TB_LIGHTS]; // those of the sun first
  // the same, an axis after the other: towards the light, the map's axes
  float direction[3][TB_LIGHTS], u[3][TB_LIGHTS], v[3][TB_LIGHTS];
  float texel[TB_LIGHTS], middle[TB_LIGHTS]; // m; of the map, in texels
  float jitter[2][TB_LIGHTS];                // where in a texel a light is asked
  tbVec3 toward_sun;
  tbVec3 centre; // of the ball in which shadows fall
  double radius;
  double sun_width; // radius of the sun, rad
  tbVec3 up;
  char* scratch; // for a mesh's corners, one piece per light
  size_t scratch_bytes;
} tbLighting;

// Light on a level surface adds up to 1. suns: 1 … TB_SUNS directions to the sun. pixels: of the picture's
// shorter side. Memory comes from the arena.
tbStatus tb_lighting_create(tbArena* arena, const tbSubject* subject, tbVec3 toward_sun, tbVec3 centre,
                            double radius, int suns, int pixels, tbLighting* out);
void tb_lighting_draw(tbThreads* threads, const tbLighting* lighting, const tbSubject* subject,
                      const tbCut* cut);

typedef struct tbLit {
  double sun, sky;
  double open;  // share of the sky above that is seen
  double glint; // towards the eye
} tbLit;

// Which lights may be in shadow where on a plane: a square of cells around the lighting's centre.
enum { TB_GROUND_CELLS = 64 };
typedef struct tbGround {
  tbVec3 normal, u, v;                             // unit
  float facing[TB_LIGHTS];                         // how much the plane faces a light; below 0: away
  double height;                                   // of the plane above the lighting's centre
  float sun, sky;                                  // what comes without shadows
  tbLit open;                                      // and what that is on it
  uint64_t cell[TB_GROUND_CELLS][TB_GROUND_CELLS]; // bits of lights, along u and along v
} tbGround;

// After tb_lighting_draw. origin: a point of the plane.
void tb_ground_prepare(const tbLighting* lighting, tbVec3 origin, tbVec3 normal, tbVec3 u, tbVec3 v,
                       tbGround* out);
// The bits of the lights that may be in shadow at a place on the plane, given along u and v from the centre.
uint64_t tb_ground_shadows(const tbLighting* lighting, const tbGround* ground, const double at[2]);
// As tb_lighting_sun and tb_lighting_sky say it there, without glint; only those lights are asked.
void tb_ground_sun(const tbLighting* lighting, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out);
void tb_ground_sky(const tbLighting* lighting, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out);

// At a place on a surface: of the sun, seen from `eye` (unit vector to it), and of the sky. Each leaves the
// other's parts of `out` alone.
// jitter: two numbers in 0 … 1 that move with the pixel, so that the directions' shadows run into each other.
void tb_lighting_sun(const tbLighting* lighting, tbVec3 place, tbVec3 normal, tbVec3 eye,
                     const double jitter[2], tbLit* out);
void tb_lighting_sky(const tbLighting* lighting, tbVec3 place, tbVec3 normal, const double jitter[2],
                     tbLit* out);

#endif
