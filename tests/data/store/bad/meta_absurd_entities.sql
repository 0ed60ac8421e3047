-- the store is damaged: it counts more entities than the file can hold
UPDATE meta SET value = 4000000000 WHERE name = 'entities';
-- seal rows
