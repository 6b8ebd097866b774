-- A foreign key with ON DELETE CASCADE, SET NULL or SET DEFAULT deletes or changes rows of other
-- runs without a word, and these may take others along. The rows to delete are found by a
-- condition, and those that go with them by their place.

CREATE OR REPLACE FUNCTION omd.find_loss(
    p_relation oid,
    p_condition text,
    p_undone bigint[],
    p_instance_array bigint[] DEFAULT NULL
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $find_loss$
DECLARE
    v_relations oid[];
    v_rows tid[];
    v_seen_relations oid[] := '{}'::oid[];
    v_seen_rows tid[] := '{}'::tid[];
    v_loss jsonb;
BEGIN
    SELECT
        array_agg(t.relation) FILTER (WHERE t.loss IS NULL),
        array_agg(t.row_id) FILTER (WHERE t.loss IS NULL),
        (array_agg(t.loss) FILTER (WHERE t.loss IS NOT NULL))[1]
    INTO v_relations, v_rows, v_loss
    FROM omd._take_referring(
        p_relation, FALSE, p_condition, p_undone, p_instance_array, NULL
    ) AS t;
    WHILE v_rows IS NOT NULL AND v_loss IS NULL LOOP
        SELECT array_agg(n.relation), array_agg(n.row_id) INTO v_relations, v_rows
        FROM (
            SELECT f.relation, f.row_id FROM unnest(v_relations, v_rows) AS f (relation, row_id)
            EXCEPT
            SELECT s.relation, s.row_id
            FROM unnest(v_seen_relations, v_seen_rows) AS s (relation, row_id)
        ) AS n;
        v_seen_relations := v_seen_relations || v_relations;
        v_seen_rows := v_seen_rows || v_rows;
        SELECT
            array_agg(t.relation) FILTER (WHERE t.loss IS NULL),
            array_agg(t.row_id) FILTER (WHERE t.loss IS NULL),
            (array_agg(t.loss) FILTER (WHERE t.loss IS NOT NULL))[1]
        INTO v_relations, v_rows, v_loss
        FROM (
            SELECT f.relation, array_agg(f.row_id) AS row_ids
            FROM unnest(v_relations, v_rows) AS f (relation, row_id)
            GROUP BY f.relation
        ) AS g
        CROSS JOIN LATERAL omd._take_referring(
            g.relation, TRUE, 'p.ctid = ANY ($3)', p_undone, NULL, g.row_ids
        ) AS t;
    END LOOP;
    RETURN v_loss;
END
$find_loss$;

COMMENT ON FUNCTION omd.find_loss IS
'For rooms: Returns what a foreign key would delete or change of a run that is none of p_undone, '
'at whatever depth, when the rows p of p_relation with the condition p_condition ($2: '
'p_instance_array) are deleted; or that the caller may not see it. It has table_name, problem, '
'stamps (of the rows) and way_out (a GRANT); NULL when nothing is lost. Lock the rows against new '
'references before, where may_lose_rows says so, and call it in a statement of its own. Locks: the '
'rows that go with them.';
GRANT EXECUTE ON FUNCTION omd.find_loss TO omd_runner, omd_admin;
