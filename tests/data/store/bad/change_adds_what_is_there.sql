-- the store is damaged: a change does not fit the links
UPDATE change SET head = 0, tail = 1 WHERE relation = 0;
-- seal changes
