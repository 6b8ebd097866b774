-- phase: contract
-- V195: who looks for open runs uses ix_module_instance_executing and ix_module_instance_waiting,
-- whose union ix_module_instance_open was. Applied once.

DROP INDEX IF EXISTS omd.ix_module_instance_open;
