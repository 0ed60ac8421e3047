-- the store is damaged: a change is out of range
INSERT INTO change VALUES(0, 5, 5, 1);
