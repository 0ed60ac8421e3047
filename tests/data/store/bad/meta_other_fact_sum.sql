-- the store is damaged: the facts are not those it counts
UPDATE meta SET value = value + 1 WHERE name = 'fact_sum';
-- seal rows
