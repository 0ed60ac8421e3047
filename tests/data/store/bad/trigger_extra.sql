-- the store is damaged: its tables are not those of a store
CREATE TRIGGER surprise AFTER INSERT ON entity BEGIN DELETE FROM meta; END;
