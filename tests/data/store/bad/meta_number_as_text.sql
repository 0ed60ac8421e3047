-- the store is damaged: a value in meta has the wrong type
UPDATE meta SET value = 'six' WHERE name = 'entities';
