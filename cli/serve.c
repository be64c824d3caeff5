// SPDX-License-Identifier: Apache-2.0
// One loop around ppoll. A client reads its request, writes its answer and lingers until the other side has
// read it; every state has a deadline, so that a client that sends or reads slowly, or nothing, holds a place
// for a while and does not hold up the others. Memory is fixed: when all places are taken, the connection
// nearest to its deadline makes room.
#include "cli/serve.h"
#include "tribo/tools/clock.h"
#include "tribo/tools/memory.h"
#include "cli/http.h"
#include "cli/interrupt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLIENTS = 32, CHUNK = 1 << 16, TURN = 16 }; // TURN: chunks before the others have theirs
static const double READ_S = 5, WRITE_S = 15, LINGER_S = 2;

typedef enum { FREE, READING, WRITING, LINGERING } State;

typedef struct {
  State state;
  int socket, file; // file: −1, or what `rest` bytes are still to come from
  double deadline;
  size_t received;
  const char *out, *body; // what is being sent, and what in memory comes after it
  size_t left, body_left;
  uint64_t rest;
  char head[HTTP_HEAD], buffer[CHUNK];
} Client;

typedef struct {
  int listener, port;
  const ServeItem* items;
  int count;
  Client client[CLIENTS];
} Server;

static void drop(Client* c)
{
  if (c->state == FREE) return;
  close(c->socket);
  if (c->file >= 0) close(c->file);
  c->state = FREE;
}

static void enter(Client* c, State state, double seconds)
{
  c->state = state;
  c->deadline = tb_seconds() + seconds;
}

// Answers.

static void refuse(Client* c, int status)
{
  char line[64];
  int length = snprintf(line, sizeof line, "%d %s\n", status, http_reason(status));
  size_t head = http_answer(c->buffer, status, "text/plain; charset=utf-8", (uint64_t)length);
  memcpy(c->buffer + head, line, (size_t)length);
  c->left = head + (size_t)length;
}

static bool open_file(Client* c, const char* path)
{
  struct stat info;
  c->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (c->file < 0) return false;
  if (fstat(c->file, &info) == 0 && S_ISREG(info.st_mode)) {
    c->rest = (uint64_t)info.st_size;
    return true;
  }
  close(c->file);
  c->file = -1;
  return false;
}

static const ServeItem* find(const Server* s, const char* path)
{
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->items[i].path, path) == 0) return &s->items[i];
  return NULL;
}

static void answer(Client* c, const Server* s, int status, const HttpRequest* request)
{
  const ServeItem* item = status == 200 ? find(s, request->path) : NULL;
  c->out = c->buffer;
  if (status == 200 && (!item || (item->file && !open_file(c, item->file)))) status = 404;
  if (status != 200) refuse(c, status);
  else {
    c->left = http_answer(c->buffer, 200, item->type, item->file ? c->rest : item->length);
    if (!item->file) c->body = item->bytes, c->body_left = item->length;
    if (request->head) c->body_left = 0, c->rest = 0;
  }
  enter(c, WRITING, WRITE_S);
}

// Turns of a client. Each does what it can without waiting.

static void read_request(Client* c, const Server* s)
{
  ssize_t got = recv(c->socket, c->head + c->received, sizeof c->head - c->received, 0);
  if (got <= 0) {
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) drop(c);
    return;
  }
  c->received += (size_t)got;
  HttpRequest request;
  int status = http_parse(c->head, c->received, s->port, &request);
  if (status) answer(c, s, status, &request);
}

// What to send next: the body, or a piece of the file. False when a file ends before its time.
static bool refill(Client* c)
{
  if (c->body_left) {
    c->out = c->body;
    c->left = c->body_left;
    c->body_left = 0;
  } else if (c->rest) {
    ssize_t got = read(c->file, c->buffer, c->rest < CHUNK ? (size_t)c->rest : CHUNK);
    if (got <= 0) return false;
    c->out = c->buffer;
    c->left = (size_t)got;
    c->rest -= (uint64_t)got;
  }
  return true;
}

