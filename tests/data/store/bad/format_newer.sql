-- the store was made by a newer anycq (format 5; this one reads up to 4); upgrade anycq
PRAGMA user_version = 5;
