-- the store is damaged: the relations do not match their checksum
DELETE FROM relation WHERE id = 2;
