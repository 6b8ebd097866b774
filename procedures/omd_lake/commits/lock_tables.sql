-- A reader of a window goes from commit to commit, as they are recorded. If the log of a table had
-- them in another order, the version of the last one could lack rows of the one before. Who waits
-- here holds no instance, so its heartbeats go on; the fence comes afterwards.

CREATE OR REPLACE PROCEDURE omd_lake.lock_tables(
    p_tables text[]
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_tables$
BEGIN
    PERFORM omd.require_read_committed();
    IF p_tables IS NULL OR array_position(p_tables, NULL) IS NOT NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_tables'));
    END IF;
    PERFORM omd_lake._require_open(
        ARRAY(SELECT omd_lake._spell_table(t.name) FROM unnest(p_tables) AS t (name))
    );
    PERFORM omd_lake._lock_names(
        ARRAY(SELECT omd_lake._spell_table(t.name) FROM unnest(p_tables) AS t (name))
    );
    PERFORM set_config(
        'omd_lake.locked_tables',
        (
            SELECT array_agg(DISTINCT l.name)::text
            FROM (
                SELECT unnest(omd_lake._locked_tables()) AS name
                UNION ALL
                SELECT omd_lake._spell_table(t.name) FROM unnest(p_tables) AS t (name)
            ) AS l
        ),
        TRUE
    );
END
$lock_tables$;

COMMENT ON PROCEDURE omd_lake.lock_tables IS
'For the driver: '
'Lets nobody else commit the tables p_tables, which are Delta tables or lie in another catalogue, '
'until the transaction ends; call it before the commit there, and commit_tables after it in the '
'same transaction. So the commits of a table are recorded in the order of their versions. '
'p_tables: all tables that the transaction will commit. Errors: OM005, OM009, OM013, OM014, OM110. '
'Locks: the names of the tables, in their order; it waits for other commits of them. No '
'instance.';
GRANT EXECUTE ON PROCEDURE omd_lake.lock_tables TO omd_runner, omd_admin;
