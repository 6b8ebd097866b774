-- A Batch that would stop at the first member that needs a worker does not begin.

CREATE OR REPLACE FUNCTION omd._require_database_batch(
    p_batch_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_database_batch$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
    v_members text[];
BEGIN
    WITH RECURSIVE batch (batch_id) AS (
        SELECT v_batch_id
        UNION
        SELECT h.batch_id
        FROM batch AS b
        INNER JOIN omd.batch_hierarchy AS h ON b.batch_id = h.parent_batch_id
        INNER JOIN omd.batch AS child ON h.batch_id = child.batch_id
        WHERE h.inactive_indicator = 'N' AND child.inactive_indicator = 'N'
    )

    SELECT array_agg(DISTINCT m.module_code ORDER BY m.module_code) INTO v_members
    FROM batch AS b
    INNER JOIN omd.batch_module AS bm USING (batch_id)
    INNER JOIN omd.module AS m USING (module_id)
    WHERE bm.inactive_indicator = 'N'
        AND m.inactive_indicator = 'N'
        AND m.engine_code IS DISTINCT FROM 'POSTGRES';
    IF v_members IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM214',
            jsonb_build_object(
                'subject', format('Batch "%s"', p_batch_code),
                'batch_code', p_batch_code,
                'members', v_members,
                'problem', 'a worker process performs ' || array_to_string(v_members, ', '),
                'next_command', format('omd run batch:%s', p_batch_code)
            )
        );
    END IF;
END
$require_database_batch$;

COMMENT ON FUNCTION omd._require_database_batch IS
'Raises OM214 when an active Module of the Batch p_batch_code, or of an active child Batch, is not '
'performed by the database; the DETAIL names them. Errors: OM001, OM005, OM214. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._require_database_batch TO omd_runner;
