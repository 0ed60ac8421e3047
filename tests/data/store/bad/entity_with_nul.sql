-- the store is damaged: a name holds a NUL byte
UPDATE entity SET key = CAST(x'610062' AS TEXT), checksum = entity_checksum(4, CAST(x'610062' AS TEXT), NULL) WHERE id = 4;
