-- the store is damaged: its relations have more or fewer changes than it counts
UPDATE meta SET value = value + 1 WHERE name = 'changes';
-- seal rows