static void write_answer(Client* c)
{
  for (int turn = 0; turn < TURN; turn++) {
    if (!c->left && !refill(c)) return drop(c);
    if (!c->left) {
      shutdown(c->socket, SHUT_WR);
      return enter(c, LINGERING, LINGER_S);
    }
    ssize_t sent = send(c->socket, c->out, c->left < CHUNK ? c->left : CHUNK, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN && errno != EINTR) drop(c);
      return;
    }
    c->out += sent;
    c->left -= (size_t)sent;
    c->deadline = tb_seconds() + WRITE_S;
  }
}

// Closing with unread bytes would make the kernel take back what was sent.
static void linger(Client* c)
{
  ssize_t got = recv(c->socket, c->head, sizeof c->head, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) drop(c);
}

// The loop.

static Client* make_room(Server* s)
{
  Client* next = &s->client[0];
  for (Client* c = s->client; c < s->client + CLIENTS; c++) {
    if (c->state == FREE) return c;
    if (c->deadline < next->deadline) next = c;
  }
  drop(next);
  return next;
}

static void accept_client(Server* s)
{
  int socket = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
      for (int i = 0; i < CLIENTS; i++) drop(&s->client[i]);
    return;
  }
  Client* c = make_room(s);
  c->socket = socket;
  c->file = -1;
  c->received = c->left = c->body_left = 0;
  c->rest = 0;
  enter(c, READING, READ_S);
}

static void turn(Client* c, const Server* s)
{
  if (c->state == READING) read_request(c, s);
  else if (c->state == WRITING) write_answer(c);
  else linger(c);
}

// Waits for something to do, until the next deadline. The first entry is the listener's, then one per client.
static int wait_for(Server* s, struct pollfd waits[CLIENTS + 1], const sigset_t* mask)
{
  double now = tb_seconds(), until = now + 60;
  waits[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
  for (int i = 0; i < CLIENTS; i++) {
    Client* c = &s->client[i];
    if (c->state != FREE && c->deadline <= now) drop(c);
    waits[i + 1] = (struct pollfd){.fd = c->state == FREE ? -1 : c->socket,
                                   .events = c->state == WRITING ? POLLOUT : POLLIN};
    if (c->state != FREE && c->deadline < until) until = c->deadline;
  }
  double left = until - now;
  struct timespec time = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
  return ppoll(waits, CLIENTS + 1, &time, mask);
}

// Signals are let in only while it waits: none can slip in between the question and the wait.
static tbStatus loop(tbContext* ctx, Server* s)
{
  sigset_t ends, mask;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, &mask);
  tbStatus status = TB_OK;
  while (status == TB_OK && !interrupted(NULL)) {
    struct pollfd waits[CLIENTS + 1];
    int ready = wait_for(s, waits, &mask);
    if (ready < 0 && errno != EINTR)
      status = tb_fail(ctx, TB_ERROR_IO, "cannot wait for the browser: %s", strerror(errno));
    for (int i = 0; i < CLIENTS && ready > 0; i++)
      if (waits[i + 1].fd >= 0 && waits[i + 1].revents) turn(&s->client[i], s);
    if (ready > 0 && waits[0].revents) accept_client(s);
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  return status;
}

tbStatus serve_run(tbContext* ctx, int listener, int port, const ServeItem* items, int count)
{
  Server* s = TB_NEW(ctx, Server, 1);
  tbStatus status = TB_ERROR_MEMORY;
  if (s) {
    s->listener = listener;
    s->port = port;
    s->items = items;
    s->count = count;
    status = loop(ctx, s);
    for (int i = 0; i < CLIENTS; i++) drop(&s->client[i]);
  }
  tb_free(ctx, s);
  close(listener);
  return status;
}

tbStatus serve_listen(tbContext* ctx, int* port, int* out)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
  bool good = listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
              bind(listener, (struct sockaddr*)&address, size) == 0 && listen(listener, CLIENTS) == 0 &&
              getsockname(listener, (struct sockaddr*)&address, &size) == 0;
  if (!good) {
    tb_fail(ctx, TB_ERROR_IO, "cannot listen on 127.0.0.1:%d: %s", *port, strerror(errno));
    if (listener >= 0) close(listener);
    return TB_ERROR_IO;
  }
  *port = ntohs(address.sin_port);
  *out = listener;
  return TB_OK;
}
