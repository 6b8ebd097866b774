-- The kinds of sources. The rooms that make them enter their hooks.

INSERT INTO omd.source_kind (source_kind_code)
VALUES
('FACTS'),
('LAKE'),
('RUNS')
ON CONFLICT (source_kind_code) DO NOTHING;
