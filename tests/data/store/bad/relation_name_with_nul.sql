-- the store is damaged: a relation's name is not valid
UPDATE relation SET key = CAST(x'610062' AS TEXT) WHERE id = 0;
-- seal rows
