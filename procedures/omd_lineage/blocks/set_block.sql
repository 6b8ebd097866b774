-- A transform view shows no rows outside of a step; this procedure lets a person look at them. The
-- block ends with the transaction, since rows read with an old one would look like the next ones.

CREATE OR REPLACE PROCEDURE omd_lineage.set_block(
    p_topic text
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $set_block$
DECLARE
    v_plan record;
BEGIN
    SELECT p.* INTO v_plan FROM omd_lineage.plan(p_topic) AS p;
    CALL omd_lineage._write_block(
        v_plan.topic,
        ROW(v_plan.start_pos, v_plan.start_id),
        ROW(v_plan.end_pos, v_plan.end_id)
    );
    -- As SET LOCAL does.
    IF transaction_timestamp() = statement_timestamp() THEN
        RAISE WARNING USING
            MESSAGE = 'the block ends with this statement, since it is a transaction of its own',
            HINT = format('BEGIN; CALL omd_lineage.set_block(%L);', p_topic);
    END IF;
    IF v_plan.end_pos IS NULL THEN
        RAISE NOTICE 'topic "%" has no block: %', p_topic, v_plan.detail;
    END IF;
END
$set_block$;

COMMENT ON PROCEDURE omd_lineage.set_block IS
'Sets the block that block_start, block_end and in_block use to the one that the topic p_topic '
'would take now, so that its transform views show their rows, until the transaction ends: call it '
'after BEGIN. Errors: OM005: p_topic is NULL; OM015: it is not registered; OM206: a table can''t '
'be read by blocks; OM212: it is locked. Locks: none. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.set_block TO omd_runner, omd_admin;
