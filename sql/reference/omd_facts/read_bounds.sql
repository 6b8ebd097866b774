-- The room omd asks this one how far its tables and views may be read.

INSERT INTO omd.read_bound (schema_pattern, routine)
VALUES
('gdal\_%', 'omd_facts.read_bound'),
('asof\_%', 'omd_facts.read_bound'),
('history\_%', 'omd_facts.read_bound'),
('changes\_%', 'omd_facts.read_bound'),
('cfl\_%', 'omd_facts.read_bound')
ON CONFLICT (schema_pattern) DO UPDATE SET routine = excluded.routine;
