-- the store is damaged: an entity does not match its checksum
UPDATE entity SET checksum = 'none' WHERE id = 4;
