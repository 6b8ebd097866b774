-- omd.tell_undo calls it by omd.room_hook. A stage reads the sources of its links, buffer links
-- too; what else its functions read is not known.

CREATE OR REPLACE FUNCTION omd_decision.hear_undo(
    p_table_code text,
    p_from timestamptz,
    p_module_instance_id bigint
)
RETURNS TABLE (
    module_id integer,
    reader text,
    source_code text,
    is_whole boolean,
    has_positions boolean,
    way_out text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_undo$
DECLARE
    v_over CONSTANT text[] := omd.relations_over(p_table_code);
BEGIN
    RETURN QUERY
    SELECT
        f.module_id,
        'stage ' || f.stage_code,
        f.source,
        FALSE,
        f.has_positions,
        format(
            'CALL omd.set_next_run_indicator(''R'', p_module_instance_id => %s);', r.first_id
        )
    FROM (
        SELECT
            s.module_id,
            s.stage_code,
            min(l.source) AS source,
            -- A buffer link is read as a whole.
            NOT bool_or(l.is_buffer)
            AND bool_and(
                (
                    omd.readable_until(l.source, v.definition #>> '{window,column}')
                ).p_until IS NOT NULL
            )
            AND min(v.definition #>> '{window,column}') IS NOT NULL AS has_positions
        FROM omd_decision.stage AS s
        INNER JOIN omd_decision.stage_version AS v
            ON s.stage_id = v.stage_id AND s.version = v.version
        CROSS JOIN LATERAL omd_decision._links(v.definition) AS l
        WHERE l.source = ANY(v_over)
        GROUP BY s.module_id, s.stage_code
    ) AS f
    CROSS JOIN LATERAL (
        SELECT omd.first_read(
            f.module_id, p_module_instance_id, 9223372036854775807, p_from, f.has_positions
        ) AS first_id
    ) AS r
    WHERE r.first_id IS NOT NULL;
END
$hear_undo$;

COMMENT ON FUNCTION omd_decision.hear_undo IS
'For rooms: Returns the stages that have read rows of the table p_table_code from the position '
'p_from on after the Module Instance p_module_instance_id: the Module and the name of each '
'(reader), by which table it reads them, whether each run replaces all of its rows, whether its '
'windows are positions of these rows, and the call by which the next run makes its rows again. '
'Locks: none.';
