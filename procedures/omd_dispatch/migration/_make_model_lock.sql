-- What every call shares is a lock of a table: FOR KEY SHARE on one row writes that row at each
-- call (with 8 sessions it reached 0.24 of the rate of an advisory lock, and a table 0.76 to 0.97).
-- V046 has made the tables of the families of before.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_model_lock(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_model_lock$
BEGIN
    EXECUTE format(
        $sql$
        CREATE TABLE omd_dispatch.%1$I (
            family_code text NOT NULL,
            CONSTRAINT %2$I PRIMARY KEY (family_code)
        );
        COMMENT ON TABLE omd_dispatch.%1$I IS %3$L;
        COMMENT ON COLUMN omd_dispatch.%1$I.family_code IS 'The family.';
        GRANT SELECT ON omd_dispatch.%1$I TO omd_reader
        $sql$,
        'task_model_' || lower(p_family_code),
        'pk_task_model_' || lower(p_family_code),
        format('The lock of the model of the family %s; it has no rows.', p_family_code)
    );
END
$make_model_lock$;

COMMENT ON PROCEDURE omd_dispatch._make_model_lock IS
'Makes the table whose lock is that of the model of the new family p_family_code. Locks: it.';
