-- the store is damaged: a value in meta has the wrong type
UPDATE meta SET value = hex(zeroblob(400)) WHERE name = 'sources';
