-- the store is damaged: a change does not fit the links
UPDATE change SET added = 0 WHERE relation = 0;
-- seal changes
