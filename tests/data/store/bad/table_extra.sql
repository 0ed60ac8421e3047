-- the store is damaged: its tables are not those of a store
CREATE TABLE zebra(x);
