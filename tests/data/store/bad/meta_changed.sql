-- the store is damaged: meta does not match its checksum
UPDATE meta SET value = value + 1 WHERE name = 'entities';
