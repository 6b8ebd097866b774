-- To replace a view waits for whoever reads it, and whoever comes later waits behind; so an upgrade
-- replaces one only where its definition differs, which a copy of it tells.

CREATE OR REPLACE PROCEDURE omd.put_view(
    p_view text,
    p_options text,
    p_query text
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $put_view$
DECLARE
    v_copy CONSTANT text := 'omd._view_copy';
    v_definitions text[];
BEGIN
    IF to_regclass(p_view) IS NOT NULL THEN
        BEGIN
            EXECUTE format(E'CREATE VIEW %s%s AS\n%s', v_copy, p_options, p_query);
            SELECT array_agg(d.definition) INTO v_definitions
            FROM (
                SELECT
                    concat_ws(
                        E'\n',
                        pg_get_viewdef(c.oid),
                        c.reloptions,
                        (
                            SELECT
                                string_agg(
                                    concat_ws(
                                        ' ', a.attname, a.atttypid, a.atttypmod, a.attcollation
                                    ),
                                    ',' ORDER BY a.attnum
                                )
                            FROM pg_attribute AS a
                            WHERE a.attrelid = c.oid AND a.attnum > 0
                        )
                    ) AS definition
                FROM pg_class AS c
                WHERE c.oid IN (p_view::regclass, v_copy::regclass)
            ) AS d;
            -- What is undone keeps no lock.
            RAISE EXCEPTION USING ERRCODE = 'savepoint_exception';
        EXCEPTION
            WHEN savepoint_exception THEN
                NULL;
        END;
        IF v_definitions[1] = v_definitions[2] THEN
            RETURN;
        END IF;
    END IF;
    EXECUTE format(E'CREATE OR REPLACE VIEW %s%s AS\n%s', p_view, p_options, p_query);
END
$put_view$;

COMMENT ON PROCEDURE omd.put_view IS
'For rooms: creates the view p_view, or replaces it if its definition differs. p_options: WITH '
'and what follows it, or an empty text. p_query: what follows AS. Locks: the view, only if '
'something is done.';
