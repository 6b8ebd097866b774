-- Each room has triggers of its own on what administrators change, and all of them tell it so.
-- Values are written in full, so that a change can be reverted by hand; the price is that a
-- parameter must not hold a secret.

CREATE OR REPLACE FUNCTION omd.write_edit(
    p_operation text,
    p_table_name text,
    p_what text,
    p_old jsonb,
    p_new jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_edit$
BEGIN
    PERFORM omd.write_event(
        0,
        0,
        4,
        format('%s %s', p_operation, p_table_name),
        format(
            '%s %s (%s) by %s: %s',
            p_operation,
            p_table_name,
            p_what,
            omd.editor(),
            (
                SELECT
                    string_agg(
                        CASE p_operation
                            WHEN 'UPDATE'
                                THEN format('%s from %L to %L', r.key, p_old ->> r.key, r.value)
                            ELSE format('%s = %L', r.key, r.value)
                        END,
                        ', ' ORDER BY r.key
                    )
                FROM jsonb_each_text(p_old || p_new) AS r
                WHERE p_old -> r.key IS DISTINCT FROM p_new -> r.key
                    AND (p_operation = 'UPDATE' OR r.value IS NOT NULL)
            )
        )
    );
END
$write_edit$;

COMMENT ON FUNCTION omd.write_edit IS
'For rooms: Writes the event of an edit: p_operation (INSERT, UPDATE or DELETE) of p_table_name, '
'of the row that people know as p_what. p_old and p_new are the row before and after it as '
'objects, {} where there is none; the columns that differ are listed. Locks: none.';
