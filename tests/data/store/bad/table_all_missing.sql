-- the store is damaged: a table or index is missing
DROP TABLE change; DROP TABLE entity; DROP TABLE links; DROP TABLE meta; DROP TABLE relation;
