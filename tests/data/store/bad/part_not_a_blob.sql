-- the store is damaged: a part of the links is missing
UPDATE links SET body = 12 WHERE id = 0;
