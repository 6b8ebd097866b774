-- phase: contract
-- V163: begins of one Module, or of one Batch, wait for each other at its row. Applied once.

DROP INDEX IF EXISTS omd.uq_module_instance_proceeding;
DROP INDEX IF EXISTS omd.uq_batch_instance_proceeding;
