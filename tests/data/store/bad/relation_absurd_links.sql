-- the store is damaged: a relation counts more links than the file can hold
UPDATE relation SET links = -1 WHERE id = 0;
-- seal rows
