-- the store is damaged: the changes of a relation do not match their sum
DELETE FROM change WHERE relation = 0;
