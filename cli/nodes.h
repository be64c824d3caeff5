// The nodes of deformable bodies while a run goes on, for whoever replays it.
//
// nodes.obj holds where all of them are at the start, a group of surface triangles per body; nodes.pc2 a
// frame of the same points for the start and for every step, as a point cache (PC2, version 1): 32 bytes of
// header, then x, y, z in single precision, little-endian.
#ifndef TB_CLI_NODES_H
#define TB_CLI_NODES_H

#include "cli/stream.h"
#include "tribo/scene.h"

int64_t nodes_count(const tbWorld* world); // of all its deformable bodies

void nodes_surface(tbOut* out, const tbWorld* world);
void nodes_header(tbOut* out, const tbWorld* world);
void nodes_frame(tbOut* out, const tbWorld* world);
// How many frames there are is known at the end, and stands in the header.
tbStatus nodes_finish(tbContext* ctx, Stream* stream, int64_t frames);

#endif
