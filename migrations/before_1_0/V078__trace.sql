-- V078: facts: the change that a run has made is found by the run. Applied once.

CREATE INDEX ix_change_instance ON omd_facts.change (module_instance_id)
WHERE module_instance_id IS NOT NULL;
