// SPDX-License-Identifier: Apache-2.0
// The little of HTTP that `tribo view` speaks: GET and HEAD, one request for each connection.
#ifndef TB_CLI_HTTP_H
#define TB_CLI_HTTP_H

#include "cli/out.h"

#include <stdint.h>

enum { HTTP_HEAD = 8192, HTTP_PATH = 256 };

typedef struct {
  bool head;            // wants no body
  char path[HTTP_PATH]; // from the slash on, without a query; as sent, nothing decoded
} HttpRequest;

// Reads the head of a request: 0 while it is not complete, 200, or the status it must be refused with. Only
// who calls the server 127.0.0.1 or localhost, with its port, is answered, and no page of another origin:
// a name that another site makes point here (DNS rebinding) is refused.
int http_parse(const char* bytes, size_t length, int port, HttpRequest* out);

// The head of an answer into `out`, which holds HTTP_HEAD bytes. Its length.
size_t http_answer(char* out, int status, const char* type, uint64_t length);
const char* http_reason(int status);

#endif
