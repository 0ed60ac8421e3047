-- this is an SQLite database, but not an anycq store
PRAGMA application_id = 1234;
