-- A commit of an Iceberg table is staged in files before it is made, and that work must not be lost
-- to another commit. So the tables are locked first: always in one order, since two commits of the
-- same tables would wait for each other, and all by one call, for the same reason. What was opened
-- is known by a setting that lasts for the transaction; the exchange itself does not rely on it.

CREATE OR REPLACE PROCEDURE omd_lake.open_commit(
    p_module_instance_id bigint,
    p_tables text[],
    INOUT p_metadata_locations text[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $open_commit$
DECLARE
    v_opened text[] := omd_lake._opened_tables();
    v_tables text[];
    v_missing text;
    v_locations jsonb := '{}'::jsonb;
    v_row record;
BEGIN
    PERFORM omd.require_read_committed();
    IF p_tables IS NULL OR array_position(p_tables, NULL) IS NOT NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_tables'));
    END IF;
    IF p_module_instance_id IS NULL THEN
        PERFORM omd_lake._require_admin();
    ELSIF omd.instance_lives(p_module_instance_id) IS NOT TRUE THEN
        CALL omd.fence(p_module_instance_id);
    END IF;
    SELECT coalesce(array_agg(omd_lake._spell_table(t.name) ORDER BY t.n), '{}') INTO v_tables
    FROM unnest(p_tables) WITH ORDINALITY AS t (name, n);
    PERFORM omd_lake._require_open(v_tables);
    IF v_opened IS NOT NULL AND NOT v_tables <@ v_opened THEN
        PERFORM omd.raise_error(
            'OM022',
            jsonb_build_object(
                'problem', 'it opens more tables in a transaction that has opened others before',
                'tables', v_tables,
                'opened', v_opened
            )
        );
    END IF;

    FOR v_row IN
        SELECT
            format('%I.%I', t.table_namespace, t.table_name) AS table_code, t.metadata_location
        FROM omd_lake.iceberg_tables AS t
        WHERE t.catalog_name = 'omd'
            AND (t.table_namespace, t.table_name) IN (
                SELECT n.p_namespace, n.p_name
                FROM unnest(v_tables) AS o (table_code)
                CROSS JOIN LATERAL omd_lake._catalogue_name(o.table_code) AS n
            )
            AND t.iceberg_type IS DISTINCT FROM 'VIEW'
        ORDER BY t.table_namespace COLLATE "C", t.table_name COLLATE "C"
        FOR NO KEY UPDATE
    LOOP
        v_locations := v_locations || jsonb_build_object(v_row.table_code, v_row.metadata_location);
    END LOOP;
    SELECT t.table_code INTO v_missing
    FROM unnest(v_tables) AS t (table_code)
    WHERE NOT v_locations ? t.table_code
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error('OM020', jsonb_build_object('table_code', v_missing));
    END IF;
    SELECT coalesce(array_agg(v_locations ->> t.table_code ORDER BY t.n), '{}')
    INTO p_metadata_locations
    FROM unnest(v_tables) WITH ORDINALITY AS t (table_code, n);
    IF v_opened IS NULL THEN
        PERFORM set_config('omd_lake.opened_tables', v_tables::text, TRUE);
    END IF;
END
$open_commit$;

COMMENT ON PROCEDURE omd_lake.open_commit IS
'For the driver: '
'Opens the commit of the Iceberg tables p_tables of this catalogue: until the transaction ends, '
'nobody else commits to them. Returns p_metadata_locations, the present metadata file of each, in '
'the order of p_tables. p_module_instance_id: the run; NULL: no run, which only omd_admin may. '
'p_tables: all tables that the transaction will commit; a second call takes only tables of the '
'first. Call commit_tables in the same transaction. Tables of another format or catalogue are not '
'opened. Errors: OM004, OM005, OM009, OM013, OM014, OM020: a table is not in the catalogue, OM022:'
' another call has opened other tables, OM101, OM102, OM107, OM110: a table is '
'that of another installation. Locks: the rows of the tables in the '
'order of their names; it waits for other commits of them. No instance.';
GRANT EXECUTE ON PROCEDURE omd_lake.open_commit TO omd_runner, omd_admin;
