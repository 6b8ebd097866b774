-- This is one step of a purge, so that each transaction is short. It goes from high ids to low
-- ones, because a child has a higher id than its parent.

CREATE OR REPLACE FUNCTION omd._purge_batch_instances(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_batch_instances$
DECLARE
    v_deleted bigint;
    v_from bigint := p_last_id;
    v_doomed bigint[];
BEGIN
    -- The first step skips what is too new.
    IF v_from IS NULL THEN
        SELECT max(bi.batch_instance_id) + 1 INTO v_from
        FROM omd.batch_instance AS bi
        WHERE bi.start_datetime < p_before;
    END IF;
    SELECT min(span.batch_instance_id) INTO p_last_id
    FROM (
        SELECT bi.batch_instance_id
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id < v_from AND bi.batch_instance_id > 0
        ORDER BY bi.batch_instance_id DESC
        LIMIT p_limit
    ) AS span;

    -- The step repeats as long as it helps: a parent can be deleted when its children are.
    LOOP
        WITH batch_need AS MATERIALIZED (
            SELECT
                b.batch_id,
                omd._oldest_needed_batch_instance(b.batch_id) AS oldest
            FROM omd.batch AS b
        ),

        doomed AS (
            SELECT bi.batch_instance_id
            FROM omd.batch_instance AS bi
            INNER JOIN batch_need AS bn ON bi.batch_id = bn.batch_id
            WHERE bi.batch_instance_id < v_from
                AND bi.batch_instance_id >= p_last_id
                AND bi.start_datetime < p_before
                AND bi.execution_status_code <> 'E'
                AND bi.next_run_indicator = 'P'
                AND (bi.execution_status_code IN ('A', 'C') OR bi.batch_instance_id < bn.oldest)
                AND NOT EXISTS (
                    SELECT FROM omd.module_instance AS mi
                    WHERE mi.batch_instance_id = bi.batch_instance_id AND mi.batch_instance_id <> 0
                )
                AND NOT EXISTS (
                    SELECT FROM omd.batch_instance AS child
                    WHERE child.parent_batch_instance_id = bi.batch_instance_id
                        AND child.parent_batch_instance_id <> 0
                )
            FOR UPDATE OF bi SKIP LOCKED
        )

        SELECT array_agg(d.batch_instance_id) INTO v_doomed FROM doomed AS d;
        v_doomed := omd._without_needed('BATCH', v_doomed);

        DELETE FROM omd.batch_instance AS bi WHERE bi.batch_instance_id = ANY(v_doomed);
        GET DIAGNOSTICS v_deleted = ROW_COUNT;
        p_deleted := p_deleted + v_deleted;
        EXIT WHEN v_deleted = 0;
    END LOOP;
END
$purge_batch_instances$;

COMMENT ON FUNCTION omd._purge_batch_instances IS
'Deletes, among the p_limit Batch Instances below the id p_last_id (NULL: the first step), those '
'that started before p_before, that neither an evaluation nor a room needs, and that no Module '
'Instance and no child refers to. It returns the last id that it looked at, NULL at the end, and '
'adds to p_deleted. Locks: the rows it deletes.';
GRANT EXECUTE ON FUNCTION omd._purge_batch_instances TO omd_admin;
