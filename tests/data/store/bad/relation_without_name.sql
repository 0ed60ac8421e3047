-- the store is damaged: a relation has no name
UPDATE relation SET key = NULL WHERE id = 0;
-- seal rows
