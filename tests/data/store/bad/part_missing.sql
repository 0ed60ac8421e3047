-- the store is damaged: a part of the links is missing
DELETE FROM links WHERE id = 0;
