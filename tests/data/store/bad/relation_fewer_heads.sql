-- the store is damaged: a relation has more links than it counts
UPDATE relation SET heads = 1 WHERE id = 0;
-- seal rows
