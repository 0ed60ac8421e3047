-- the store is damaged: a relation counts more changes than the file can hold
UPDATE relation SET changes = 1000000000000 WHERE id = 0;
-- seal rows
