-- the store is damaged: a part of the links is cut off
UPDATE links SET body = substr(body, 1, 20) WHERE id = 0;
