-- the store is damaged: two relations have the same name
UPDATE relation SET inverse_key = 'knows' WHERE id = 0;
-- seal rows
