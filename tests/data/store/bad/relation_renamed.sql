-- the store is damaged: a relation does not match its checksum
UPDATE relation SET key = 'dislikes' WHERE id = 0;
