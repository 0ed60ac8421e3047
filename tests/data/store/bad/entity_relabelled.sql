-- the store is damaged: an entity does not match its checksum
UPDATE entity SET label = 'Eve' WHERE id = 4;
