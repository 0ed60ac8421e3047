-- the store is damaged: a part of the links has the wrong length
UPDATE links SET body = part(0, 0, '0,1,2,3', '1,1,1,1', '1,2,2') WHERE id = 0;
-- seal parts
