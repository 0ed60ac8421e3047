-- the store is damaged: an entity does not match its checksum
UPDATE entity SET key = 'z' WHERE id = 4;
