-- One procedure both adds a child and changes its place, so that a script can be run again.

CREATE OR REPLACE PROCEDURE omd.add_batch_to_parent_batch(
    p_batch_code text,
    p_parent_batch_code text,
    p_sequence integer DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $add_batch_to_parent_batch$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
    v_parent_batch_id integer := omd._require_batch(p_parent_batch_code);
    v_inactive_indicator text := omd.require_code('inactive indicator', p_inactive_indicator);
    v_is_cycle boolean;
BEGIN
    PERFORM omd.require_read_committed();
    LOCK TABLE omd.batch_hierarchy IN SHARE ROW EXCLUSIVE MODE;

    WITH RECURSIVE ancestor (batch_id) AS (
        SELECT v_parent_batch_id
        UNION
        SELECT h.parent_batch_id
        FROM omd.batch_hierarchy AS h
        INNER JOIN ancestor AS a ON h.batch_id = a.batch_id
    )

    SELECT EXISTS (SELECT FROM ancestor AS a WHERE a.batch_id = v_batch_id) INTO v_is_cycle;

    IF v_is_cycle THEN
        PERFORM omd.raise_error(
            'OM008',
            jsonb_build_object('batch_code', p_batch_code, 'parent_batch_code', p_parent_batch_code)
        );
    END IF;

    INSERT INTO omd.batch_hierarchy AS bh (batch_id, parent_batch_id, sequence, inactive_indicator)
    VALUES (
        v_batch_id,
        v_parent_batch_id,
        coalesce(
            p_sequence,
            (
                SELECT max(o.sequence) + 1
                FROM omd.batch_hierarchy AS o
                WHERE o.parent_batch_id = v_parent_batch_id
            ),
            1
        ),
        coalesce(v_inactive_indicator, 'N')
    )
    ON CONFLICT (parent_batch_id, batch_id) DO UPDATE SET
        sequence = coalesce(p_sequence, bh.sequence),
        inactive_indicator = coalesce(v_inactive_indicator, bh.inactive_indicator);
END
$add_batch_to_parent_batch$;

COMMENT ON PROCEDURE omd.add_batch_to_parent_batch IS
'Puts the Batch p_batch_code under p_parent_batch_code, or changes its place; a NULL argument '
'keeps the present value. p_sequence: order, lowest first; a new child goes last. '
'p_inactive_indicator: Y skips the child under this parent. Errors: OM001, OM005, OM006, OM008 '
'(cycle), OM014. Locks: batch_hierarchy against other writers. Call again when the answer was '
'lost.';
GRANT EXECUTE ON PROCEDURE omd.add_batch_to_parent_batch TO omd_admin;
