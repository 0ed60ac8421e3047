-- the store is damaged: its tables are not those of a store
ALTER TABLE change ADD COLUMN why TEXT;
