-- the store is damaged: a name is not text
UPDATE entity SET key = x'65' WHERE id = 4;
