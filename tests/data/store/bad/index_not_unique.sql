-- the store is damaged: its tables are not those of a store
DROP INDEX entity_key; CREATE INDEX entity_key ON entity(key);
