-- The kinds of sources. The rooms that make them enter their routines.

INSERT INTO omd.source_kind (source_kind_code)
VALUES
('FACTS'),
('LAKE'),
('RUNS')
ON CONFLICT (source_kind_code) DO NOTHING;

UPDATE omd.source_kind AS k SET next_routine = 'omd.next_run'
WHERE k.source_kind_code = 'RUNS' AND k.next_routine IS DISTINCT FROM 'omd.next_run';
