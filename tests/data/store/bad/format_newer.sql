-- the store was made by a newer anycq (format 3; this one reads up to 2); upgrade anycq
PRAGMA user_version = 3;
