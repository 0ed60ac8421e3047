-- the store is damaged: an entity is missing
UPDATE meta SET value = value + 1 WHERE name = 'labels';
-- seal rows
