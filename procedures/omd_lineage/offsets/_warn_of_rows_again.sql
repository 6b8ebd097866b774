-- It looks with the rights of whoever calls: a look at a table of a user executes what its owner
-- has said of it.

CREATE OR REPLACE FUNCTION omd_lineage._warn_of_rows_again(
    p_topic_id integer,
    p_former omd_lineage.row_position,
    p_position omd_lineage.row_position
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $warn_of_rows_again$
DECLARE
    v_topic omd_lineage.topic;
BEGIN
    SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id;
    IF p_position < p_former
        AND omd_lineage._inserts_only(v_topic)
        AND omd_lineage._holds_rows(v_topic.table_code)
    THEN
        RAISE WARNING USING
            MESSAGE = format(
                '"%s" goes back from %s to %s and loads the rows in between again', v_topic.topic,
                p_former, p_position
            ),
            HINT = format(
                'If %s holds them still, delete them before the next step, or set R on the steps '
                'that loaded them: CALL %s(''R'', p_module_instance_id => …);',
                v_topic.table_code, 'omd.set_next_run_indicator'
            );
    END IF;
END
$warn_of_rows_again$;

COMMENT ON FUNCTION omd_lineage._warn_of_rows_again IS
'Warns when the offset of the topic p_topic_id goes back from p_former to p_position and rows that '
'the destination may hold are then read again. Locks: ACCESS SHARE on the destination.';
GRANT EXECUTE ON FUNCTION omd_lineage._warn_of_rows_again TO omd_runner, omd_admin;
