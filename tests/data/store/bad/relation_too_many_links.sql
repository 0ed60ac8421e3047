-- the store is damaged: a relation counts more links than the file can hold
UPDATE relation SET links = 4000000000 WHERE id = 0;
-- seal rows
