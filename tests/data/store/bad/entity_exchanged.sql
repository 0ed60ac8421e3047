-- the store is damaged: an entity does not match its checksum
UPDATE entity SET key = 'x' WHERE id = 1; UPDATE entity SET key = 'b' WHERE id = 4; UPDATE entity SET key = 'e' WHERE id = 1;
