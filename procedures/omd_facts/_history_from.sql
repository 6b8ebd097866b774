-- One context is its own history. Of several, each start of a row begins an interval.

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
    v_others text;
    v_joins text;
BEGIN
    SELECT
        string_agg(
            format(' UNION SELECT s.acm_id, s.acm_start_dt FROM %I.%I AS s', p_cfl, c.context_table),
            '' ORDER BY c.context_id
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
            '' ORDER BY c.context_id
        )
    INTO v_others, v_joins
    FROM omd_facts.context AS c
    WHERE c.entity_id = p_entity_id AND c.context_id <> p_existence_id;
    IF v_others IS NULL THEN
        RETURN format('FROM %I.%I AS p', p_cfl, p_existence_table);
    END IF;
    RETURN format(
        $sql$FROM (
    SELECT
        s.acm_id,
        s.acm_start_dt,
        lead(s.acm_start_dt, 1, %1$L) OVER (PARTITION BY s.acm_id ORDER BY s.acm_start_dt)
        AS acm_end_dt
    FROM (SELECT s.acm_id, s.acm_start_dt FROM %2$I.%3$I AS s%4$s) AS s
) AS i
INNER JOIN %2$I.%3$I AS p
    ON i.acm_id = p.acm_id AND p.acm_start_dt <= i.acm_start_dt AND p.acm_end_dt > i.acm_start_dt%5$s$sql$,
        omd_facts._open_end(), p_cfl, p_existence_table, v_others, v_joins
    );
END
$history_from$;

COMMENT ON FUNCTION omd_facts._history_from IS
'Returns the FROM of the history of the entity p_entity_id. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._history_from FROM PUBLIC;
