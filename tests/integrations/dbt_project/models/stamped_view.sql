SELECT 1 AS one, {{ omd.module_instance_id() }} AS omd_insert_module_instance_id
