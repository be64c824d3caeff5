// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t asked; // by SIGINT or SIGTERM; solvers look at it every iteration

static void on_signal(int number)
{
  (void)number;
  asked = 1;
}

void interrupt_watch(void)
{
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool interrupted(void* unused)
{
  (void)unused;
  return asked;
}
