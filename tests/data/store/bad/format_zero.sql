-- the store is damaged: it has no format version
PRAGMA user_version = 0;
