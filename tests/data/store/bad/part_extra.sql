-- the store is damaged: it has rows that belong to nothing
INSERT INTO links SELECT 99, body FROM links WHERE id = 0;
