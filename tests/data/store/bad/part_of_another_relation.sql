-- the store is damaged: a part of the links belongs elsewhere
UPDATE links SET body = (SELECT body FROM links WHERE id = 2 << 24) WHERE id = 0;
-- seal parts
