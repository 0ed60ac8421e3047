-- the store is damaged: a part of the links has the wrong length
UPDATE links SET body = body || x'00000000' WHERE id = 0;
