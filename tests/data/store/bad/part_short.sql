-- the store is damaged: a part of the links has the wrong length
UPDATE links SET body = substr(body, 1, length(body) - 4) WHERE id = 0;
