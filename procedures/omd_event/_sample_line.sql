-- A label may hold anything: the format asks for a backslash before three signs, and nothing else.

CREATE OR REPLACE FUNCTION omd_event._sample_line(
    p_sample_name text,
    p_labels jsonb,
    p_value double precision
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        p_sample_name
        || coalesce(
            '{'
            || (
                SELECT
                    string_agg(
                        l.key || '="'
                        || replace(
                            replace(replace(l.value, '\', '\\'), '"', '\"'), chr(10), '\n'
                        )
                        || '"',
                        ',' ORDER BY l.key COLLATE "C"
                    )
                FROM jsonb_each_text(p_labels) AS l
            )
            || '}',
            ''
        )
        || ' '
        || p_value;
END;

COMMENT ON FUNCTION omd_event._sample_line IS
'Returns a series as a line of Prometheus'' text format. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._sample_line FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_event._sample_line TO omd_reader;
