-- the store is damaged: two relations have the same name
UPDATE relation SET key = 'likes' WHERE id = 2;
-- seal rows
