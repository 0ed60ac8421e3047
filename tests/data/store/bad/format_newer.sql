-- the store was made by a newer anycq (format 4; this one reads up to 3); upgrade anycq
PRAGMA user_version = 4;
