// SPDX-License-Identifier: Apache-2.0
// What a measurement was made with.
#ifndef TB_CLI_MACHINE_H
#define TB_CLI_MACHINE_H

enum { MACHINE_TEXT = 160 };

const char* machine_compiler(void);              // "gcc 12.2.0"
const char* machine_commit(void);                // of the sources, "-dirty" if changed since; or "unknown"
void machine_processor(char text[MACHINE_TEXT]); // its model where the system tells, else its architecture
void machine_system(char text[MACHINE_TEXT]);    // "Linux 6.1.0, x86_64"

#endif
