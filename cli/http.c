// SPDX-License-Identifier: Apache-2.0
// Reading requests and writing the heads of answers (RFC 9112), strictly: what is not plainly right is
// refused.
#include "cli/http.h"

#include <string.h>
#include <strings.h>

typedef struct {
  const char* at;
  size_t length;
} Text;

static bool is(Text t, const char* word)
{
  return strlen(word) == t.length && memcmp(t.at, word, t.length) == 0;
}

static bool is_any_case(Text t, const char* word)
{
  return strlen(word) == t.length && strncasecmp(t.at, word, t.length) == 0;
}

// What stands before the first `end`, which is skipped; all of the rest when there is none.
static Text cut(Text* rest, const char* end)
{
  const char* found = memmem(rest->at, rest->length, end, strlen(end));
  Text part = {rest->at, found ? (size_t)(found - rest->at) : rest->length};
  size_t skip = found ? part.length + strlen(end) : rest->length;
  rest->at += skip;
  rest->length -= skip;
  return part;
}

static Text trim(Text t)
{
  while (t.length && (*t.at == ' ' || *t.at == '\t')) t.at++, t.length--;
  while (t.length && (t.at[t.length - 1] == ' ' || t.at[t.length - 1] == '\t')) t.length--;
  return t;
}

// prefix + 127.0.0.1:port or localhost:port. Browsers leave out port 80.
static bool names_us(Text t, const char* prefix, int port)
{
  static const char* const host[] = {"127.0.0.1", "localhost"};
  for (int i = 0; i < 2; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s%s:%d", prefix, host[i], port);
    if (is_any_case(t, text)) return true;
    if (port == 80) text[strlen(text) - 3] = 0;
    if (port == 80 && is_any_case(t, text)) return true;
  }
  return false;
}

// "GET /path?query HTTP/1.1"
static int parse_line(Text line, HttpRequest* out)
{
  Text method = cut(&line, " "), target = cut(&line, " ");
  if (!is(line, "HTTP/1.1") && !is(line, "HTTP/1.0")) return 400;
  if (!is(method, "GET") && !is(method, "HEAD")) return 405;
  out->head = is(method, "HEAD");
  Text path = cut(&target, "?");
  if (!path.length || path.at[0] != '/') return 400;
  if (path.length >= sizeof out->path) return 414;
  memcpy(out->path, path.at, path.length);
  out->path[path.length] = 0;
  return 200;
}

static bool is_text(Text t)
{
  for (size_t i = 0; i < t.length; i++)
    if (((unsigned char)t.at[i] < ' ' && t.at[i] != '\t') || t.at[i] == 0x7f) return false;
  return true;
}

int http_parse(const char* bytes, size_t length, int port, HttpRequest* out)
{
  const char* end = memmem(bytes, length, "\r\n\r\n", 4);
  if (!end) return length >= HTTP_HEAD ? 431 : 0;
  Text rest = {bytes, (size_t)(end - bytes)}, line = cut(&rest, "\r\n");
  *out = (HttpRequest){0};
  int hosts = 0, status = is_text(line) ? parse_line(line, out) : 400;
  bool ours = true;
  while (rest.length) {
    line = cut(&rest, "\r\n");
    Text name = cut(&line, ":"), value = trim(line);
    if (!name.length || name.at[0] == ' ' || !is_text(name) || !is_text(value)) return 400;
    if (is_any_case(name, "Host")) {
      hosts++;
      ours &= names_us(value, "", port);
    } else if (is_any_case(name, "Origin")) ours &= names_us(value, "http://", port);
  }
  return hosts != 1 ? 400 : !ours ? 403 : status;
}

const char* http_reason(int status)
{
  switch (status) {
  case 200: return "OK";
  case 403: return "Forbidden";
  case 404: return "Not Found";
  case 405: return "Method Not Allowed";
  case 414: return "URI Too Long";
  case 431: return "Request Header Fields Too Large";
  default: return "Bad Request";
  }
}

// Opener and embedder policies give the page shared memory, for threads. The content policy keeps the page
// from the network: it may start workers and wasm of its own, and ask this server.
size_t http_answer(char* out, int status, const char* type, uint64_t length)
{
  int n =
      snprintf(out, HTTP_HEAD,
               "HTTP/1.1 %d %s\r\n%s"
               "Content-Type: %s\r\nContent-Length: %llu\r\nConnection: close\r\nCache-Control: no-store\r\n"
               "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n"
               "Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n"
               "Referrer-Policy: no-referrer\r\n"
               "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' "
               "blob: data:; worker-src blob: data:; style-src 'unsafe-inline'; img-src blob: data:; "
               "connect-src 'self' blob: data:; font-src data:; base-uri 'none'; form-action 'none'; "
               "frame-ancestors 'none'\r\n\r\n",
               status, http_reason(status), status == 405 ? "Allow: GET, HEAD\r\n" : "", type,
               (unsigned long long)length);
  return (size_t)n;
}
