-- One context is its own history. Of several, each start of a row begins an interval, which
-- belongs to the first context, n, that has a row with this start. It ends where the first of the
-- rows in it ends, so no row must be compared with others of its key: the planner brings a
-- condition on the key to each table, also one that comes from a join.

CREATE OR REPLACE FUNCTION omd_facts._history_from(
    p_entity_id integer,
    p_cfl text,
    p_existence_table text,
    p_existence_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $history_from$
DECLARE
    v_starts text;
    v_joins text;
    v_first text;
BEGIN
    SELECT
        string_agg(
            format(
                E'\n    UNION ALL SELECT %s, s.acm_id, s.acm_start_dt FROM %I.%I AS s',
                c.n, p_cfl, c.context_table
            ),
            '' ORDER BY c.n
        ),
        string_agg(
            replace(
                format(
                    E'\nLEFT JOIN %I.%I AS {c} ON i.acm_id = {c}.acm_id'
                    ' AND {c}.acm_start_dt <= i.acm_start_dt AND {c}.acm_end_dt > i.acm_start_dt',
                    p_cfl, c.context_table
                ),
                '{c}', 'c' || c.context_id
            ),
            '' ORDER BY c.n
        ),
        string_agg(
            format(
                E'\n    AND (i.n <= %s OR c%s.acm_start_dt IS DISTINCT FROM i.acm_start_dt)',
                c.n, c.context_id
            ),
            '' ORDER BY c.n
        )
    INTO v_starts, v_joins, v_first
    FROM (
        SELECT c.context_id, c.context_table, row_number() OVER (ORDER BY c.context_id) AS n
        FROM omd_facts.context AS c
        WHERE c.entity_id = p_entity_id AND c.context_id <> p_existence_id
    ) AS c;
    IF v_starts IS NULL THEN
        RETURN format(E'FROM %I.%I AS p\n{anchor}', p_cfl, p_existence_table);
    END IF;
    RETURN format(
        $sql$FROM (
    SELECT 0 AS n, s.acm_id, s.acm_start_dt FROM %1$I.%2$I AS s%3$s
) AS i
INNER JOIN %1$I.%2$I AS p
    ON i.acm_id = p.acm_id AND p.acm_start_dt <= i.acm_start_dt AND p.acm_end_dt > i.acm_start_dt%4$s
{anchor}
WHERE (i.n = 0 OR p.acm_start_dt < i.acm_start_dt)%5$s$sql$,
        p_cfl, p_existence_table, v_starts, v_joins, v_first
    );
END
$history_from$;

COMMENT ON FUNCTION omd_facts._history_from IS
'Returns the FROM and WHERE of the history of the entity p_entity_id, with {anchor} for the join '
'of its anchor. Locks: none.';
