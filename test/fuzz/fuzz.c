// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void* limited_alloc(void* user, size_t size, size_t alignment)
{
  FuzzMemory* memory = user;
  if (memory->taken++ == memory->fail_at) return NULL;
  void* pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (pointer) memory->alive++;
  return pointer;
}

static void limited_free(void* user, void* pointer)
{
  if (pointer) ((FuzzMemory*)user)->alive--;
  free(pointer);
}

tbContext fuzz_context(FuzzMemory* memory)
{
  tbContext ctx = tb_default_context();
  ctx.allocator = (tbAllocator){limited_alloc, limited_free, memory};
  return ctx;
}

tbStatus fuzz_starve(FuzzRead* read, void* user, const uint8_t* bytes, size_t size)
{
  FuzzMemory memory = {.fail_at = -1};
  tbContext ctx = fuzz_context(&memory);
  tbStatus status = read(&ctx, user, bytes, size);
  CHECK(memory.alive == 0);
  uint64_t hash = 14695981039346656037ull; // FNV-1a
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
  memory = (FuzzMemory){.fail_at = (long)(hash % (uint64_t)(memory.taken + 1))};
  tbStatus starved = read(&ctx, user, bytes, size);
  CHECK(starved == (memory.taken > memory.fail_at ? TB_ERROR_MEMORY : status));
  CHECK(memory.alive == 0);
  return status;
}

#ifdef TB_FUZZING

void test_failed(const char* file, int line, const char* format, ...)
{
  fprintf(stderr, "%s:%d: ", file, line);
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\n");
  abort();
}

#else

static bool replay_file(const char* path, FuzzFn* run)
{
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  // The input gets a block of exactly its size, so that the sanitizers see a read beyond it.
  size_t size = 0;
  uint8_t* bytes = NULL;
  if (fseek(file, 0, SEEK_END) == 0) size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(size ? size : 1);
  bool read = bytes && fread(bytes, 1, size, file) == size;
  fclose(file);
  if (read) run(bytes, size);
  free(bytes);
  return read;
}

void fuzz_replay(const char* name, FuzzFn* run)
{
  char folder[1024], path[2048];
  snprintf(folder, sizeof folder, "%s/test/fuzz/corpus/%s", TB_SOURCE_FOLDER, name);
  DIR* listing = opendir(folder);
  if (!listing) {
    test_failed(__FILE__, __LINE__, "no corpus in %s", folder);
    return;
  }
  int count = 0;
  for (const struct dirent* entry; (entry = readdir(listing));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!replay_file(path, run)) test_failed(__FILE__, __LINE__, "cannot read %s", path);
    count++;
  }
  closedir(listing);
  CHECK(count > 0);
}

#endif
