-- the store is damaged: the changes of a relation do not match their sum
UPDATE change SET added = 0 WHERE relation = 0;
