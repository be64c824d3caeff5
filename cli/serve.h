// SPDX-License-Identifier: Apache-2.0
// A server for one person on this machine: a short list of things, on loopback only.
#ifndef TB_CLI_SERVE_H
#define TB_CLI_SERVE_H

#include "tribo/tools/status.h"

#include <stddef.h>

// What a path gives. Nothing else is ever opened: a request only chooses from the list.
typedef struct {
  const char *path, *type;
  const char* file; // read anew for each request; null: `bytes` it is
  const char* bytes;
  size_t length;
} ServeItem;

// Listens on 127.0.0.1; port 0 takes a free one. *out is a socket for serve_run.
tbStatus serve_listen(tbContext* ctx, int* port, int* out);
// Answers until interrupted() (interrupt_watch before), then closes the socket.
tbStatus serve_run(tbContext* ctx, int listener, int port, const ServeItem* items, int count);

#endif
