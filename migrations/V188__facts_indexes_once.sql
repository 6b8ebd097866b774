-- phase: expand
-- V188: facts: two indexes that others are equal to go. Applied once.

DROP INDEX IF EXISTS omd_facts.ix_gdal_delivery_instance;
DROP INDEX IF EXISTS omd_facts.ix_change_instance;
