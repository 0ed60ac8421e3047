-- the store is damaged: a relation is missing
DELETE FROM relation WHERE id = 0;
-- seal rows
