-- the store is damaged: it has an odd number of relation ids
UPDATE meta SET value = 3 WHERE name = 'relations';
-- seal rows
