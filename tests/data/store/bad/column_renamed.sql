-- the store is damaged: its tables are not those of a store
ALTER TABLE entity RENAME COLUMN key TO name;
