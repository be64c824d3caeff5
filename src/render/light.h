// SPDX-License-Identifier: Apache-2.0
// Light from a sun of some width and a whole sky, as a sum of directions, each with a map of what it sees
// first.
#ifndef TB_RENDER_LIGHT_H
#define TB_RENDER_LIGHT_H

#include "render/subject.h"

#include "base/threads.h"

enum { TB_LIGHT_TILE = 4 }; // shift of texels to tiles

// Around all that is drawn.
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

// Of numbers, without a call.
static inline float tb_light_larger(float a, float b) { return a > b ? a : b; }
static inline float tb_light_smaller(float a, float b) { return a < b ? a : b; }

// The tile of a coordinate in texels.
static inline int tb_light_tile(const tbLight* l, float x)
{
  int at = (int)tb_light_smaller(tb_light_larger(x, 0), (float)(l->size - 1));
  return at >> TB_LIGHT_TILE;
}

// At most; with fewer suns there are fewer skies, too. All are multiples of eight.
enum { TB_SUNS = 16, TB_SKIES = 32, TB_DRAFT_SKIES = 24, TB_LIGHTS = TB_SUNS + TB_SKIES };

// A vertex as a light sees it.
typedef struct tbLightCorner {
  float x, y, z;   // texels, and height along the direction
  int32_t grid[2]; // x and y in units of the raster
} tbLightCorner;

// Where maps have something, an array for each side: outside of it, and above it, there is light.
typedef struct tbLightBox {
  float left[TB_LIGHTS], right[TB_LIGHTS], top[TB_LIGHTS], bottom[TB_LIGHTS]; // texels, within the map
  float height[TB_LIGHTS];
} tbLightBox;

typedef struct tbLighting {
  int suns, lights;         // how many of the sun, and in all
  tbLight light[TB_LIGHTS]; // those of the sun first
  // the same, an axis after the other: towards the light, the map's axes
  float direction[3][TB_LIGHTS], u[3][TB_LIGHTS], v[3][TB_LIGHTS];
  float texel[TB_LIGHTS], middle[TB_LIGHTS]; // m; of the map, in texels
  float jitter[2][TB_LIGHTS];                // where in a texel a light is asked
  tbLightBox* box;                           // what the maps' bounds are, after drawing
  tbVec3 toward_sun;
  tbVec3 centre; // of the ball in which shadows fall
  double radius;
  double sun_width; // radius of the sun, rad
  tbVec3 up;
  tbLightCorner* corner; // workspace for a mesh's corners, max_vertex of each light
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

typedef enum tbSunSeen { TB_SUN_HIDDEN, TB_SUN_OPEN, TB_SUN_PART } tbSunSeen;

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
tbSunSeen tb_ground_seen_sun(const tbLighting* lighting, const tbGround* ground, uint64_t shadows,
                             double at[4][2], const double jitter[2]);
void tb_ground_sky(const tbLighting* lighting, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out);

// At a place on a surface: of the sun, seen from `eye` (unit vector to it), and of the sky. Each leaves the
// other's parts of `out` alone.
// jitter: two numbers in 0 … 1 that move with the pixel, so that the directions' shadows run into each other.
void tb_lighting_sun(const tbLighting* lighting, tbVec3 place, tbVec3 normal, tbVec3 eye,
                     const double jitter[2], tbLit* out);
// What comes of the sun where nothing hides it.
void tb_lighting_open_sun(const tbLighting* lighting, tbVec3 normal, tbVec3 eye, tbLit* out);
// Of four places close to each other: whether they see all of the sun, nothing of it, or some may see a part.
// Directions take turns at the places, so that it costs as much as one.
tbSunSeen tb_lighting_seen_sun(const tbLighting* lighting, const tbVec3 place[4], tbVec3 normal,
                               const double jitter[2]);
void tb_lighting_sky(const tbLighting* lighting, tbVec3 place, tbVec3 normal, const double jitter[2],
                     tbLit* out);

#endif
