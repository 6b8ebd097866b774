-- The rooms say what it does to take their runs back as if each came again; what is different for
-- the target itself, and for a load whose delivery goes too, is known only here.

CREATE OR REPLACE FUNCTION omd_provenance._plan(
    p_target jsonb,
    p_awaits_correction boolean,
    p_is_counted boolean,
    p_known jsonb DEFAULT NULL
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $plan$
DECLARE
    v_targets CONSTANT bigint[] := omd_provenance._runs_of_target(p_target);
    v_reach CONSTANT jsonb := (
        SELECT jsonb_agg(to_jsonb(r) ORDER BY r.place)
        FROM omd_provenance._reach(v_targets, p_awaits_correction, p_known) AS r
    );
    v_runs bigint[] := ARRAY(
        SELECT (r ->> 'module_instance_id')::bigint FROM jsonb_array_elements(v_reach) AS r
    );
    v_readers CONSTANT bigint[] := omd_provenance._may_have_read(v_runs);
    v_items jsonb;
BEGIN
    WITH reached AS MATERIALIZED (
        SELECT r.*
        FROM jsonb_to_recordset(v_reach) AS r (
            place bigint, level integer, room text, module_instance_id bigint, module_code text,
            module_kind_code text, distance integer, because_of bigint, relation text,
            is_exact boolean, sources bigint[]
        )
        UNION ALL
        SELECT
            0, 2147483647, omd_provenance._room_of(m.module_kind_code, m.module_code),
            m.module_instance_id, m.module_code, m.module_kind_code, 1, v_targets[1], 'READS',
            FALSE, '{}'
        FROM omd.runs_of_modules(v_readers) AS m
    ),

    effect AS MATERIALIZED (
        SELECT e.*
        FROM omd_provenance._effects(
            v_runs || v_readers,
            p_is_counted,
            (
                SELECT jsonb_object_agg(r ->> 'module_instance_id', r -> 'row_counts')
                FROM jsonb_array_elements(v_reach) AS r
            )
        ) AS e
    ),

    item AS MATERIALIZED (
        SELECT
            r.place,
            r.level,
            r.room,
            r.sources,
            CASE
                WHEN e.action IS NULL AND r.module_kind_code = 'EXPORT' THEN 'OUTSIDE'
                WHEN e.action IS NULL OR b.purged IS NOT NULL THEN 'BLOCKED'
                WHEN r.relation = 'TARGET' AND e.action IN ('REDELIVER', 'BY_HAND') THEN 'REVERT'
                WHEN e.action = 'REQUEUE' AND d.is_taken THEN 'UNDO'
                ELSE e.action
            END AS action,
            r.module_kind_code,
            r.module_instance_id,
            coalesce(e.delivery_id, x.delivery_id) AS delivery_id,
            r.module_code,
            coalesce(e.table_code, x.target_uri, m.table_code) AS table_code,
            r.distance,
            r.because_of,
            r.relation,
            r.is_exact,
            e.rows_go,
            e.rows_back,
            CASE
                WHEN r.relation = 'TARGET' AND e.action IN ('REDELIVER', 'BY_HAND')
                    THEN CASE WHEN p_awaits_correction THEN 'by hand' END
                WHEN e.action = 'REQUEUE' AND d.is_taken THEN NULL
                WHEN r.relation = 'TARGET' AND p_awaits_correction AND e.comes_again = 'RUN'
                    THEN 'by hand'
                ELSE omd_provenance._way_again(e.comes_again)
            END AS comes_again,
            CASE
                WHEN e.action IS NULL AND r.module_kind_code <> 'EXPORT'
                    THEN 'NO_ROLLBACK: a run of ' || r.module_code || ' can''t be taken back'
                WHEN r.relation = 'TARGET' AND e.action IN ('REDELIVER', 'BY_HAND') THEN NULL
                ELSE coalesce(e.problem, b.purged)
            END AS problem
        FROM reached AS r
        LEFT JOIN effect AS e USING (module_instance_id)
        LEFT JOIN LATERAL (
            SELECT EXISTS (
                SELECT FROM effect AS o
                WHERE o.delivery_id = e.delivery_id AND o.action IN ('REDELIVER', 'BY_HAND')
            ) AS is_taken
        ) AS d ON TRUE
        -- What is to be read again must still be there to be read.
        CROSS JOIN LATERAL (
            SELECT
                (
                    SELECT
                        format(
                            'PURGED: the keys of the changes of %s up to %s were purged, and its '
                            'block begins after %s',
                            w.source_code, omd_facts.purged_upto(w.source_code), w.start_id
                        )
                    FROM omd.ledger_window AS w
                    WHERE w.module_instance_id = r.module_instance_id
                        AND e.comes_again IN ('the block', 'from the offset', 'the window')
                        AND w.start_id > 0
                        AND w.start_id < omd_facts.purged_upto(w.source_code)
                ) AS purged
        ) AS b
        LEFT JOIN omd.runs_of_modules(v_runs) AS m USING (module_instance_id)
        LEFT JOIN omd_facts.exports_of_runs(v_runs) AS x USING (module_instance_id)
    ),

    planned AS (
        SELECT i.*, 1 AS part FROM item AS i WHERE i.action <> 'OUTSIDE'
        UNION ALL
        SELECT
            0, 0, 'omd_delivery', '{}', 'WITHDRAW', 'DELIVERY', NULL, w.delivery_id,
            'delivery.' || l.agreement_code, NULL,
            (
                SELECT i.distance + 1 FROM item AS i
                WHERE i.module_instance_id = w.because_of LIMIT 1
            ),
            w.because_of, 'FOLLOWS', TRUE, NULL, NULL,
            omd_provenance._way_again(w.comes_again), NULL, 2
        FROM omd_provenance._withdrawals(
            ARRAY(
                SELECT i.module_instance_id FROM item AS i
                WHERE i.action IN ('REDELIVER', 'BY_HAND')
                    OR i.action = 'REVERT' AND i.comes_again IS NOT NULL
            )
        ) AS w
        INNER JOIN omd_delivery.deliveries_by_id(ARRAY[w.delivery_id]) AS l ON TRUE
        UNION ALL
        SELECT i.*, 3 FROM item AS i WHERE i.action = 'OUTSIDE'
        UNION ALL
        SELECT
            0, 0, 'omd', '{}', 'UNKNOWN', m.module_kind_code, u.module_instance_id, NULL,
            m.module_code, m.table_code, 1, v_targets[1], 'READS', FALSE, NULL, NULL, NULL,
            'it is not known what ' || m.module_code || ' reads', 4
        FROM omd_provenance._unknown_since(v_targets[1]) AS u
        INNER JOIN omd.runs_of_modules(ARRAY[u.module_instance_id]) AS m ON TRUE
        WHERE NOT u.module_instance_id = ANY(v_runs || v_readers)
    )

    SELECT jsonb_agg(to_jsonb(p) ORDER BY p.position) INTO v_items
    FROM (
        SELECT
            row_number() OVER (
                ORDER BY p.part, p.place, p.module_instance_id DESC, p.delivery_id, p.table_code
            ) AS position,
            p.*
        FROM planned AS p
    ) AS p;
    RETURN v_items;
END
$plan$;

COMMENT ON FUNCTION omd_provenance._plan IS
'Returns the plan of a recall of p_target as a JSON array of objects, in the order of the act: '
'the columns of omd_provenance.recall_item, and room, level and sources as _reach has them. '
'p_awaits_correction: the target comes again. p_is_counted: rows are counted, with the rights of '
'the caller. p_known: how many rows each run has, as omd_provenance._row_positions takes it. '
'Errors: those of _runs_of_target. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._plan TO omd_admin;
