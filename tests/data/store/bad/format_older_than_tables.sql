-- the store is damaged: its tables are not those of a store
PRAGMA user_version = 1;
