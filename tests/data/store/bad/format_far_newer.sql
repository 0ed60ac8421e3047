-- the store was made by a newer anycq (format 2147483647; this one reads up to 4); upgrade anycq
PRAGMA user_version = 2147483647;
