-- One look at the delta and the current rows of its keys says whether it can be applied.

CREATE OR REPLACE FUNCTION omd_delivery._check_delta(
    p_delivery omd_delivery.delivery,
    p_entity_id integer,
    p_entity_code text,
    p_written bigint,
    OUT p_new bigint,
    OUT p_changed bigint,
    OUT p_deleted bigint,
    OUT p_equal bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_delta$
DECLARE
    v_sql record;
    v_rows bigint;
    v_repeated bigint;
    v_misfits bigint;
BEGIN
    v_sql := omd_delivery._entity_sql(p_entity_id);
    EXECUTE format(
        $sql$
        SELECT
            count(*) FILTER (WHERE d.acm_record_ind = 'N'),
            count(*) FILTER (WHERE d.acm_record_ind = 'A' AND NOT d.is_same),
            count(*) FILTER (WHERE d.acm_record_ind = 'R'),
            count(*) FILTER (WHERE d.acm_record_ind = 'A' AND d.is_same),
            count(*) - count(DISTINCT (%1$s)),
            count(*) FILTER (
                WHERE CASE d.acm_record_ind
                    WHEN 'N' THEN d.open_ind <> 'R'
                    WHEN 'A' THEN coalesce(d.open_ind, 'R') = 'R'
                    WHEN 'R' THEN d.open_ind IS NULL OR (d.open_ind = 'R' AND NOT $2)
                    ELSE TRUE
                END
            )
        FROM (
            SELECT
                %2$s,
                d.acm_record_ind,
                l.acm_record_ind AS open_ind,
                %6$s AS is_same
            FROM %3$s AS d
            LEFT JOIN %4$s AS l
                ON l.acm_end_dt = '9999-12-31 00:00:00+00' AND %5$s
            WHERE d.delivery_id = $1
        ) AS d
        $sql$,
        v_sql.key_columns,
        'd.' || replace(v_sql.key_columns, ', ', ', d.'),
        v_sql.delta_table,
        v_sql.lvl_table,
        v_sql.key_match,
        v_sql.is_same
    )
    INTO p_new, p_changed, p_deleted, p_equal, v_repeated, v_misfits
    USING p_delivery.delivery_id, p_delivery.delete_type = 'PHYSICAL';
    v_rows := p_new + p_changed + p_deleted + p_equal;
    IF v_rows <> p_written OR v_repeated > 0 OR v_misfits > 0 THEN
        PERFORM omd.raise_error(
            'OM134',
            jsonb_build_object(
                'delivery_id', p_delivery.delivery_id,
                'entity', p_entity_code,
                'problem', CASE
                    WHEN v_rows <> p_written
                        THEN format('%s rows were written, and %s are there', p_written, v_rows)
                    WHEN v_repeated > 0 THEN format('%s keys are repeated', v_repeated)
                    ELSE format('%s rows do not fit the current row of their key', v_misfits)
                END
            )
        );
    END IF;
END
$check_delta$;

COMMENT ON FUNCTION omd_delivery._check_delta IS
'Refuses the delta of p_delivery for the entity p_entity_id (p_entity_code), unless it has '
'p_written rows (NULL: any number), one for each key, which fit the current rows. Returns how many'
' rows are new (N), changed (A), deleted (R), and A without a change. Errors: OM134: it does not '
'fit. Locks: none.';
