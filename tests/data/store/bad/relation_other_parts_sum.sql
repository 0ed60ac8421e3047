-- the store is damaged: the links of a relation are not those it counts
UPDATE relation SET parts_sum = parts_sum + 1 WHERE id = 0;
-- seal rows
