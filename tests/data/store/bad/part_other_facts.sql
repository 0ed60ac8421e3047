-- the store is damaged: the facts are not those it counts
UPDATE links SET body = part(0, 0, '0,1', '2,1', '1,2,3') WHERE id = 0;
UPDATE links SET body = part(1, 0, '1,2,3', '1,1,1', '0,0,1') WHERE id = 1 << 24; UPDATE relation SET inverse_heads = 3 WHERE id = 0;
-- seal parts
