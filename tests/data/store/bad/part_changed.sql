-- the store is damaged: a part of the links does not match its checksum
UPDATE links SET body = substr(body, 1, length(body) - 4) || x'03000000' WHERE id = 0;
