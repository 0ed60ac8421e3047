-- the store is damaged: the changes of a relation do not match their sum
UPDATE change SET tail = 2 WHERE relation = 0;
