-- the store is damaged: a part of the links is cut off
UPDATE links SET body = x'' WHERE id = 0;
