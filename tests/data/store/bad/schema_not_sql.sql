-- the store is damaged: 
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'links';
