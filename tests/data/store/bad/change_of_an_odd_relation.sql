-- the store is damaged: it has rows that belong to nothing
INSERT INTO change VALUES(1, 1, 1, 1);
