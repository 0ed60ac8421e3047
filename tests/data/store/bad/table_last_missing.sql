-- the store is damaged: a table or index is missing
DROP TABLE relation;
