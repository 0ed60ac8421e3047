-- the store is damaged: an entity is missing
DELETE FROM entity WHERE id = 5;
