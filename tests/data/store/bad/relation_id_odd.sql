-- the store is damaged: a relation is missing
UPDATE relation SET id = 3 WHERE id = 2;
-- seal rows
