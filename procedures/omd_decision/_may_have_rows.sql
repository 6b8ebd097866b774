-- Of a table that our Modules write the runs are known: a window in which none of them has ended has no
-- rows yet that the next one would not have. Of another table nobody knows.

CREATE OR REPLACE FUNCTION omd_decision._may_have_rows(
    p_definition jsonb,
    p_start_value timestamptz,
    p_end_value timestamptz
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(
        bool_or(
            NOT EXISTS (
                SELECT FROM omd.source_position AS s WHERE s.table_code = l.source
            )
            OR coalesce(
                omd.next_position(
                    l.source, coalesce(p_start_value, '-infinity'), 9223372036854775807
                ) <= p_end_value,
                FALSE
            )
        ),
        TRUE
    )
    FROM omd_decision._links(p_definition) AS l
    WHERE NOT l.is_buffer AND l.source IS NOT NULL;
END;

COMMENT ON FUNCTION omd_decision._may_have_rows IS
'Returns whether a window behind p_start_value up to p_end_value of the stage document p_definition '
'may have rows: a position of a source lies in it, or a source has no positions. Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._may_have_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._may_have_rows TO omd_runner;
