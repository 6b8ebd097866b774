-- The room omd asks this one how far its tables and views may be read, and for which entities they
-- stand.

INSERT INTO omd.read_bound (schema_pattern, routine, base_routine)
VALUES
('gdal\_%', 'omd_facts.read_bound', 'omd_facts.stands_for'),
('asof\_%', 'omd_facts.read_bound', 'omd_facts.stands_for'),
('history\_%', 'omd_facts.read_bound', 'omd_facts.stands_for'),
('changes\_%', 'omd_facts.read_bound', 'omd_facts.stands_for'),
('cfl\_%', 'omd_facts.read_bound', 'omd_facts.stands_for')
ON CONFLICT (schema_pattern) DO UPDATE SET
    routine = excluded.routine,
    base_routine = excluded.base_routine;
