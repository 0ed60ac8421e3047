-- the store is damaged: an entity's id is out of range
INSERT INTO entity VALUES(6, 'g', entity_checksum(6, 'g', NULL), NULL);
