-- What earlier runs of a Batch ask for concerns its Modules, so it is passed on to them (rule P4,
-- lines 8 and 9): a rollback of everything that an administrator marked, or the skip of what has
-- succeeded already.

CREATE OR REPLACE FUNCTION omd._direct_modules_of_batch(
    p_batch_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $direct_modules_of_batch$
DECLARE
    v_chain bigint[];
    v_marked bigint[];
BEGIN
    -- The skips of an earlier restart end here.
    UPDATE omd.module_instance AS mi SET next_run_indicator = 'P', next_run_batch_id = NULL
    WHERE mi.next_run_batch_id = p_batch_id;

    -- The chain that the next instance would belong to is made of the failed instances since the
    -- last successful one.
    v_chain := omd._failed_chains(p_batch_id, ARRAY[9223372036854775807]);

    -- 5. An administrator wants a whole Batch Instance undone. The chain of failures that it ended
    -- or belongs to is undone with it, since a partial restart leaves part of the work there, and
    -- so are the children of all of them.
    WITH marked AS (
        UPDATE omd.batch_instance AS bi SET next_run_indicator = 'P'
        WHERE bi.batch_id = p_batch_id
            AND bi.next_run_indicator = 'R'
            AND bi.execution_status_code <> 'E'
        RETURNING bi.batch_instance_id
    )

    SELECT array_agg(m.batch_instance_id) INTO v_marked FROM marked AS m;

    IF v_marked IS NOT NULL THEN
        WITH RECURSIVE concerned (batch_instance_id) AS (
            SELECT i
            FROM unnest(v_marked || v_chain || omd._failed_chains(p_batch_id, v_marked)) AS i
            UNION
            SELECT child.batch_instance_id
            FROM concerned AS c
            INNER JOIN omd.batch_instance AS child
                ON c.batch_instance_id = child.parent_batch_instance_id
            WHERE child.parent_batch_instance_id <> 0
        ),

        locked AS (
            SELECT mi.module_instance_id
            FROM omd.module_instance AS mi
            WHERE mi.batch_instance_id IN (SELECT c.batch_instance_id FROM concerned AS c)
                AND mi.batch_instance_id <> 0
                AND mi.execution_status_code IN ('S', 'F')
                AND mi.rolled_back_by_module_instance_id IS NULL
            ORDER BY mi.module_instance_id
            FOR NO KEY UPDATE
        )

        UPDATE omd.module_instance AS mi SET next_run_indicator = 'R', next_run_batch_id = NULL
        FROM locked AS l
        WHERE mi.module_instance_id = l.module_instance_id;
    END IF;

    -- 6. Partial restart: what has succeeded since the last successful Batch Instance does not run
    -- again.
    IF v_chain <> '{}' THEN
        WITH newest AS (
            SELECT DISTINCT ON (mi.module_id)
                mi.module_instance_id,
                mi.module_id
            FROM omd.module_instance AS mi
            WHERE mi.batch_instance_id = ANY(v_chain)
                AND mi.batch_instance_id <> 0
                AND mi.execution_status_code = 'S'
                AND mi.rolled_back_by_module_instance_id IS NULL
            ORDER BY mi.module_id, mi.module_instance_id DESC
        ),

        locked AS (
            SELECT mi.module_instance_id
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id IN (SELECT n.module_instance_id FROM newest AS n)
                AND mi.next_run_indicator = 'P'
                AND NOT omd._module_has_newer_failure(mi.module_id, mi.module_instance_id)
            ORDER BY mi.module_instance_id
            FOR NO KEY UPDATE
        )

        UPDATE omd.module_instance AS mi SET
            next_run_indicator = 'C',
            next_run_batch_id = p_batch_id
        FROM locked AS l
        WHERE mi.module_instance_id = l.module_instance_id;
    END IF;
END
$direct_modules_of_batch$;

COMMENT ON FUNCTION omd._direct_modules_of_batch IS
'Sets next_run_indicator on Module Instances because of earlier runs of the Batch p_batch_id: R '
'on all of a marked Batch Instance and the failed chain, which consumes the mark; C on what has '
'succeeded in the chain. Locks: the Module Instances it marks, in ID order.';
