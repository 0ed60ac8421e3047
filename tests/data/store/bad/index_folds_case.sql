-- the store is damaged: its tables are not those of a store
DROP INDEX entity_key; CREATE UNIQUE INDEX entity_key ON entity(key COLLATE NOCASE);
