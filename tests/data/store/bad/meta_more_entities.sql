-- the store is damaged: an entity is missing
UPDATE meta SET value = 7 WHERE name = 'entities';
-- seal rows
