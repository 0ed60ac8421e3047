-- the store is damaged: a change is out of range
UPDATE change SET head = 6 WHERE relation = 0;
-- seal changes
