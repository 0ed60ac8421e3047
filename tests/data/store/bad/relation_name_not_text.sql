-- the store is damaged: a name is not text
UPDATE relation SET key = x'414243' WHERE id = 0;
