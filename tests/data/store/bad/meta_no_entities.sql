-- the store is damaged: a head is out of range
UPDATE meta SET value = 0 WHERE name = 'entities';
-- seal rows
