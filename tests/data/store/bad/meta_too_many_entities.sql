-- the store is damaged: it counts too many names
UPDATE meta SET value = 4294967295 WHERE name = 'entities';
-- seal rows
