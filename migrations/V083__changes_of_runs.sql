-- V083: facts: the changes of a run are found at once. Applied once.

CREATE INDEX ix_change_run ON omd_facts.change (module_instance_id)
WHERE module_instance_id IS NOT NULL;
CREATE INDEX ix_gdal_delivery_run ON omd_facts.gdal_delivery (module_instance_id);
