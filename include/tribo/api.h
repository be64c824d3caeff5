// SPDX-License-Identifier: Apache-2.0
// What stands around the declarations of every public header: they are C, also for C++, and they are all that
// a shared library of Tribo shows. Everything else in it is hidden (-fvisibility=hidden).
#ifndef TRIBO_API_H
#define TRIBO_API_H

#if defined(__GNUC__)
#define TB_VISIBLE_BEGIN _Pragma("GCC visibility push(default)")
#define TB_VISIBLE_END   _Pragma("GCC visibility pop")
#else
#define TB_VISIBLE_BEGIN
#define TB_VISIBLE_END
#endif

#ifdef __cplusplus
#define TB_API_BEGIN \
  extern "C" {       \
  TB_VISIBLE_BEGIN
#define TB_API_END \
  TB_VISIBLE_END   \
  }
#else
#define TB_API_BEGIN TB_VISIBLE_BEGIN
#define TB_API_END   TB_VISIBLE_END
#endif

#endif
