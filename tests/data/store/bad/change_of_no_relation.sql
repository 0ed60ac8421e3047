-- the store is damaged: it has rows that belong to nothing
INSERT INTO change VALUES(8, 1, 1, 1);
