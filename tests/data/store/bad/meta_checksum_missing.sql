-- the store is damaged: meta does not match its checksum
DELETE FROM meta WHERE name = 'checksum';
