// SPDX-License-Identifier: Apache-2.0
// The scene format for other programs and for people, from its table.
#ifndef TB_IO_SCENE_SCHEMA_H
#define TB_IO_SCENE_SCHEMA_H

#include "io/scene/format.h"
#include "tribo/check.h"

enum { TB_MAX_RECORDS = 64 };

typedef struct tbRecordList {
  const tbRecord* record[TB_MAX_RECORDS];
  int count;
} tbRecordList;

// Every record the table leads to, in order of first mention; variants are part of their record.
void tb_record_collect(const tbRecord* record, tbRecordList* all);

#endif
