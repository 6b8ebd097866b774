-- A target must not be a table of OMD or of PostgreSQL, since a rollback would delete there. It
-- must not change while the present one may hold rows of failed or executing runs, since the
-- rollback would look for them in the new one. What a session's own SQL wrote to a lake table, and
-- what OMD committed there, are undone in two ways, so these formats are as good as another target.
-- A present target that was dropped, renamed or lost the column prevents nothing, since it can't be
-- rolled back.

CREATE OR REPLACE FUNCTION omd._require_target(
    p_present omd.module,
    p_table_code text,
    p_platform_code text,
    p_insert_instance_column text,
    p_table_format_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_target$
DECLARE
    v_new text := omd.quote_table(p_table_code, p_platform_code);
    v_old text := omd.quote_table(p_present.table_code, p_present.platform_code);
    v_is_here boolean := p_present.platform_code = 'POSTGRES';
    v_schema text;
BEGIN
    IF v_new IS NULL THEN
        PERFORM omd.raise_error(
            'OM009',
            jsonb_build_object('table_code', p_table_code, 'platform_code', p_platform_code)
        );
    END IF;
    v_schema := (parse_ident(p_table_code))[1];
    IF p_platform_code = 'POSTGRES' AND v_schema ~ '^(omd$|omd_|pg_|information_schema$)' THEN
        PERFORM omd.raise_error(
            'OM210', jsonb_build_object('table_code', p_table_code, 'schema_name', v_schema)
        );
    END IF;

    IF p_platform_code <> p_present.platform_code OR v_new <> v_old THEN
        IF v_is_here AND NOT omd.target_exists(p_present.table_code) THEN
            RETURN;
        END IF;
    ELSIF p_insert_instance_column <> p_present.insert_instance_column THEN
        IF v_is_here
            AND omd.target_column_type(p_present.table_code, p_present.insert_instance_column)
            IS NULL
        THEN
            RETURN;
        END IF;
    ELSIF NOT (
        p_table_format_code IS DISTINCT FROM p_present.table_format_code
        AND (
            p_table_format_code IN ('ICEBERG', 'DELTA')
            OR p_present.table_format_code IN ('ICEBERG', 'DELTA')
        ) IS TRUE
    ) THEN
        RETURN;
    END IF;
    PERFORM omd._require_nothing_to_undo(p_present, 'target', 'look for them elsewhere');
END
$require_target$;

COMMENT ON FUNCTION omd._require_target IS
'Raises an error when a Module, which is now p_present (all NULL: a new one), may not get the '
'target p_table_code on p_platform_code with p_insert_instance_column and p_table_format_code. '
'Errors: OM009, OM111, OM210. Locks: none.';
