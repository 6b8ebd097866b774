-- What is read is a table, and what moves is its source. A table that several Modules write has
-- several.

CREATE OR REPLACE VIEW omd.source_position AS
SELECT
    t.table_code,
    s.source_code,
    s.source_kind_code,
    s.pos,
    s.id,
    s.former_pos,
    s.former_id,
    coalesce(s.closed_until > now(), FALSE) AS is_closed
FROM omd.source_table AS t
INNER JOIN omd.source AS s ON t.source_code = s.source_code;

COMMENT ON VIEW omd.source_position IS
'For rooms: the tables and views that are read by positions, and up to where each has come.';
COMMENT ON COLUMN omd.source_position.table_code IS 'The table or view, schema.name.';
COMMENT ON COLUMN omd.source_position.source_code IS 'The source that its rows come from.';
COMMENT ON COLUMN omd.source_position.source_kind_code IS 'FACTS, LAKE or RUNS.';
COMMENT ON COLUMN omd.source_position.pos IS
'The newest position: the time of the newest change, commit or run; -infinity: there is none.';
COMMENT ON COLUMN omd.source_position.id IS 'The number of that change, commit or run.';
COMMENT ON COLUMN omd.source_position.former_pos IS 'The position before the newest one.';
COMMENT ON COLUMN omd.source_position.former_id IS 'The number of that one.';
COMMENT ON COLUMN omd.source_position.is_closed IS
'TRUE: no run begins to read it now, since rows of it are being taken back.';
