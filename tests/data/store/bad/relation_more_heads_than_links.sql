-- the store is damaged: a relation counts more rows than links
UPDATE relation SET heads = 4 WHERE id = 0;
-- seal rows
