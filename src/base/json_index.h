// SPDX-License-Identifier: Apache-2.0
// Members by key. Objects of more than a few members carry their members' order by key, as uint32_t right
// behind the items; smaller ones are searched one by one.
#ifndef TB_BASE_JSON_INDEX_H
#define TB_BASE_JSON_INDEX_H

#include "base/json.h"

size_t tb_json_index_bytes(size_t count);

// Fills the index and looks for a key that occurs twice: *again is the earliest member whose key occurs
// before, *before the one it repeats; both null when there is none.
tbStatus tb_json_index_keys(tbContext* ctx, const tbJson* object, void* index, const tbJson** again,
                            const tbJson** before);

#endif
