-- Of a table that our Modules write the runs are known: a window in which none of them has ended
-- has no rows yet that the next one would not have. Of another table nobody knows.

CREATE OR REPLACE FUNCTION omd_decision._may_have_rows(
    p_definition jsonb,
    p_start_value timestamptz,
    p_end_value timestamptz
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $may_have_rows$
BEGIN
    RETURN (
        SELECT count(*) = 0 OR bool_or(NOT l.has_runs OR l.next_pos <= p_end_value) IS TRUE
        FROM (
            SELECT
                EXISTS (
                    SELECT FROM omd.source_position AS s
                    WHERE s.table_code = d.source AND s.source_kind_code = 'RUNS'
                ) AS has_runs,
                omd.next_position(
                    d.source, coalesce(p_start_value, '-infinity'), 9223372036854775807
                ) AS next_pos
            FROM omd_decision._links(p_definition) AS d
            WHERE NOT d.is_buffer AND d.source IS NOT NULL
        ) AS l
    );
END
$may_have_rows$;

COMMENT ON FUNCTION omd_decision._may_have_rows IS
'Returns whether a window behind p_start_value up to p_end_value of the stage document '
'p_definition may have rows: a run that writes a source has ended in it, or nobody knows who '
'writes a source. Locks: none.';
