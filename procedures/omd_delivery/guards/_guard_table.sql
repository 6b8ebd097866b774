-- A trigger is not fired for who has the rights of omd_owner: OMD's own routines, and superusers.
-- An installation calls this for tables that are there already, so what has its triggers is left
-- alone: to make one would wait for writers.

CREATE OR REPLACE PROCEDURE omd_delivery._guard_table(
    p_table_name text,
    p_entity_id integer,
    p_agreement_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_table$
BEGIN
    IF EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid = to_regclass(p_table_name) AND t.tgname = 'trg_rows_guard'
    ) THEN
        RETURN;
    END IF;
    IF p_entity_id IS NOT NULL THEN
        EXECUTE format(
            $sql$
            CREATE TRIGGER trg_rows_guard
            AFTER INSERT ON %1$s
            REFERENCING NEW TABLE AS new_rows
            FOR EACH STATEMENT WHEN (NOT pg_has_role('omd_owner', 'USAGE'))
            EXECUTE FUNCTION omd_delivery._guard_delta(%2$s);
            COMMENT ON TRIGGER trg_rows_guard ON %1$s IS
            'Refuses rows that are not of the run at work of a delivery that is not applied.';
            CREATE TRIGGER trg_change_guard
            BEFORE UPDATE OR DELETE OR TRUNCATE ON %1$s
            FOR EACH STATEMENT WHEN (NOT pg_has_role('omd_owner', 'USAGE'))
            EXECUTE FUNCTION omd_delivery._guard_change();
            COMMENT ON TRIGGER trg_change_guard ON %1$s IS 'Refuses all but inserts.'
            $sql$,
            p_table_name,
            p_entity_id
        );
    ELSE
        EXECUTE format(
            $sql$
            CREATE TRIGGER trg_rows_guard
            AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %1$s
            FOR EACH STATEMENT WHEN (NOT pg_has_role('omd_owner', 'USAGE'))
            EXECUTE FUNCTION omd_delivery._guard_staging(%2$s);
            COMMENT ON TRIGGER trg_rows_guard ON %1$s IS
            'Refuses changes where no delivery of the login is to be staged.'
            $sql$,
            p_table_name,
            p_agreement_id
        );
    END IF;
END
$guard_table$;

COMMENT ON PROCEDURE omd_delivery._guard_table IS
'Gives the table p_table_name its triggers, unless it has them: the delta of the entity '
'p_entity_id, or a staging table of the agreement p_agreement_id; the other one is NULL. Locks: '
'the table, against writers.';
